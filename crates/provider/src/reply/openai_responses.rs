//! `OpenAI` responses.

use serde_json::{Value, json};

use super::{End, ReplyHead, error::error, sse, stream::Events};
use crate::{Finish, Format, Usage, WireCall, json::with};

pub(super) fn response(head: &ReplyHead, text: &str, calls: &[WireCall], end: &End<'_>) -> Value {
    let mut output = Vec::new();
    if !text.is_empty() || calls.is_empty() {
        output.push(message(head, 0, &end.finish, &[part(text)]));
    }
    for call in calls {
        output.push(function_call(head, output.len(), call));
    }
    whole(head, output, end)
}

/// The finished response.
fn whole(head: &ReplyHead, output: Vec<Value>, end: &End<'_>) -> Value {
    let (status, reason) = match &end.finish {
        Finish::Stop | Finish::Calls | Finish::Other(_) => ("completed", None),
        Finish::Length => ("incomplete", Some("max_output_tokens")),
        Finish::Filtered => ("incomplete", Some("content_filter")),
    };
    with(
        frame(head, status),
        [
            ("incomplete_details", json!(reason.map(|reason| json!({"reason": reason})))),
            ("output", Value::Array(output)),
            ("usage", usage(end.usage)),
            ("tool_calls", end.notes()),
        ],
    )
}

/// A response with what clients expect to find in every one.
fn frame(head: &ReplyHead, status: &str) -> Value {
    json!({
        "id": format!("resp_{}", head.id),
        "object": "response",
        "created_at": head.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": head.model,
        "output": [],
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "temperature": null,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": null,
        "truncation": "disabled",
        "usage": null,
        "user": null,
    })
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input.saturating_add(usage.output),
    })
}

fn message(head: &ReplyHead, index: usize, finish: &Finish, content: &[Value]) -> Value {
    let status = match finish {
        Finish::Stop | Finish::Calls | Finish::Other(_) => "completed",
        Finish::Length | Finish::Filtered => "incomplete",
    };
    json!({
        "id": format!("msg_{}_{index}", head.id),
        "type": "message",
        "status": status,
        "role": "assistant",
        "content": content,
    })
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn function_call(head: &ReplyHead, index: usize, call: &WireCall) -> Value {
    json!({
        "id": format!("fc_{}_{index}", head.id),
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.args_or_empty().to_string(),
    })
}

/// Items one after the other; at the end the response has all of them once more.
pub(super) struct Items {
    head: ReplyHead,
    output: Vec<Value>,
    /// The text of the message that is open.
    text: Option<String>,
    sent: u64,
}

impl Items {
    pub(super) fn new(head: ReplyHead) -> Self {
        Self { head, output: Vec::new(), text: None, sent: 0 }
    }

    /// An event with its number.
    fn event<const N: usize>(&mut self, kind: &str, fields: [(&str, Value); N]) -> String {
        let event = json!({"type": kind, "sequence_number": self.sent});
        self.sent += 1;
        sse::event(&with(event, fields))
    }

    /// An event about the item that is open.
    fn item(&mut self, kind: &str, item: Value) -> String {
        let index = self.output.len();
        self.event(kind, [("output_index", json!(index)), ("item", item)])
    }

    /// An event about the text of the message that is open.
    fn part<const N: usize>(&mut self, kind: &str, fields: [(&str, Value); N]) -> String {
        let index = self.output.len();
        let event = json!({
            "type": kind,
            "sequence_number": self.sent,
            "item_id": format!("msg_{}_{index}", self.head.id),
            "output_index": index,
            "content_index": 0,
        });
        self.sent += 1;
        sse::event(&with(event, fields))
    }

    fn open(&mut self) -> String {
        if self.text.is_some() {
            return String::new();
        }
        self.text = Some(String::new());
        let item = message(&self.head, self.output.len(), &Finish::Stop, &[]);
        let item = with(item, [("status", json!("in_progress"))]);
        self.item("response.output_item.added", item)
            + &self.part("response.content_part.added", [("part", part(""))])
    }

    fn close(&mut self, finish: &Finish) -> String {
        let Some(text) = self.text.take() else { return String::new() };
        let item = message(&self.head, self.output.len(), finish, &[part(&text)]);
        let sent = self
            .part("response.output_text.done", [("text", json!(text)), ("logprobs", json!([]))])
            + &self.part("response.content_part.done", [("part", part(&text))])
            + &self.item("response.output_item.done", item.clone());
        self.output.push(item);
        sent
    }
}

impl Events for Items {
    fn start(&mut self) -> String {
        let response = frame(&self.head, "in_progress");
        self.event("response.created", [("response", response.clone())])
            + &self.event("response.in_progress", [("response", response)])
    }

    fn text(&mut self, delta: &str) -> String {
        let opened = self.open();
        if let Some(text) = &mut self.text {
            text.push_str(delta);
        }
        let fields = [("delta", json!(delta)), ("logprobs", json!([]))];
        opened + &self.part("response.output_text.delta", fields)
    }

    fn call(&mut self, call: &WireCall) -> String {
        let closed = self.close(&Finish::Stop);
        let index = self.output.len();
        let item = function_call(&self.head, index, call);
        let begun = [("status", json!("in_progress")), ("arguments", json!(""))];
        let begun = with(item.clone(), begun);
        let field = |key: &str| item.get(key).cloned().unwrap_or_default();
        let about = |key| {
            [("item_id", field("id")), ("output_index", json!(index)), (key, field("arguments"))]
        };
        let sent = closed
            + &self.item("response.output_item.added", begun)
            + &self.event("response.function_call_arguments.delta", about("delta"))
            + &self.event("response.function_call_arguments.done", about("arguments"))
            + &self.item("response.output_item.done", item.clone());
        self.output.push(item);
        sent
    }

    fn ping(&self) -> &'static str {
        sse::COMMENT
    }

    fn end(&mut self, end: &End<'_>) -> String {
        // An answer has something in it, if only an empty message.
        let opened = if self.output.is_empty() { self.open() } else { String::new() };
        let closed = self.close(&end.finish);
        let response = whole(&self.head, std::mem::take(&mut self.output), end);
        let kind = match &end.finish {
            Finish::Stop | Finish::Calls | Finish::Other(_) => "response.completed",
            Finish::Length | Finish::Filtered => "response.incomplete",
        };
        let fields = [("response", response), ("tool_calls", end.notes())];
        opened + &closed + &self.event(kind, fields)
    }

    fn error(&mut self, status: u16, kind: &str, message: &str) -> String {
        let error = error(Format::OpenAiResponses, status, kind, message);
        let fields = [
            ("code", json!(kind)),
            ("message", json!(message)),
            ("param", Value::Null),
            // What clients look for.
            ("error", error.get("error").cloned().unwrap_or_default()),
        ];
        self.event("error", fields)
    }
}
