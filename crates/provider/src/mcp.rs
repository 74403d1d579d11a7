//! Model Context Protocol.

use serde_json::{Map, Value, json};
use tool::{Block, Effect, Outcome, ToolInfo};

use crate::{
    Format, ProviderError, WireCall, WireResult, call, image,
    json::{as_text, field, list, object, one_or_many, text, unexpected},
    result::failed,
    schema,
    structured::{Bounds, MODEL_BYTES, for_model, has_required},
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
        // What changes something may change what was there before: no tool says that it only adds.
        "destructiveHint": tool.effects.changes(),
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

/// What is said of a result that its tool promises in a form it does not have.
const FORMLESS: &str = "unstructured: the call succeeded, but its result is not in the form that the tool declares, because \
     it is too long or somebody answered in the tool's place; it follows as text";

/// What [`crate::results`] writes, where nobody knows more of the tools.
pub(crate) fn answers(answers: &[(&WireCall, &Outcome)]) -> Value {
    let outcomes = answers.iter().map(|(_, outcome)| Outcome::clone(outcome));
    mcp_results(outcomes.map(|outcome| (outcome, None)), MODEL_BYTES)
}

/// What [`crate::results`] writes in this format, of outcomes with the tools they are of; see [`mcp_result`].
pub fn mcp_results<'a>(
    outcomes: impl IntoIterator<Item = (Outcome, Option<&'a ToolInfo>)>,
    model_bytes: usize,
) -> Value {
    let result = |(outcome, tool)| Value::Object(mcp_result(outcome, tool, model_bytes));
    alone(outcomes.into_iter().map(result))
}

pub(crate) fn results(results: Vec<WireResult>) -> Value {
    alone(results.into_iter().map(|result| {
        Value::Object(written(result.blocks, result.structured, result.is_error.into()))
    }))
}

/// A request has one call, so its result stands alone.
fn alone(results: impl Iterator<Item = Value>) -> Value {
    let mut results: Vec<_> = results.collect();
    match results.pop() {
        Some(only) if results.is_empty() => only,
        last => results.into_iter().chain(last).collect(),
    }
}

/// The result of a call of `tool`, of an outcome that nobody else needs. Of its value a model gets no more than
/// `model_bytes`, and what nobody vouches for is fenced.
pub fn mcp_result(
    outcome: Outcome,
    tool: Option<&ToolInfo>,
    model_bytes: usize,
) -> Map<String, Value> {
    let (result, meta, mut blocks) = match outcome {
        Outcome::Success { result, meta, blocks, transcript: _ } => (result, meta, blocks),
        Outcome::Error { error_type, message, blocks, .. } => {
            let said = failed(error_type, &message);
            return written(std::iter::once(said).chain(blocks).collect(), None, true.into());
        }
    };
    let schema = tool.and_then(|tool| tool.output.as_ref());
    let declared = schema.filter(|schema| is_object(schema));
    // What a hook answers nobody has compared with the schema.
    let unchecked = meta.answered_by.as_ref().is_some_and(|by| by.starts_with("hook:"));
    let wanted = declared.filter(|_| unchecked);
    let structured = Some(result)
        .filter(|value| value.is_object() && wanted.is_none_or(|it| has_required(value, it)))
        .and_then(|value| for_model(value, Bounds { bytes: model_bytes, schema, meta: &meta }));
    // Clients raise an error of their own if what a tool declares is missing, unless it failed.
    let formless = declared.is_some() && structured.is_none();
    if formless {
        blocks.insert(0, Block::Text(FORMLESS.to_owned()));
    }
    written(blocks, structured, formless.into())
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
