//! Answers to clients, who take us for their provider.

mod anthropic;
mod error;
mod gemini;
mod mcp;
mod models;
mod openai;
mod openai_responses;
mod sse;
mod stream;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Finish, Format, Usage, WireCall};

pub use error::error;
pub use models::models;
pub use stream::ReplyStream;

/// What is known about an answer before it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyHead {
    /// Ours, without the prefix that each format has.
    pub id: String,
    /// The model, as the client asked for it.
    pub model: String,
    /// Seconds since 1970.
    pub created: u64,
}

/// One call of ours that ran inside of the gate, for the field `tool_calls` beside the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallNote {
    /// The id of the call.
    pub id: String,
    /// The tool, by our name.
    pub tool: String,
    /// The arguments.
    pub input: Value,
    /// `success`, or the type of the error.
    pub status: String,
    /// How long it took.
    pub duration_ms: u64,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For people.
    pub text: String,
    /// Calls of the client's own tools, which the client answers.
    pub calls: Vec<WireCall>,
    /// Why the model stopped.
    pub finish: Finish,
    /// What it cost, all turns together.
    pub usage: Usage,
    /// The calls of ours.
    pub tool_calls: Vec<CallNote>,
}

/// The answer in one piece. Beside the fields of the format it has `tool_calls`, the calls of ours.
pub fn response(format: Format, head: &ReplyHead, reply: &Reply) -> Value {
    let calls: Vec<_> = (0..).zip(&reply.calls).map(|(n, call)| with_id(call, n)).collect();
    let end = End {
        finish: finish(&reply.finish, calls.len()),
        usage: reply.usage,
        notes: &reply.tool_calls,
    };
    match format {
        Format::OpenAi => openai::response(head, &reply.text, &calls, &end),
        Format::OpenAiResponses => openai_responses::response(head, &reply.text, &calls, &end),
        Format::Anthropic => anthropic::response(head, &reply.text, &calls, &end),
        Format::Gemini => gemini::response(head, &reply.text, &calls, &end),
        Format::Mcp => mcp::response(&reply.text, &end),
    }
}

/// What is known about an answer once it is there.
struct End<'a> {
    finish: Finish,
    usage: Usage,
    notes: &'a [CallNote],
}

impl End<'_> {
    fn notes(&self) -> Value {
        json!(self.notes)
    }
}

/// A call that a client can answer: one without an id gets one from its place.
fn with_id(call: &WireCall, index: usize) -> WireCall {
    let id = call.id.clone().or_else(|| Some(format!("call_{index}")));
    WireCall { id, ..call.clone() }
}

/// Whether a client has calls to answer shows in why the model stopped, and the other way round.
fn finish(finish: &Finish, calls: usize) -> Finish {
    match (finish, calls) {
        (Finish::Calls, 0) => Finish::Stop,
        (Finish::Stop | Finish::Other(_), 1..) => Finish::Calls,
        (other, _) => other.clone(),
    }
}
