//! Why a caller has a tool or does not.

use std::sync::Arc;

use axum::http::Method;
use policy::Explanation;
use schemars::JsonSchema;
use serde::Deserialize;
use tool::{Caller, Confined};

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    output::Json,
};
use crate::problem::refusals;

/// Whom policy is asked about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asking {
    /// The tool, by any of its names.
    tool: String,
    /// As this agent has it; `main` unless told otherwise.
    agent: Option<String>,
    /// When it works for this user; the owner unless told otherwise.
    user: Option<String>,
    /// The model provider the agent talks to.
    provider: Option<String>,
    /// The channel its messages come by; calls over HTTP have the channel `http`.
    channel: Option<String>,
    /// Who wrote the message, if it was not the user.
    sender: Option<String>,
    /// The agent runs in a sandbox.
    sandboxed: Option<bool>,
    /// The agent was spawned by another one.
    subagent: Option<bool>,
}

refusals! {
    /// Why nothing is explained.
    NotExplained { NotFound }
}

/// `GET /v1/policy/explain`.
pub(crate) struct Explain;

impl Endpoint for Explain {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/policy/explain";
    const SUMMARY: &'static str =
        "Why an agent has a tool or does not, layer by layer, with the file and line of each rule.";
    const WHO: Who = Who::Owner;
    type Path = ();
    type Query = Asking;
    type Body = ();
    type Answer = Json<Explanation>;
    type Refusal = NotExplained;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Explanation>, NotExplained> {
        let (gate, query) = (&asked.state.gate, given.query);
        if let Some(agent) = &query.agent {
            let known = asked.signed.check_agent(&gate.config(), agent);
            known.map_err(|problem| NotExplained::NotFound(problem.message().to_owned()))?;
        }
        let explained = gate.explain(&caller(&query), &query.tool);
        let unknown = || {
            let snapshot = gate.registry().snapshot();
            let near =
                tool::nearest(&query.tool, snapshot.tools().map(|entry| &*entry.info().name));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let name = query.tool.escape_debug();
            NotExplained::NotFound(format!("no tool is called `{name}`{hint}"))
        };
        explained.map(Json).ok_or_else(unknown)
    }
}

fn caller(query: &Asking) -> Caller {
    let agent = query.agent.as_deref().unwrap_or("main");
    let text = |name: &Option<String>| name.as_deref().map(Into::into);
    let base = match &query.user {
        Some(user) if user != "owner" => Caller::member(user, agent),
        _ => Caller::owner(agent),
    };
    let sandboxed = query.sandboxed.unwrap_or_default();
    let caller = Caller {
        provider: text(&query.provider),
        channel: text(&query.channel),
        sender: text(&query.sender),
        confined: if sandboxed { Confined::Sandboxed } else { Confined::Free },
        ..base
    };
    let parent = query.subagent.unwrap_or_default().then(|| Arc::new(caller.clone()));
    Caller { parent, ..caller }
}
