//! Conversations in the formats that clients of model providers speak. Models are our agents.

mod decode;
mod form;
mod pieces;
mod stream;

use std::time::Duration;

use agent::{AgentError, Answer, Input, Sink};
use axum::{
    body::Body,
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_TYPE, RETRY_AFTER},
    },
    response::Response,
};
use provider::{Format, IncludeUsage, Reply, ReplyHead, Stream};
use serde_json::Value;
use tool::Caller;

use crate::{
    problem::{Problem, whole_seconds},
    speaking::{NoAnswer, Shown, Speaking},
};

pub(crate) use self::{decode::Asked, form::put_in_form, pieces::Pieces};

/// Names the session of an answer, and of the next request.
pub(crate) const SESSION: &str = "toolgate-session";

/// What a client asked for, ready to run.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) format: Format,
    pub(crate) caller: Caller,
    pub(crate) head: ReplyHead,
    pub(crate) input: Input,
    pub(crate) stream: Stream,
    pub(crate) include_usage: IncludeUsage,
}

/// Runs it and answers, at once or piece by piece. When the client goes away, the run ends.
pub(crate) async fn answer(speaking: Speaking, turn: Turn, pieces: Pieces) -> Response {
    let session = turn.caller.session.clone();
    let mut response = match turn.stream {
        Stream::Yes => stream::answer(speaking, turn, pieces).await,
        Stream::No => whole(speaking, turn).await,
    };
    if let Ok(session) = HeaderValue::from_str(&session) {
        response.headers_mut().insert(SESSION, session);
    }
    response
}

async fn whole(speaking: Speaking, turn: Turn) -> Response {
    let Turn { format, caller, head, input, .. } = turn;
    match speaking.run(input, Sink::default()).await {
        Ok(answer) => json(StatusCode::OK, &provider::response(format, &head, &reply(answer))),
        Err(error) => problem(format, &error, &caller),
    }
}

/// What a client gets of an answer.
fn reply(answer: Answer) -> Reply {
    let Answer { text, calls, finish, usage, tool_calls, .. } = answer;
    Reply { text, calls, finish, usage, tool_calls }
}

/// Why nothing is run.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The token does not allow it.
    Problem(Problem),
    /// It makes no sense, or there is no such agent.
    Agent(NoAnswer),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<AgentError> for Refused {
    fn from(error: AgentError) -> Self {
        Self::Agent(error.into())
    }
}

impl Refused {
    /// As the client's own provider would say it.
    pub(crate) fn respond(&self, format: Format, who: &Caller) -> Response {
        match self {
            Self::Problem(refused) => {
                let kind = refused.kind();
                let response = refusal(format, kind.status(), kind.error_type(), refused.message());
                after(response, refused.retry_after())
            }
            Self::Agent(error) => problem(format, error, who),
        }
    }
}

/// An error as the client's own provider would say it.
pub(crate) fn problem(format: Format, error: &NoAnswer, caller: &Caller) -> Response {
    let Shown { status, kind, message, retry_after } = error.shown_to(caller);
    after(refusal(format, status, kind, &message), retry_after)
}

/// Says when to come back.
fn after(mut response: Response, wait: Option<Duration>) -> Response {
    response.headers_mut().extend(wait.map(|wait| (RETRY_AFTER, whole_seconds(wait))));
    response
}

/// The same, of anything.
pub(crate) fn refusal(format: Format, status: u16, kind: &str, message: &str) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    json(code, &provider::error(format, status, kind, message))
}

fn json(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
