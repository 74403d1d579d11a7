//! An answer as the next request may repeat it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::{Format, WireCall, call};

/// Stands for a name that a model left out, so that the call has a result that says so.
const NAMELESS: &str = "tool_without_a_name";

/// Repairs calls that no provider takes back and no result could name: a call without a name gets
/// one that no tool has, a second call with the same id gets an id of its own, and a call that is
/// there twice, word for word, is there once.
pub(super) fn repair(format: Format, message: &mut Value) {
    let (list, id_key) = match format {
        Format::OpenAi => {
            if let Some(Value::Object(call)) = message.get_mut("function_call") {
                name_it(call);
            }
            (message.get_mut("tool_calls"), "id")
        }
        Format::OpenAiResponses => (Some(message), "call_id"),
        Format::Anthropic => (message.get_mut("content"), "id"),
        Format::Gemini => (message.get_mut("parts"), "id"),
        Format::Mcp => return,
    };
    let Some(Value::Array(items)) = list else { return };
    let mut seen: Vec<Value> = Vec::new();
    items.retain(|item| {
        let repeats = call_in(format, item).is_some_and(|call| {
            let has_id = call::id(call.get(id_key)).is_some();
            has_id && seen.iter().any(|earlier| is_same_call(earlier, item))
        });
        if !repeats && call_in(format, item).is_some() {
            seen.push(item.clone());
        }
        !repeats
    });
    let ids = items.iter().filter_map(|item| call::id(call_in(format, item)?.get(id_key)));
    let given: HashSet<String> = ids.collect();
    let mut used = HashSet::new();
    for item in items {
        let Some(call) = call_in_mut(format, item) else { continue };
        if let Some(id) = call::id(call.get(id_key))
            && !used.insert(id.clone())
        {
            let fresh = (2_usize..).map(|n| format!("{id}_{n}"));
            let free = |id: &String| !given.contains(id) && !used.contains(id);
            if let Some(id) = fresh.into_iter().find(free) {
                used.insert(id.clone());
                call.insert(id_key.to_owned(), json!(id));
            }
        }
        match format {
            Format::OpenAi => {
                if let Some(Value::Object(function)) = call.get_mut("function") {
                    name_it(function);
                }
            }
            Format::OpenAiResponses | Format::Anthropic | Format::Gemini | Format::Mcp => {
                name_it(call);
            }
        }
    }
}

/// Whether two items are one call, said twice. A stream may number what it repeats.
fn is_same_call(one: &Value, other: &Value) -> bool {
    let strip = |item: &Value| {
        let mut item = item.clone();
        if let Some(item) = item.as_object_mut() {
            item.remove("index");
        }
        item
    };
    strip(one) == strip(other)
}

fn name_it(call: &mut Map<String, Value>) {
    let is_named = call.get("name").and_then(Value::as_str).is_some_and(|name| !name.is_empty());
    if !is_named {
        call.insert("name".to_owned(), json!(NAMELESS));
    }
}

/// The object with the id of a call, if `item` is one.
fn call_in(format: Format, item: &Value) -> Option<&Map<String, Value>> {
    match format {
        Format::OpenAi => item.as_object().filter(|item| item.contains_key("function")),
        Format::OpenAiResponses => item.as_object().filter(|_| item["type"] == "function_call"),
        Format::Anthropic => item.as_object().filter(|_| item["type"] == "tool_use"),
        Format::Gemini => item.get("functionCall").or(item.get("function_call"))?.as_object(),
        Format::Mcp => None,
    }
}

fn call_in_mut(format: Format, item: &mut Value) -> Option<&mut Map<String, Value>> {
    call_in(format, item)?;
    if format != Format::Gemini {
        return item.as_object_mut();
    }
    let key = if item.get("functionCall").is_some() { "functionCall" } else { "function_call" };
    item.get_mut(key)?.as_object_mut()
}

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
