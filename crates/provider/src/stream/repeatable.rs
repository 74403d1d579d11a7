//! An answer as the next request may repeat it.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::{Format, WireCall, call};

/// Writes ids into the message that [`crate::calls`] had to make, so that results will match, and
/// an object where a provider takes no other arguments.
pub(super) fn make(format: Format, message: &mut Value, calls: &[WireCall]) {
    let (list, key, kind) = match format {
        Format::OpenAi => (message.get_mut("tool_calls"), "id", "function"),
        Format::OpenAiResponses => (Some(message), "call_id", "function_call"),
        Format::Anthropic => (message.get_mut("content"), "id", "tool_use"),
        // These match by name and order.
        Format::Gemini | Format::Mcp => return,
    };
    let Some(Value::Array(items)) = list else { return };
    items.retain(|item| !item.is_null());
    let items = items.iter_mut().filter(|item| item.get("type").is_some_and(|found| found == kind));
    let mut items: Vec<_> = items.filter_map(Value::as_object_mut).collect();
    let known: HashSet<_> = items.iter().filter_map(|item| call::id(item.get(key))).collect();
    let mut made =
        calls.iter().filter_map(|call| call.id.as_ref()).filter(|id| !known.contains(*id));
    for item in items.iter_mut().filter(|item| call::id(item.get(key)).is_none()) {
        item.insert(key.to_owned(), json!(made.next()));
    }
    for item in items.into_iter().filter(|_| format == Format::Anthropic) {
        let input = item.entry("input").or_insert_with(|| json!({}));
        if !input.is_object() {
            *input = json!({"invalid": input});
        }
    }
}
