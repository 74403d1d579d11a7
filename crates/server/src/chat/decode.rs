//! From a request to a run.

use agent::{AgentError, Agents, Input, answer_id, new_id, request_name, request_of_call};
use config::Config;
use provider::{ChatRequest, Format, Message, ReplyHead, Stream, parse_request};
use serde_json::Value;
use tool::Caller;

use super::{Refused, Turn};
use crate::auth::{CallerNames, Signed, in_conversation};

/// Names that clients have for the agent that is always there.
const MAIN: [&str; 3] = ["", "default", "toolgate"];

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) format: Format,
    pub(crate) signed: &'a Signed,
    /// What headers name.
    pub(crate) names: CallerNames<'a>,
    /// Where the format has the model in the path: it, and whether the answer is streamed.
    pub(crate) path: Option<(&'a str, Stream)>,
    pub(crate) body: &'a Value,
    /// Seconds since 1970.
    pub(crate) now: u64,
}

impl Asked<'_> {
    /// Whom it is for, in which session, and what is said.
    pub(crate) async fn decode(self, agents: &Agents, config: &Config) -> Result<Turn, Refused> {
        let Asked { format, signed, names, path, body, now } = self;
        let mut request = parse_request(format, body).map_err(AgentError::from)?;
        if let Some((model, stream)) = path {
            model.clone_into(&mut request.model);
            request.stream = stream;
        }
        let run = new_id();
        let agent = Some(names.agent.unwrap_or_else(|| named(&request)));
        let mut caller = in_conversation(signed.speaker(config, CallerNames { agent, ..names })?);
        caller.session = session_name(agents, &caller, names.session, &request, &run).await?.into();
        let id = answer_id(&caller.session, &run, 0);
        let head = ReplyHead { id, model: request.model.clone(), created: now };
        let ChatRequest { messages, system, tools, options, stream, include_usage, .. } = request;
        let input = Input { messages, system, tools, options, model: None, run: Some(run) };
        Ok(Turn { format, caller, head, input, stream, include_usage })
    }
}

/// The agent that the client takes for a model.
fn named(request: &ChatRequest) -> &str {
    let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
    if MAIN.contains(&model) { "main" } else { model }
}

/// The session: the one of the header; the one of the response it goes on from; the one whose calls
/// the client brings results for; else a new one.
async fn session_name(
    agents: &Agents,
    caller: &Caller,
    header: Option<&str>,
    request: &ChatRequest,
    run: &str,
) -> Result<String, AgentError> {
    if let Some(name) = header {
        return Ok(name.to_owned());
    }
    if let Some(previous) = &request.previous {
        let id = previous.strip_prefix("resp_").unwrap_or(previous);
        let found = find(agents, caller, request_of_call(id)).await?;
        return found.ok_or_else(|| AgentError::UnknownSession(previous.clone()));
    }
    for name in answered(&request.messages) {
        if let Some(found) = find(agents, caller, Some(name)).await? {
            return Ok(found);
        }
    }
    Ok(request_name(run))
}

/// The sessions that the results at the end may be for.
fn answered(messages: &[Message]) -> Vec<String> {
    let results = messages.iter().rev().map_while(|message| match message {
        Message::Results(results) => Some(results),
        Message::User(_) | Message::Model(_) => None,
    });
    let ids = results.flatten().filter_map(|result| result.id.as_deref());
    let mut names: Vec<_> = ids.filter_map(request_of_call).collect();
    names.dedup();
    names
}

/// The name, if there is such a session of this user and agent.
async fn find(
    agents: &Agents,
    caller: &Caller,
    name: Option<String>,
) -> Result<Option<String>, AgentError> {
    let Some(name) = name else { return Ok(None) };
    let key = agent::key_of(&Caller { session: name.as_str().into(), ..caller.clone() });
    Ok(agents.db().await?.session(&key).await?.map(|_| name))
}
