//! Chunks of Gemini responses.

use serde_json::{Value, json};

use crate::{
    Finish,
    reply::{Answer, data},
};

pub(crate) fn events(answer: &Answer, model: &str) -> Vec<String> {
    let chunk = |parts: Value, finish: Option<&str>, usage: Value| {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if let (Value::Object(candidate), Some(finish)) = (&mut candidate, finish) {
            candidate.insert("finishReason".to_owned(), json!(finish));
        }
        let chunk = json!({
            "candidates": [candidate], "usageMetadata": usage, "modelVersion": model,
            "responseId": "r1",
        });
        // This one ends its lines in the old way.
        data(&chunk).replace('\n', "\r\n")
    };
    let usage = answer.usage;
    let begun = json!({"promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached});
    let spent = json!({
        "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output, "totalTokenCount": usage.input + usage.output,
    });
    let texts = answer.pieces.iter().map(|text| json!([{"text": text}]));
    let calls = answer.calls.iter().map(|call| {
        let mut function = json!({"name": call.name, "args": call.args});
        if let (Value::Object(function), false) = (&mut function, call.id.is_empty()) {
            function.insert("id".to_owned(), json!(call.id));
        }
        json!([{"functionCall": function}])
    });
    let mut events: Vec<_> =
        texts.chain(calls).map(|parts| chunk(parts, None, begun.clone())).collect();
    events.push(chunk(json!([{"text": ""}]), Some(reason(answer.finish())), spent));
    events
}

/// That it waits for calls is not said here.
const fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filtered => "SAFETY",
    }
}
