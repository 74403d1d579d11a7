//! Model Context Protocol.

use serde_json::{Map, Value, json};
use tool::{Block, Effect, Outcome, ToolInfo};

use crate::{
    Format, ProviderError, WireCall, WireResult, call, image,
    json::{as_text, field, list, object, one_or_many, text, unexpected},
    result::parts,
    schema,
};

pub(crate) fn definition(tool: &ToolInfo, name: &str) -> Value {
    let mut definition = json!({
        "name": name,
        "title": tool.label,
        "description": tool.description,
        "inputSchema": schema(Format::Mcp, &tool.parameters),
        "annotations": annotations(tool),
    });
    // Clients of older revisions take nothing but an object here.
    let output = tool.output.as_ref().filter(|output| is_object(output));
    if let (Some(definition), Some(output)) = (definition.as_object_mut(), output) {
        definition.insert("outputSchema".to_owned(), schema(Format::Mcp, output));
    }
    definition
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

fn annotations(tool: &ToolInfo) -> Value {
    let outside = tool.effects.contains(Effect::Fetch) || tool.effects.contains(Effect::Act);
    json!({
        "title": tool.label,
        "readOnlyHint": !tool.effects.changes(),
        "destructiveHint": tool.effects.contains(Effect::Act),
        "idempotentHint": tool.repeatable,
        "openWorldHint": outside,
    })
}

/// `params` of `tools/call`, the request around it, or a list of requests.
pub(crate) fn calls(message: &Value) -> Result<Vec<WireCall>, ProviderError> {
    let mut calls = Vec::new();
    for request in one_or_many(message) {
        if !request.is_object() {
            return Err(unexpected("params", "an object", request));
        }
        match text(request, "method")? {
            Some("tools/call") => {
                let params = field(request, "params")?;
                let params =
                    params.ok_or(ProviderError::Missing { at: "`tools/call`", field: "params" })?;
                let id = call::id(field(request, "id")?);
                calls.push(WireCall::read(id, params, field(params, "arguments")?)?);
            }
            // Another method, or an answer: not a call.
            Some(_) => {}
            None if request.get("jsonrpc").is_some() => {}
            None => calls.push(WireCall::read(None, request, field(request, "arguments")?)?),
        }
    }
    Ok(calls)
}

/// A request has one call, so its result stands alone.
pub(crate) fn results(results: Vec<WireResult>) -> Value {
    let mut results: Vec<_> = results.into_iter().map(result).collect();
    match results.pop() {
        Some(only) if results.is_empty() => only,
        last => results.into_iter().chain(last).collect(),
    }
}

fn result(result: WireResult) -> Value {
    Value::Object(written(result.blocks, result.structured, result.is_error.into()))
}

/// The result of a call: what [`crate::results`] gives, of an outcome that nobody else needs.
pub fn mcp_result(outcome: Outcome) -> Map<String, Value> {
    let (blocks, structured, is_error) = parts(outcome);
    written(blocks, structured, is_error.into())
}

fn written(blocks: Vec<Block>, structured: Option<Value>, is_error: Value) -> Map<String, Value> {
    let content = blocks.into_iter().map(part).collect();
    let mut written = Map::new();
    written.insert("content".to_owned(), Value::Array(content));
    written.insert("isError".to_owned(), is_error);
    if let Some(structured) = structured.filter(Value::is_object) {
        written.insert("structuredContent".to_owned(), structured);
    }
    written
}

fn part(block: Block) -> Value {
    match block {
        Block::Text(text) => object([("type", json!("text")), ("text", Value::String(text))]),
        Block::Image { mime, data } => {
            json!({"type": "image", "mimeType": mime, "data": image::encode(&data)})
        }
    }
}

/// From a result, the JSON-RPC answer around it, or a list of either.
pub(crate) fn parse_results(message: &Value) -> Result<Vec<WireResult>, ProviderError> {
    one_or_many(message).iter().map(parse_result).collect()
}

fn parse_result(answer: &Value) -> Result<WireResult, ProviderError> {
    if !answer.is_object() {
        return Err(unexpected("result", "an object", answer));
    }
    let id = call::id(field(answer, "id")?);
    // A protocol error is an answer too.
    if let Some(error) = field(answer, "error")? {
        let message = text(error, "message")?.map_or_else(|| error.to_string(), str::to_owned);
        let blocks = vec![Block::Text(message)];
        return Ok(WireResult { id, name: None, blocks, structured: None, is_error: true });
    }
    let result = field(answer, "result")?.unwrap_or(answer);
    let structured = field(result, "structured_content")?.cloned();
    let mut blocks = Vec::new();
    for part in list(result, "content")? {
        blocks.push(parse_part(part)?);
    }
    if blocks.is_empty() {
        blocks.extend(structured.as_ref().map(as_text).map(Block::Text));
    }
    let is_error = field(result, "is_error")?.and_then(Value::as_bool).unwrap_or(false);
    Ok(WireResult { id, name: None, blocks, structured, is_error })
}

/// What a model cannot take is a line that says so.
fn parse_part(part: &Value) -> Result<Block, ProviderError> {
    let mime = |at| Ok(text(at, "mime_type")?.unwrap_or("application/octet-stream").to_owned());
    match text(part, "type")?.unwrap_or_default() {
        "text" => Ok(Block::Text(text(part, "text")?.unwrap_or_default().to_owned())),
        "image" => image::decode(&mime(part)?, text(part, "data")?.unwrap_or_default()),
        "resource" => {
            let resource = field(part, "resource")?.unwrap_or(&Value::Null);
            let (kind, blob) = (mime(resource)?, text(resource, "blob")?);
            match (text(resource, "text")?, blob.filter(|_| kind.starts_with("image/"))) {
                (Some(text), _) => Ok(Block::Text(text.to_owned())),
                (None, Some(blob)) => image::decode(&kind, blob),
                (None, None) => Ok(Block::Text(format!("[{kind} at {}]", uri(resource)?))),
            }
        }
        "resource_link" => Ok(Block::Text(format!("[{} at {}]", mime(part)?, uri(part)?))),
        "audio" => Ok(Block::Text(format!("[{}, which cannot be shown]", mime(part)?))),
        other => Ok(Block::Text(format!("[`{other}`, which cannot be shown]"))),
    }
}

fn uri(at: &Value) -> Result<String, ProviderError> {
    Ok(field(at, "uri")?.map(as_text).unwrap_or_default())
}
