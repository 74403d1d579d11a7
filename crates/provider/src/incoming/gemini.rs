//! Gemini `generateContent`.

use serde_json::Value;
use tool::{Block, ToolInfo};

use super::{ChatRequest, IncludeUsage, Stream, one_answer, reader::Reader, tools};
use crate::{
    Effort, Format, ModelMessage, Options, Parallel, ProviderError, Shape, ToolChoice,
    call::calls,
    error::Located,
    gemini, image,
    json::{count, field, flag, list, number, one_or_many, text, texts, unexpected},
};

pub(super) fn read(body: &Value) -> Result<ChatRequest, ProviderError> {
    if field(body, "cached_content")?.is_some() {
        return Err(ProviderError::asked("cachedContent", "the whole conversation"));
    }
    let mut reader = Reader::default();
    if let Some(system) = field(body, "system_instruction")? {
        reader.system(plain(system)?);
    }
    let contents = super::conversation(body, "contents")?;
    for (index, item) in one_or_many(contents).iter().enumerate() {
        content(item, &mut reader).at("contents", index)?;
    }
    let (system, messages) = reader.end()?;
    Ok(ChatRequest {
        model: String::new(),
        system,
        messages,
        tools: read_tools(body)?,
        options: options(body)?,
        stream: Stream::No,
        include_usage: IncludeUsage::Yes,
        previous: None,
    })
}

fn content(content: &Value, reader: &mut Reader) -> Result<(), ProviderError> {
    if !content.is_object() {
        return Err(unexpected("content", "an object", content));
    }
    match text(content, "role")?.unwrap_or("user") {
        "user" | "function" => {
            reader.results(gemini::parse_results(content)?);
            reader.user(blocks(content)?);
        }
        "model" => {
            let calls = calls(Format::Gemini, content)?;
            // A client that was sent pieces may send them back as it got them.
            reader.more(ModelMessage { text: said(content)?, calls, raw: None }, "");
        }
        "system" => reader.system(plain(content)?),
        other => {
            let instead = "`user` or `model`";
            let kind = other.to_owned();
            return Err(ProviderError::NotTaken { what: "the role", kind, instead });
        }
    }
    Ok(())
}

/// Text, or a content that has parts of it.
fn plain(content: &Value) -> Result<String, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(text.to_owned());
    }
    if !content.is_object() {
        return Err(unexpected("systemInstruction", "a content", content));
    }
    let parts = field(content, "parts")?.map(one_or_many).unwrap_or_default();
    let mut said = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        said.extend(text(part, "text").at("parts", index)?);
    }
    Ok(said.join("\n"))
}

/// What the model said for people. Text may have come in pieces, each a part; thoughts, and what the
/// provider's own tools did, only the provider can read.
fn said(content: &Value) -> Result<String, ProviderError> {
    let mut said = String::new();
    for (index, part) in list(content, "parts")?.iter().enumerate() {
        if !flag(part, "thought").at("parts", index)? {
            said.push_str(text(part, "text").at("parts", index)?.unwrap_or_default());
        }
    }
    Ok(said)
}

fn blocks(content: &Value) -> Result<Vec<Block>, ProviderError> {
    let mut blocks = Vec::new();
    for (index, part) in list(content, "parts")?.iter().enumerate() {
        blocks.extend(block(part).at("parts", index)?);
    }
    Ok(blocks)
}

fn block(part: &Value) -> Result<Option<Block>, ProviderError> {
    if let Some(text) = text(part, "text")? {
        return Ok(Some(Block::Text(text.to_owned())));
    }
    if let Some(data) = field(part, "inline_data")? {
        let mime = text(data, "mime_type")?.unwrap_or_default();
        return image::inline(mime, text(data, "data")?.unwrap_or_default()).map(Some);
    }
    if let Some(file) = field(part, "file_data")? {
        let uri = text(file, "file_uri")?.unwrap_or_default();
        return Err(ProviderError::RemoteImage(uri.to_owned()));
    }
    // Read already.
    if field(part, "function_response")?.is_some() {
        return Ok(None);
    }
    let kind = part.as_object().and_then(|part| part.keys().next());
    Err(ProviderError::content(kind.map_or("nothing", String::as_str)))
}

fn read_tools(body: &Value) -> Result<Vec<ToolInfo>, ProviderError> {
    let mut found = Vec::new();
    for (index, tool) in list(body, "tools")?.iter().enumerate() {
        found.extend(declared(tool).at("tools", index)?);
    }
    Ok(found)
}

fn declared(tool: &Value) -> Result<Vec<ToolInfo>, ProviderError> {
    let declarations = ["functionDeclarations", "function_declarations"];
    let own = |(key, value): &(&String, &Value)| {
        !declarations.contains(&key.as_str()) && !value.is_null()
    };
    let mut keys = tool.as_object().into_iter().flatten();
    if let Some((key, _)) = keys.find(own) {
        return Err(ProviderError::ForeignTool(key.clone()));
    }
    let each = list(tool, "function_declarations")?.iter().enumerate();
    each.map(|(index, function)| {
        let found = tools::function(function, &["parameters", "parameters_json_schema"]);
        found.at("functionDeclarations", index)
    })
    .collect()
}

fn options(body: &Value) -> Result<Options, ProviderError> {
    let generation = field(body, "generation_config")?.unwrap_or(&Value::Null);
    one_answer(generation, "candidate_count")?;
    let config = field(body, "tool_config")?.unwrap_or(&Value::Null);
    let calling = field(config, "function_calling_config")?;
    Ok(Options {
        max_tokens: count(generation, "max_output_tokens")?,
        temperature: number(generation, "temperature")?,
        top_p: number(generation, "top_p")?,
        stop: texts(generation, "stop_sequences")?,
        tool_choice: calling.map(choice).transpose()?.unwrap_or_default(),
        parallel: Parallel::Yes,
        effort: effort(generation)?,
        shape: shape(generation)?,
    })
}

fn choice(calling: &Value) -> Result<ToolChoice, ProviderError> {
    let allowed = texts(calling, "allowed_function_names")?;
    let mode = text(calling, "mode")?.unwrap_or_default().to_ascii_uppercase();
    Ok(match (mode.as_str(), allowed.as_slice()) {
        ("NONE", _) => ToolChoice::Never,
        ("ANY", [only]) => ToolChoice::Named(only.clone()),
        ("ANY", _) => ToolChoice::Required,
        _ => ToolChoice::Auto,
    })
}

/// A word, or how hard a number of tokens is.
fn effort(generation: &Value) -> Result<Option<Effort>, ProviderError> {
    let thinking = field(generation, "thinking_config")?.unwrap_or(&Value::Null);
    let level = text(thinking, "thinking_level")?.and_then(Effort::named);
    // A negative one means: as you like.
    let budget = field(thinking, "thinking_budget")?.and_then(Value::as_u64);
    let budget = budget.map(|budget| match budget {
        0 => Effort::None,
        1..1_024 => Effort::Minimal,
        1_024..4_096 => Effort::Low,
        4_096..16_384 => Effort::Medium,
        16_384.. => Effort::High,
    });
    Ok(level.or(budget))
}

fn shape(generation: &Value) -> Result<Shape, ProviderError> {
    let schema = field(generation, "response_json_schema")?.cloned();
    let own = field(generation, "response_schema")?.map(plain_types);
    if let Some(schema) = schema.or(own) {
        return Ok(Shape::Schema { name: "answer".to_owned(), schema, strict: false });
    }
    let mime = text(generation, "response_mime_type")?;
    Ok(if mime == Some("application/json") { Shape::Json } else { Shape::Text })
}

/// A schema with the names of types that JSON Schema has: here they may be in capitals.
fn plain_types(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(plain_types).collect(),
        Value::Object(fields) => {
            let plain = |(key, value): (&String, &Value)| match value.as_str() {
                Some(name) if key == "type" => (key.clone(), name.to_lowercase().into()),
                Some(_) | None => (key.clone(), plain_types(value)),
            };
            fields.iter().map(plain).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}
