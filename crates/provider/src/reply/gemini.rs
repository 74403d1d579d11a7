//! Gemini `generateContent`.

use serde_json::{Value, json};

use super::{End, ReplyHead, error::error, sse, stream::Events};
use crate::{Finish, Format, Usage, WireCall, gemini, json::with};

/// An empty line: its clients take everything else for data.
const PING: &str = "\n";

pub(super) fn response(head: &ReplyHead, text: &str, calls: &[WireCall], end: &End<'_>) -> Value {
    let text = Some(text).filter(|text| !text.is_empty() || calls.is_empty());
    let text = text.map(|text| json!({"text": text}));
    let parts: Vec<_> = text.into_iter().chain(calls.iter().map(part)).collect();
    last(head, &parts, end)
}

fn part(call: &WireCall) -> Value {
    json!({"functionCall": gemini::function_call(call)})
}

fn chunk(head: &ReplyHead, parts: &[Value]) -> Value {
    chunk_of(head, &json!({"content": {"role": "model", "parts": parts}, "index": 0}))
}

fn chunk_of(head: &ReplyHead, candidate: &Value) -> Value {
    json!({"candidates": [candidate], "modelVersion": head.model, "responseId": head.id})
}

/// A chunk with what is known at the end.
fn last(head: &ReplyHead, parts: &[Value], end: &End<'_>) -> Value {
    let content = json!({"role": "model", "parts": parts});
    let reason = reason(&end.finish);
    let candidate = json!({"content": content, "finishReason": reason, "index": 0});
    let fields = [("usageMetadata", usage(end.usage)), ("tool_calls", end.notes())];
    with(chunk_of(head, &candidate), fields)
}

fn reason(finish: &Finish) -> &'static str {
    match finish {
        // A model that calls says `STOP` like one that is done.
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filtered => "SAFETY",
        Finish::Other(_) => "OTHER",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input.saturating_add(usage.output),
    })
}

/// Responses, each with the next part.
pub(super) struct Chunks {
    head: ReplyHead,
}

impl Chunks {
    pub(super) fn new(head: ReplyHead) -> Self {
        Self { head }
    }
}

impl Events for Chunks {
    fn start(&mut self) -> String {
        String::new()
    }

    fn text(&mut self, delta: &str) -> String {
        sse::data(&chunk(&self.head, &[json!({"text": delta})]))
    }

    fn call(&mut self, call: &WireCall) -> String {
        sse::data(&chunk(&self.head, &[part(call)]))
    }

    fn ping(&self) -> &'static str {
        PING
    }

    fn end(&mut self, end: &End<'_>) -> String {
        sse::data(&last(&self.head, &[json!({"text": ""})], end))
    }

    fn error(&mut self, status: u16, kind: &str, message: &str) -> String {
        sse::data(&error(Format::Gemini, status, kind, message))
    }
}
