//! Anthropic messages.

use serde_json::{Value, json};
use tool::{Block, ToolInfo};

use crate::{
    Format, ProviderError, WireCall, WireResult, call, image,
    image::Seen,
    json::{field, object, one_or_many, text, unexpected},
    schema,
};

pub(crate) fn definition(tool: &ToolInfo, name: &str) -> Value {
    json!({
        "name": name,
        "description": tool.description,
        "input_schema": schema(Format::Anthropic, &tool.parameters),
    })
}

/// A message, its `content`, or one block of it. Tools the provider runs itself have other types.
pub(crate) fn calls(message: &Value) -> Result<Vec<WireCall>, ProviderError> {
    let mut calls = Vec::new();
    for block in blocks(message)? {
        if text(block, "type")? == Some("tool_use") {
            let id = call::id(field(block, "id")?);
            calls.push(WireCall::read(id, block, field(block, "input")?)?);
        }
    }
    Ok(calls)
}

/// The blocks of a message. A message that is only text has none.
fn blocks(message: &Value) -> Result<&[Value], ProviderError> {
    if !message.is_object() && !message.is_array() {
        return Err(unexpected("content", "a list of blocks", message));
    }
    // A result has `content` too, but it is a block.
    let is_block = text(message, "type")?.is_some_and(|kind| kind != "message");
    match field(message, "content")? {
        Some(Value::Array(blocks)) if !is_block => Ok(blocks),
        Some(Value::String(_)) if !is_block => Ok(&[]),
        Some(other) if !is_block => Err(unexpected("content", "text or blocks", other)),
        _ => Ok(one_or_many(message)),
    }
}

/// One message with all results: a second message would teach the model not to call in parallel.
pub(crate) fn results(results: &[WireResult]) -> Value {
    object([("role", json!("user")), ("content", Value::Array(tool_results(results)))])
}

pub(crate) fn tool_results(results: &[WireResult]) -> Vec<Value> {
    results.iter().map(tool_result).collect()
}

/// A call, as a block of an assistant's message.
pub(crate) fn tool_use(call: &WireCall) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args_or_empty()})
}

fn tool_result(result: &WireResult) -> Value {
    // A block of blank text is refused.
    let blank = |block: &Seen<'_>| matches!(block, Seen::Text(text) if text.trim().is_empty());
    let content = image::visible(&result.blocks, image::COMMON).filter(|block| !blank(block));
    let content: Vec<_> = content.map(part).collect();
    let (kind, id) = (json!("tool_result"), json!(result.key()));
    let mut block =
        object([("type", kind), ("tool_use_id", id), ("content", Value::Array(content))]);
    if let Some(block) = block.as_object_mut().filter(|_| result.is_error) {
        block.insert("is_error".to_owned(), Value::Bool(true));
    }
    block
}

pub(crate) fn part(block: Seen<'_>) -> Value {
    match block {
        Seen::Text(text) => json!({"type": "text", "text": text}),
        Seen::Image { mime, data } => {
            let data = image::encode(data);
            json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}})
        }
    }
}

/// From one message, a list of messages, blocks, or one block.
pub(crate) fn parse_results(message: &Value) -> Result<Vec<WireResult>, ProviderError> {
    let mut results = Vec::new();
    for message in one_or_many(message) {
        for block in blocks(message)? {
            if text(block, "type")? == Some("tool_result") {
                results.push(parse_result(block)?);
            }
        }
    }
    Ok(results)
}

fn parse_result(block: &Value) -> Result<WireResult, ProviderError> {
    let id = call::id(field(block, "tool_use_id")?);
    let is_error = field(block, "is_error")?.and_then(Value::as_bool).unwrap_or(false);
    let blocks = match field(block, "content")? {
        None => Vec::new(),
        Some(Value::String(text)) => vec![Block::Text(text.clone())],
        Some(content) => parse_content(content)?,
    };
    Ok(WireResult { id, name: None, blocks, structured: None, is_error })
}

fn parse_content(content: &Value) -> Result<Vec<Block>, ProviderError> {
    let mut blocks = Vec::new();
    for part in one_or_many(content) {
        if let Some(text) = text(part, "text")? {
            blocks.push(Block::Text(text.to_owned()));
        } else if let Some(source) = field(part, "source")? {
            let mime = text(source, "media_type")?.unwrap_or_default();
            let data = text(source, "data")?.filter(|_| mime.starts_with("image/"));
            let url = text(source, "url")?;
            blocks.extend(data.map(|data| image::decode(mime, data)).transpose()?);
            blocks.extend(url.map(image::from_url).transpose()?);
        }
    }
    Ok(blocks)
}
