//! Anthropic messages.

use serde_json::{Value, json};

use super::{End, ReplyHead, error::error, sse, stream::Events};
use crate::{Finish, Format, Usage, WireCall, anthropic, json::with};

/// As the format says it; this one its clients pass over.
const PING: &str = "event: ping\ndata: {\"type\": \"ping\"}\n\n";

pub(super) fn response(head: &ReplyHead, text: &str, calls: &[WireCall], end: &End<'_>) -> Value {
    let text = Some(text).filter(|text| !text.is_empty());
    let text = text.map(|text| json!({"type": "text", "text": text}));
    let content: Vec<_> = text.into_iter().chain(calls.iter().map(anthropic::tool_use)).collect();
    with(
        message(head),
        [
            ("content", Value::Array(content)),
            ("stop_reason", json!(reason(&end.finish))),
            ("usage", usage(end.usage)),
            ("tool_calls", end.notes()),
        ],
    )
}

/// A message with nothing said yet.
fn message(head: &ReplyHead) -> Value {
    json!({
        "id": format!("msg_{}", head.id),
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(Usage::default()),
    })
}

fn reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Other(_) => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Filtered => "refusal",
    }
}

/// Here the tokens of the cache are counted apart.
fn usage(usage: Usage) -> Value {
    let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
    json!({
        "input_tokens": fresh,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    })
}

/// Blocks one after the other.
pub(super) struct Blocks {
    head: ReplyHead,
    index: usize,
    in_text: bool,
}

impl Blocks {
    pub(super) fn new(head: ReplyHead) -> Self {
        Self { head, index: 0, in_text: false }
    }

    fn begin(&self, block: &Value) -> String {
        let index = self.index;
        let kind = "content_block_start";
        sse::event(&json!({"type": kind, "index": index, "content_block": block}))
    }

    fn delta(&self, delta: &Value) -> String {
        let index = self.index;
        sse::event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    fn stop(&mut self) -> String {
        let stopped = sse::event(&json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
        stopped
    }

    fn end_text(&mut self) -> String {
        let in_text = std::mem::replace(&mut self.in_text, false);
        if in_text { self.stop() } else { String::new() }
    }
}

impl Events for Blocks {
    fn start(&mut self) -> String {
        let message = message(&self.head);
        sse::event(&json!({"type": "message_start", "message": message}))
    }

    fn text(&mut self, delta: &str) -> String {
        let begun = if std::mem::replace(&mut self.in_text, true) {
            String::new()
        } else {
            self.begin(&json!({"type": "text", "text": ""}))
        };
        begun + &self.delta(&json!({"type": "text_delta", "text": delta}))
    }

    fn call(&mut self, call: &WireCall) -> String {
        let ended = self.end_text();
        let input = call.args_or_empty().to_string();
        let block = with(anthropic::tool_use(call), [("input", json!({}))]);
        ended
            + &self.begin(&block)
            + &self.delta(&json!({"type": "input_json_delta", "partial_json": input}))
            + &self.stop()
    }

    fn ping(&self) -> &'static str {
        PING
    }

    fn end(&mut self, end: &End<'_>) -> String {
        let delta = json!({"stop_reason": reason(&end.finish), "stop_sequence": null});
        let usage = usage(end.usage);
        self.end_text()
            + &sse::event(&json!({"type": "message_delta", "delta": delta, "usage": usage}))
            + &sse::event(&json!({"type": "message_stop", "tool_calls": end.notes()}))
    }

    fn error(&mut self, status: u16, kind: &str, message: &str) -> String {
        sse::event(&error(Format::Anthropic, status, kind, message))
    }
}
