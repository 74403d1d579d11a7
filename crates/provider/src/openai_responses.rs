//! `OpenAI` responses.

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
    json!({
        "type": "function",
        "name": name,
        "description": tool.description,
        "parameters": schema(Format::OpenAiResponses, &tool.parameters),
        // Strict mode, the default here, wants every parameter to be required.
        "strict": false,
    })
}

/// A response, its `output`, or one item of it.
pub(crate) fn calls(message: &Value) -> Result<Vec<WireCall>, ProviderError> {
    if !message.is_object() && !message.is_array() {
        return Err(unexpected("output", "a list of items", message));
    }
    let items = match field(message, "output")? {
        Some(_) => list(message, "output")?,
        None => one_or_many(message),
    };
    let mut calls = Vec::new();
    for item in items {
        if text(item, "type")? == Some("function_call") {
            let id = call::id(field(item, "call_id")?.or(field(item, "id")?));
            calls.push(WireCall::read(id, item, field(item, "arguments")?)?);
        }
    }
    Ok(calls)
}

/// A call, as an item of the input.
pub(crate) fn function_call(call: &WireCall) -> Value {
    let arguments = call.args_or_empty().to_string();
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments})
}

/// One item for each result; parts only where there is more than text.
pub(crate) fn results(results: &[WireResult]) -> Value {
    results.iter().map(output).collect()
}

fn output(result: &WireResult) -> Value {
    let blocks: Vec<_> = image::visible(&result.blocks, image::COMMON).collect();
    let text = flagged_text(result, &blocks);
    let images: Vec<_> = blocks.iter().filter_map(image_part).collect();
    let output = if images.is_empty() {
        Value::String(text)
    } else {
        let text = json!({"type": "input_text", "text": text});
        std::iter::once(text).chain(images).collect()
    };
    let (kind, id) = (json!("function_call_output"), json!(result.key()));
    object([("type", kind), ("call_id", id), ("output", output)])
}

fn image_part(block: &Seen<'_>) -> Option<Value> {
    let Seen::Image { mime, data } = block else { return None };
    let url = image::data_url(mime, data);
    Some(json!({"type": "input_image", "detail": "auto", "image_url": url}))
}

pub(crate) fn parse_results(message: &Value) -> Result<Vec<WireResult>, ProviderError> {
    let mut results = Vec::new();
    for item in one_or_many(message) {
        if text(item, "type")? != Some("function_call_output") {
            continue;
        }
        let id = call::id(field(item, "call_id")?);
        let blocks = field(item, "output")?.map(content).transpose()?.unwrap_or_default();
        results.push(from_flagged(id, blocks));
    }
    Ok(results)
}

fn content(output: &Value) -> Result<Vec<Block>, ProviderError> {
    if let Some(text) = output.as_str() {
        return Ok(vec![Block::Text(text.to_owned())]);
    }
    let parts = output.as_array().ok_or_else(|| unexpected("output", "text or parts", output))?;
    let mut blocks = Vec::new();
    for part in parts {
        if let Some(text) = text(part, "text")? {
            blocks.push(Block::Text(text.to_owned()));
        } else if let Some(url) = text(part, "image_url")? {
            blocks.push(image::from_url(url)?);
        }
    }
    Ok(blocks)
}
