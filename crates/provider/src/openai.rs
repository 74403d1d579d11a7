//! `OpenAI` chat completions.

use serde_json::{Value, json};
use tool::{Block, ToolInfo};

use crate::{
    Format, ProviderError, WireCall, WireResult, call, image,
    image::Seen,
    json::{field, list, object, one_or_many, text, unexpected},
    result::{flagged_text, from_flagged},
    schema,
};

pub(crate) fn definition(tool: &ToolInfo, name: &str) -> Value {
    let parameters = schema(Format::OpenAi, &tool.parameters);
    let description = &tool.description;
    json!({
        "type": "function",
        // Strict mode wants every parameter to be required.
        "function": {"name": name, "description": description, "parameters": parameters, "strict": false},
    })
}

/// `{"tool_calls": […]}`, alone or inside of `message` or `choices`.
pub(crate) fn calls(message: &Value) -> Result<Vec<WireCall>, ProviderError> {
    let message = inner_message(message)?;
    let mut calls = Vec::new();
    for item in list(message, "tool_calls")? {
        calls.extend(read(item)?);
    }
    // What came before `tool_calls`; a message has one or the other.
    if calls.is_empty()
        && let Some(function) = field(message, "function_call")?
    {
        calls.push(WireCall::read(None, function, field(function, "arguments")?)?);
    }
    Ok(calls)
}

fn inner_message(message: &Value) -> Result<&Value, ProviderError> {
    if !message.is_object() {
        return Err(unexpected("message", "an object", message));
    }
    let choice = list(message, "choices")?.first().unwrap_or(message);
    Ok(field(choice, "message")?.unwrap_or(choice))
}

fn read(item: &Value) -> Result<Option<WireCall>, ProviderError> {
    let id = call::id(field(item, "id")?);
    let Some(function) = field(item, "function")? else {
        // Another type of call, which is not for us; without a type the function is missing.
        return match text(item, "type")? {
            None | Some("function") => {
                Err(ProviderError::Missing { at: "a tool call", field: "function" })
            }
            Some(_) => Ok(None),
        };
    };
    WireCall::read(id, function, field(function, "arguments")?).map(Some)
}

/// A call, as an assistant's message has it.
pub(crate) fn tool_call(call: &WireCall) -> Value {
    let function = json!({"name": call.name, "arguments": call.args_or_empty().to_string()});
    json!({"id": call.id, "type": "function", "function": function})
}

/// One message for each result, then one of the user with all images, which a tool's message
/// cannot hold.
pub(crate) fn results(results: &[WireResult]) -> Value {
    let (mut messages, mut images) = (Vec::new(), Vec::new());
    for result in results {
        let blocks: Vec<_> = image::visible(&result.blocks, image::COMMON).collect();
        let text = flagged_text(result, &blocks);
        let shown: Vec<_> = blocks.iter().filter_map(image_part).collect();
        let (count, key) = (shown.len(), result.key());
        let content = if count == 0 {
            text
        } else {
            let title = format!("Images of the tool call `{key}`:");
            images.push(json!({"type": "text", "text": title}));
            images.extend(shown);
            format!("{text}\n[images that follow in the next message: {count}]")
        };
        let role = json!("tool");
        messages.push(object([
            ("role", role),
            ("tool_call_id", json!(key)),
            ("content", Value::String(content)),
        ]));
    }
    if !images.is_empty() {
        messages.push(object([("role", json!("user")), ("content", Value::Array(images))]));
    }
    Value::Array(messages)
}

fn image_part(block: &Seen<'_>) -> Option<Value> {
    let Seen::Image { mime, data } = block else { return None };
    Some(json!({"type": "image_url", "image_url": {"url": image::data_url(mime, data)}}))
}

/// Images stay in the user's message that has them.
pub(crate) fn parse_results(message: &Value) -> Result<Vec<WireResult>, ProviderError> {
    let mut results = Vec::new();
    for message in one_or_many(message) {
        let role = text(message, "role")?.unwrap_or_default();
        if !matches!(role, "tool" | "function") {
            continue;
        }
        let id = call::id(field(message, "tool_call_id")?);
        let blocks = field(message, "content")?.map(content).transpose()?.unwrap_or_default();
        let name = text(message, "name")?.map(str::to_owned);
        results.push(WireResult { name, ..from_flagged(id, blocks) });
    }
    Ok(results)
}

fn content(content: &Value) -> Result<Vec<Block>, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(vec![Block::Text(text.to_owned())]);
    }
    let parts =
        content.as_array().ok_or_else(|| unexpected("content", "text or parts", content))?;
    let mut blocks = Vec::new();
    for part in parts {
        if let Some(text) = text(part, "text")? {
            blocks.push(Block::Text(text.to_owned()));
        } else if let Some(url) = field(part, "image_url")? {
            let url = url.get("url").unwrap_or(url).as_str().unwrap_or_default();
            blocks.push(image::from_url(url)?);
        }
    }
    Ok(blocks)
}
