//! Events of `OpenAI` responses.

use serde_json::{Value, json};

use crate::{
    Call, Finish,
    reply::{Answer, typed},
};

pub(crate) fn events(answer: &Answer, model: &str) -> Vec<String> {
    let response = |status: &str, rest: Value| {
        let mut response = json!({
            "id": "resp_1", "object": "response", "created_at": 1_790_000_000, "model": model,
            "status": status, "output": [],
        });
        if let (Value::Object(response), Value::Object(rest)) = (&mut response, rest) {
            response.extend(rest);
        }
        response
    };
    let began = json!({"type": "response.created", "response": response("in_progress", json!({}))});
    let mut events = vec![typed(&began)];
    let mut output = Vec::new();
    if !answer.pieces.is_empty() {
        events.extend(spoken(answer));
        output.push(message(&answer.text(), "completed"));
    }
    for call in &answer.calls {
        events.extend(called(call, output.len()));
        output.push(function_call(call, &call.args.to_string(), "completed"));
    }
    let usage = answer.usage;
    let usage = json!({
        "input_tokens": usage.input, "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "input_tokens_details": {"cached_tokens": usage.cached},
    });
    let (kind, status, reason) = match answer.finish() {
        Finish::Stop | Finish::Calls => ("response.completed", "completed", None),
        Finish::Length => ("response.incomplete", "incomplete", Some("max_output_tokens")),
        Finish::Filtered => ("response.incomplete", "incomplete", Some("content_filter")),
    };
    let details = reason.map(|reason| json!({"reason": reason}));
    let rest = json!({"output": output, "usage": usage, "incomplete_details": details});
    events.push(typed(&json!({"type": kind, "response": response(status, rest)})));
    events
}

fn spoken(answer: &Answer) -> Vec<String> {
    let empty = json!({"type": "output_text", "text": "", "annotations": []});
    let whole = json!({"type": "output_text", "text": answer.text(), "annotations": []});
    let at = |kind: &str, rest: Value| {
        let mut event = json!({
            "type": kind, "item_id": "msg_1", "output_index": 0, "content_index": 0,
        });
        if let (Value::Object(event), Value::Object(rest)) = (&mut event, rest) {
            event.extend(rest);
        }
        typed(&event)
    };
    let mut events = vec![
        at("response.output_item.added", json!({"item": message("", "in_progress")})),
        at("response.content_part.added", json!({"part": empty})),
    ];
    let delta = |piece: &String| at("response.output_text.delta", json!({"delta": piece}));
    events.extend(answer.pieces.iter().map(delta));
    events.push(at("response.output_text.done", json!({"text": answer.text()})));
    events.push(at("response.content_part.done", json!({"part": whole})));
    let done = json!({"item": message(&answer.text(), "completed")});
    events.push(at("response.output_item.done", done));
    events
}

fn called(call: &Call, index: usize) -> Vec<String> {
    let args = call.args.to_string();
    let begun = function_call(call, "", "in_progress");
    let mut events =
        vec![json!({"type": "response.output_item.added", "output_index": index, "item": begun})];
    events.extend(call.halves().map(|half| {
        json!({
            "type": "response.function_call_arguments.delta", "output_index": index, "delta": half,
        })
    }));
    let kind = "response.function_call_arguments.done";
    events.push(json!({"type": kind, "output_index": index, "arguments": args}));
    let done = function_call(call, &args, "completed");
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": done}));
    events.iter().map(typed).collect()
}

fn message(text: &str, status: &str) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    let content = if text.is_empty() { json!([]) } else { content };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": content,
    })
}

fn function_call(call: &Call, args: &str, status: &str) -> Value {
    json!({
        "id": format!("fc_{}", call.id), "type": "function_call", "status": status,
        "call_id": call.id, "name": call.name, "arguments": args,
    })
}
