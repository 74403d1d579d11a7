//! Model Context Protocol, which has no conversations: an answer is the result of a call.

use serde_json::{Value, json};

use super::{End, error::error, sse, stream::Events};
use crate::{Format, WireCall};

pub(super) fn response(text: &str, end: &End<'_>) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"content": content, "isError": false, "tool_calls": end.notes()})
}

/// A result comes in one piece.
#[derive(Default)]
pub(super) struct Whole {
    text: String,
}

impl Events for Whole {
    fn start(&mut self) -> String {
        String::new()
    }

    fn text(&mut self, delta: &str) -> String {
        self.text.push_str(delta);
        String::new()
    }

    fn call(&mut self, _: &WireCall) -> String {
        String::new()
    }

    fn ping(&self) -> &'static str {
        sse::COMMENT
    }

    fn end(&mut self, end: &End<'_>) -> String {
        sse::data(&response(&self.text, end))
    }

    fn error(&mut self, status: u16, kind: &str, message: &str) -> String {
        sse::data(&error(Format::Mcp, status, kind, message))
    }
}
