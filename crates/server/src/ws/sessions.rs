//! What can be asked about agents and their sessions over a WebSocket.

use agent::{Event, Sink};
use axum::http::HeaderMap;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    methods::{Answered, Context, read},
    rpc::{refused, result},
};
use crate::{
    api::{self, Asked, Empty, SessionsWanted},
    auth::{CallerNames, in_conversation},
    events::{fields, kind},
    speaking,
};

/// Events of a run that wait to be sent.
const MOST_WAITING: usize = 64;

fn asked(context: &Context) -> Asked {
    let (state, signed) = (context.state.clone(), context.signed.clone());
    Asked { state, signed, headers: HeaderMap::new() }
}

pub(super) async fn list_agents(context: Context, params: Value) -> Answered {
    read::<Empty>(params)?;
    result(&api::list_agents(&asked(&context)).await.map_err(refused)?)
}

pub(super) async fn list(context: Context, params: Value) -> Answered {
    let wanted: SessionsWanted = read(params)?;
    result(&api::list_sessions(&asked(&context), wanted).await.map_err(refused)?)
}

/// Which session, and how much of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Looking {
    /// `agent:AGENT:NAME`.
    session: String,
    limit: Option<u32>,
    #[serde(default)]
    tools: bool,
}

pub(super) async fn history(context: Context, params: Value) -> Answered {
    let Looking { session, limit, tools } = read(params)?;
    let said = api::session_messages(&asked(&context), &session, (limit, tools)).await;
    result(&said.map_err(refused)?)
}

/// Which session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stopping {
    /// `agent:AGENT:NAME`.
    session: String,
}

pub(super) async fn stop(context: Context, params: Value) -> Answered {
    let Stopping { session } = read(params)?;
    result(&api::stop_session(&asked(&context), &session).await.map_err(refused)?)
}

/// What is said, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sending {
    message: String,
    agent: Option<String>,
    /// The name of the session.
    session: Option<String>,
    /// Who wrote the message, for tokens that may name senders.
    sender: Option<String>,
    /// The chat service it came by, for tokens that may name senders.
    channel: Option<String>,
    /// Another model than usual: `provider/model`.
    model: Option<String>,
}

/// The answer is the result; what happens until then comes as notifications of this connection. When
/// the connection goes, the run ends.
pub(super) async fn send(context: Context, params: Value) -> Answered {
    let Sending { message, agent, session, sender, channel, model } = read(params)?;
    let input = speaking::said(message, model)?;
    let Context { state, signed, names, queue, id, .. } = context;
    let given = CallerNames {
        agent: agent.as_deref(),
        session: session.as_deref(),
        sender: sender.as_deref(),
        channel: channel.as_deref(),
    };
    let caller = in_conversation(signed.speaker(&state.gate.config(), names.or(given))?);
    let speaking = speaking::begin(&state, &signed, caller).await?;
    let caller = speaking.caller.clone();
    let (sender, mut events) = mpsc::channel::<Event>(MOST_WAITING);
    let run = speaking.run(input, Sink::to(sender));
    let tell = async {
        while let Some(event) = events.recv().await {
            let params = json!({"request": id, "data": event});
            state.events.tell_one(&queue, kind::SESSION_EVENT, fields(params)).await;
        }
    };
    let (answer, ()) = tokio::join!(run, tell);
    match answer {
        Ok(answer) => result(&api::SessionAnswer::new(answer)),
        Err(error) => Err(error.problem(&caller).into()),
    }
}
