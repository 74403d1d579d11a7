//! Gemini `generateContent`.

use serde_json::{Value, json};
use tool::{Block, ToolInfo};

use crate::{
    Format, ProviderError, WireCall, WireResult, call, image,
    image::Seen,
    json::{as_text, field, list, object, one_or_many, text, unexpected},
    schema,
};

/// What its models can look at.
pub(crate) const IMAGES: &[&str] =
    &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "image/gif"];

/// Beyond this, quoting costs less than comparing.
pub(crate) const COMPARED_BYTES: usize = 65_536;

pub(crate) fn definition(tool: &ToolInfo, name: &str) -> Value {
    let parameters = schema(Format::Gemini, &tool.parameters);
    let mut definition = json!({"name": name, "description": tool.description});
    let empty = parameters
        .get("properties")
        .and_then(Value::as_object)
        .is_none_or(serde_json::Map::is_empty);
    // An object without properties is refused; a tool without parameters leaves them out.
    if let Some(definition) = definition.as_object_mut().filter(|_| !empty) {
        definition.insert("parameters".to_owned(), parameters);
    }
    definition
}

/// `tools` of a request.
pub(crate) fn definitions(list: &[Value]) -> Value {
    json!([{"functionDeclarations": list}])
}

/// A response, a candidate, its `content`, its `parts`, or one part.
pub(crate) fn calls(message: &Value) -> Result<Vec<WireCall>, ProviderError> {
    let mut calls = Vec::new();
    for part in parts(message)? {
        if let Some(call) = field(part, "function_call")? {
            if field(call, "partial_args")?.is_some() {
                return Err(ProviderError::PartialArguments);
            }
            let id = call::id(field(call, "id")?);
            calls.push(WireCall::read(id, call, field(call, "args")?)?);
        }
    }
    Ok(calls)
}

fn parts(message: &Value) -> Result<&[Value], ProviderError> {
    if !message.is_object() && !message.is_array() {
        return Err(unexpected("content", "an object with parts", message));
    }
    let candidate = list(message, "candidates")?.first().unwrap_or(message);
    let content = field(candidate, "content")?.unwrap_or(candidate);
    match field(content, "parts")? {
        Some(_) => list(content, "parts"),
        // A response whose candidate was blocked has none.
        None if content.get("candidates").is_some() => Ok(&[]),
        None => Ok(one_or_many(content)),
    }
}

/// A call, inside of its part.
pub(crate) fn function_call(call: &WireCall) -> Value {
    let (name, args) = (json!(call.name), call.args_or_empty().into_owned());
    let mut fields = object([("name", name), ("args", args)]);
    if let (Some(fields), Some(id)) = (fields.as_object_mut(), &call.id) {
        fields.insert("id".to_owned(), json!(id));
    }
    fields
}

/// One content with a part for each result; images are parts of their result.
pub(crate) fn results(results: Vec<WireResult>) -> Value {
    let parts = results.into_iter().map(function_response).collect();
    object([("role", json!("user")), ("parts", Value::Array(parts))])
}

fn function_response(mut result: WireResult) -> Value {
    let structured = result.structured.take();
    let blocks: Vec<_> = image::visible(&result.blocks, IMAGES).collect();
    let key = if result.is_error { "error" } else { "output" };
    let response = object([(key, output(structured, &blocks))]);
    let images: Vec<_> = blocks.iter().filter_map(inline_data).collect();
    let name = json!(result.name.as_deref().unwrap_or_default());
    let mut fields = object([("name", name), ("response", response)]);
    if let Some(fields) = fields.as_object_mut() {
        fields.extend(result.id.map(|id| ("id".to_owned(), Value::String(id))));
        if !images.is_empty() {
            fields.insert("parts".to_owned(), Value::Array(images));
        }
    }
    object([("functionResponse", fields)])
}

/// The structured value where the text says the same, so that it need not be quoted.
fn output(structured: Option<Value>, blocks: &[Seen<'_>]) -> Value {
    let texts = blocks.iter().filter_map(|block| match block {
        Seen::Text(text) => Some(&**text),
        Seen::Image { .. } => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let same = structured.filter(|value| text.len() <= COMPARED_BYTES && as_text(value) == text);
    same.unwrap_or(Value::String(text))
}

fn inline_data(block: &Seen<'_>) -> Option<Value> {
    let Seen::Image { mime, data } = block else { return None };
    Some(json!({"inlineData": {"mimeType": mime, "data": image::encode(data)}}))
}

/// From what [`results`] writes, a list of contents, parts, or one part.
pub(crate) fn parse_results(message: &Value) -> Result<Vec<WireResult>, ProviderError> {
    let mut results = Vec::new();
    for message in one_or_many(message) {
        for part in parts(message)? {
            if let Some(response) = field(part, "function_response")? {
                results.push(parse_result(response)?);
            }
        }
    }
    Ok(results)
}

fn parse_result(found: &Value) -> Result<WireResult, ProviderError> {
    let id = call::id(field(found, "id")?);
    let name = text(found, "name")?.map(str::to_owned);
    let response = field(found, "response")?.unwrap_or(&Value::Null);
    let error = field(response, "error")?;
    let answer = error.or(field(response, "output")?).or(field(response, "result")?);
    let answer = answer.unwrap_or(response);
    let structured = (!answer.is_string() && !answer.is_null()).then(|| answer.clone());
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend((!answer.is_null()).then(|| Block::Text(as_text(answer))));
    for part in list(found, "parts")? {
        let Some(data) = field(part, "inline_data")? else { continue };
        let mime = text(data, "mime_type")?.unwrap_or_default();
        blocks.push(image::decode(mime, text(data, "data")?.unwrap_or_default())?);
    }
    Ok(WireResult { id, name, blocks, structured, is_error: error.is_some() })
}
