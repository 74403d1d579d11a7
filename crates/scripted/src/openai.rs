//! Chunks of `OpenAI` chat completions.

use serde_json::{Value, json};

use crate::{
    Finish,
    reply::{Answer, data},
};

pub(crate) fn events(answer: &Answer, model: &str) -> Vec<String> {
    let chunk = |choices: Value, usage: Value| {
        data(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000,
            "model": model, "choices": choices, "usage": usage,
        }))
    };
    let delta = |delta: Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}), None)];
    events.extend(answer.pieces.iter().map(|piece| delta(json!({"content": piece}), None)));
    for (index, call) in answer.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        let head = json!({"index": index, "id": call.id, "type": "function", "function": function});
        events.push(delta(json!({"tool_calls": [head]}), None));
        events.extend(call.halves().map(|half| {
            let part = json!({"index": index, "function": {"arguments": half}});
            delta(json!({"tool_calls": [part]}), None)
        }));
    }
    events.push(delta(json!({}), Some(reason(answer.finish()))));
    let usage = answer.usage;
    let usage = json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    });
    events.push(chunk(json!([]), usage));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

const fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
        Finish::Filtered => "content_filter",
    }
}
