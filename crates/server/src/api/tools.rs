//! The tools a caller has.

use axum::http::Method;
use gate::{Found, View};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tool::{Capability, Effects, Profile, SandboxNeed, Section, ToolInfo};

use super::{
    endpoint::{Asked, Endpoint, Given},
    input::Empty,
    output::Json,
};
use crate::{auth::Signed, problem::refusals};

/// A tool, as clients see it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToolShown {
    name: String,
    label: String,
    description: String,
    /// JSON Schema of the arguments.
    parameters: Value,
    /// JSON Schema of the result, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    /// The most it does.
    effects: Effects,
    section: Section,
    profiles: Vec<Profile>,
    aliases: Vec<String>,
    timeout_ms: u64,
    /// What people must have granted to the agent.
    uses: Vec<Capability>,
    depends: Vec<String>,
    owner_only: bool,
    sandbox: SandboxNeed,
    version: String,
    /// `available`, `unavailable` here, or `withheld` by policy; only the owner sees the last two.
    status: &'static str,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The tools a caller has.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tools {
    tools: Vec<ToolShown>,
}

refusals! {
    /// Why no tools are shown.
    NoTools { Forbidden, Invalid, NotFound }
}

refusals! {
    /// Why a tool is not shown.
    NoTool { Forbidden, Invalid, NotFound }
}

/// Why an agent or a session cannot be had.
macro_rules! from_problem {
    ($($name:ident),*) => {$(
        impl From<$crate::problem::Problem> for $name {
            fn from(problem: $crate::problem::Problem) -> Self {
                let message = problem.message().to_owned();
                let kind = problem.kind();
                if kind == $crate::problem::Kind::Invalid {
                    Self::Invalid(message)
                } else if kind == $crate::problem::Kind::NotFound {
                    Self::NotFound(message)
                } else {
                    Self::Forbidden(message)
                }
            }
        }
    )*};
}
pub(super) use from_problem;

from_problem!(NoTools, NoTool);

/// `GET /v1/tools`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/tools";
    const SUMMARY: &'static str =
        "The tools of an agent; the owner sees what it does not have, too, and why.";
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Json<Tools>;
    type Refusal = NoTools;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Json<Tools>, NoTools> {
        let caller = asked.caller()?;
        let view = asked.state.gate.view(&caller);
        Ok(Json(listed(&view, &asked.signed)))
    }
}

/// `GET /v1/tools/{name}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/tools/{name}";
    const SUMMARY: &'static str = "One tool, by its name or an alias.";
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<ToolShown>;
    type Refusal = NoTool;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<ToolShown>, NoTool> {
        let caller = asked.caller()?;
        let view = asked.state.gate.view(&caller);
        let found = shown(&view, &given.path, &asked.signed);
        let missing = || NoTool::NotFound(format!("Tool `{}` is not available", given.path));
        found.map(Json).ok_or_else(missing)
    }
}

/// Every tool that is shown to somebody.
pub(crate) fn listed(view: &View, signed: &Signed) -> Tools {
    let names = view.snapshot().tools().map(|entry| entry.info().name.clone());
    Tools { tools: names.filter_map(|name| shown(view, &name, signed)).collect() }
}

fn shown(view: &View, name: &str, signed: &Signed) -> Option<ToolShown> {
    match view.find(name) {
        Found::Tool(entry) => Some(described(entry.info(), "available", None)),
        Found::Unavailable(entry, why) if signed.is_owner() => {
            Some(described(entry.info(), "unavailable", Some(why.to_owned())))
        }
        Found::Withheld(entry, rule) if signed.is_owner() => {
            let at = rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
            let why = format!("{} policy: {}{at}", rule.layer, rule.text);
            Some(described(entry.info(), "withheld", Some(why)))
        }
        // To anybody else it looks like one that does not exist.
        Found::Unavailable(..) | Found::Withheld(..) | Found::Unknown => None,
    }
}

fn described(info: &ToolInfo, status: &'static str, reason: Option<String>) -> ToolShown {
    ToolShown {
        name: info.name.to_string(),
        label: info.label.clone(),
        description: info.description.clone(),
        parameters: info.parameters.clone(),
        output: info.output.clone(),
        effects: info.effects,
        section: info.section,
        profiles: info.profiles.clone(),
        aliases: info.aliases.clone(),
        timeout_ms: u64::try_from(info.timeout.as_millis()).unwrap_or(u64::MAX),
        uses: info.uses.clone(),
        depends: info.depends.clone(),
        owner_only: info.owner_only,
        sandbox: info.sandbox,
        version: info.version.clone(),
        status,
        reason,
    }
}
