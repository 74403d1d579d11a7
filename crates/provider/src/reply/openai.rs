//! `OpenAI` chat completions.

use serde_json::{Value, json};

use super::{End, ReplyHead, error::error, sse, stream::Events};
use crate::{Finish, Format, IncludeUsage, Usage, WireCall, json::with, openai};

pub(super) fn response(head: &ReplyHead, text: &str, calls: &[WireCall], end: &End<'_>) -> Value {
    let content = Some(text).filter(|text| !text.is_empty() || calls.is_empty());
    let mut message = json!({"role": "assistant", "content": content, "refusal": null});
    if !calls.is_empty() {
        let calls = calls.iter().map(openai::tool_call).collect();
        message = with(message, [("tool_calls", calls)]);
    }
    json!({
        "id": id(head),
        "object": "chat.completion",
        "created": head.created,
        "model": head.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": reason(&end.finish),
        }],
        "usage": usage(end.usage),
        "tool_calls": end.notes(),
    })
}

fn id(head: &ReplyHead) -> String {
    format!("chatcmpl-{}", head.id)
}

fn reason(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Other(_) => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
    })
}

/// Chunks, each with a piece of the one choice.
pub(super) struct Chunks {
    head: ReplyHead,
    include_usage: IncludeUsage,
    calls: usize,
}

impl Chunks {
    pub(super) fn new(head: ReplyHead, include_usage: IncludeUsage) -> Self {
        Self { head, include_usage, calls: 0 }
    }

    fn delta(&self, delta: &Value) -> Value {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null});
        self.chunk(&[choice])
    }

    fn chunk(&self, choices: &[Value]) -> Value {
        let chunk = json!({
            "id": id(&self.head),
            "object": "chat.completion.chunk",
            "created": self.head.created,
            "model": self.head.model,
            "choices": choices,
        });
        if self.counts() { with(chunk, [("usage", Value::Null)]) } else { chunk }
    }

    fn counts(&self) -> bool {
        self.include_usage == IncludeUsage::Yes
    }
}

impl Events for Chunks {
    fn start(&mut self) -> String {
        sse::data(&self.delta(&json!({"role": "assistant", "content": "", "refusal": null})))
    }

    fn text(&mut self, delta: &str) -> String {
        sse::data(&self.delta(&json!({"content": delta})))
    }

    fn call(&mut self, call: &WireCall) -> String {
        let call = with(openai::tool_call(call), [("index", json!(self.calls))]);
        self.calls += 1;
        sse::data(&self.delta(&json!({"tool_calls": [call]})))
    }

    fn ping(&self) -> &'static str {
        sse::COMMENT
    }

    fn end(&mut self, end: &End<'_>) -> String {
        let reason = reason(&end.finish);
        let choice = json!({"index": 0, "delta": {}, "logprobs": null, "finish_reason": reason});
        let done = "data: [DONE]\n\n";
        let last = self.chunk(&[choice]);
        let notes = ("tool_calls", end.notes());
        if !self.counts() {
            return sse::data(&with(last, [notes])) + done;
        }
        let counted = with(self.chunk(&[]), [("usage", usage(end.usage)), notes]);
        sse::data(&last) + &sse::data(&counted) + done
    }

    fn error(&mut self, status: u16, kind: &str, message: &str) -> String {
        sse::data(&error(Format::OpenAi, status, kind, message))
    }
}
