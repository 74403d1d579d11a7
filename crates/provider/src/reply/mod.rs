//! Answers to clients, who take us for their provider.

use serde::Serialize;
use serde_json::Value;

use crate::{Finish, Usage, WireCall};

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
#[derive(Debug, Clone, PartialEq, Serialize)]
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
