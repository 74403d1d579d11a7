//! Events of Anthropic messages.

use serde_json::{Value, json};

use crate::{
    Finish,
    reply::{Answer, typed},
};

pub(crate) fn events(answer: &Answer, model: &str) -> Vec<String> {
    let usage = answer.usage;
    let begun = json!({
        "input_tokens": usage.input - usage.cached, "cache_read_input_tokens": usage.cached,
        "cache_creation_input_tokens": 0, "output_tokens": 1,
    });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": begun,
    });
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let mut index = 0;
    if !answer.pieces.is_empty() {
        let empty = json!({"type": "text", "text": ""});
        let pieces = answer.pieces.iter().map(|text| json!({"type": "text_delta", "text": text}));
        block(&mut events, &mut index, &empty, pieces.collect());
        events.push(json!({"type": "ping"}));
    }
    for call in &answer.calls {
        let empty = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        let halves = call.halves();
        let pieces =
            halves.map(|half| json!({"type": "input_json_delta", "partial_json": half})).to_vec();
        block(&mut events, &mut index, &empty, pieces);
    }
    let delta = json!({"stop_reason": reason(answer.finish()), "stop_sequence": null});
    let spent = json!({"output_tokens": usage.output});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": spent}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(typed).collect()
}

fn block(events: &mut Vec<Value>, index: &mut usize, empty: &Value, pieces: Vec<Value>) {
    let at = *index;
    *index += 1;
    events.push(json!({"type": "content_block_start", "index": at, "content_block": empty}));
    for piece in pieces {
        events.push(json!({"type": "content_block_delta", "index": at, "delta": piece}));
    }
    events.push(json!({"type": "content_block_stop", "index": at}));
}

const fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Filtered => "refusal",
    }
}
