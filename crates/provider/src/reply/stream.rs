//! An answer that is sent as it grows.

use std::fmt;

use super::{
    CallNote, End, ReplyHead, anthropic, finish, gemini, mcp, openai, openai_responses, with_id,
};
use crate::{Finish, Format, IncludeUsage, Usage, WireCall};

/// Writes an answer as server-sent events, piece by piece. What a method returns is to be sent; it
/// may be empty.
pub struct ReplyStream {
    events: Box<dyn Events>,
    started: bool,
    calls: usize,
}

impl ReplyStream {
    /// For an answer in `format`.
    pub fn new(format: Format, head: ReplyHead, include_usage: IncludeUsage) -> Self {
        let events: Box<dyn Events> = match format {
            Format::OpenAi => Box::new(openai::Chunks::new(head, include_usage)),
            Format::OpenAiResponses => Box::new(openai_responses::Items::new(head)),
            Format::Anthropic => Box::new(anthropic::Blocks::new(head)),
            Format::Gemini => Box::new(gemini::Chunks::new(head)),
            Format::Mcp => Box::<mcp::Whole>::default(),
        };
        Self { events, started: false, calls: 0 }
    }

    /// Before anything is said. Nothing if it was sent before.
    pub fn start(&mut self) -> String {
        if std::mem::replace(&mut self.started, true) {
            return String::new();
        }
        self.events.start()
    }

    /// More text.
    pub fn text(&mut self, delta: &str) -> String {
        if delta.is_empty() {
            return String::new();
        }
        self.start() + &self.events.text(delta)
    }

    /// A call of one of the client's own tools.
    pub fn call(&mut self, call: &WireCall) -> String {
        let call = with_id(call, self.calls);
        self.calls += 1;
        self.start() + &self.events.call(&call)
    }

    /// What tells a client that we are still there.
    pub fn ping(&self) -> &'static str {
        self.events.ping()
    }

    /// All that is left. The last event has the calls of ours as `tool_calls`.
    pub fn end(mut self, why: &Finish, usage: Usage, notes: &[CallNote]) -> String {
        let end = End { finish: finish(why, self.calls), usage, notes };
        self.start() + &self.events.end(&end)
    }

    /// The answer ends in an error.
    pub fn error(mut self, status: u16, kind: &str, message: &str) -> String {
        self.start() + &self.events.error(status, kind, message)
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream").field("calls", &self.calls).finish_non_exhaustive()
    }
}

/// How one format says it.
pub(super) trait Events: Send {
    fn start(&mut self) -> String;
    fn text(&mut self, delta: &str) -> String;
    fn call(&mut self, call: &WireCall) -> String;
    fn ping(&self) -> &'static str;
    fn end(&mut self, end: &End<'_>) -> String;
    fn error(&mut self, status: u16, kind: &str, message: &str) -> String;
}
