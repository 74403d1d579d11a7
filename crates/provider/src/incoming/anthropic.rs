//! Anthropic messages.

use serde_json::Value;
use tool::{Block, ToolInfo};

use super::{ChatRequest, IncludeUsage, reader::Reader, tools};
use crate::{
    Effort, Format, ModelMessage, Options, Parallel, ProviderError, Shape, ToolChoice, anthropic,
    call::calls,
    error::Located,
    image,
    json::{count, field, flag, list, number, text, texts, unexpected},
};

pub(super) fn read(body: &Value) -> Result<ChatRequest, ProviderError> {
    if !list(body, "mcp_servers")?.is_empty() {
        return Err(ProviderError::asked("mcp_servers", "`tools`"));
    }
    if field(body, "thread")?.is_some() {
        return Err(ProviderError::Thread);
    }
    let mut reader = Reader::default();
    if let Some(system) = field(body, "system")? {
        reader.system(plain(system, "system")?);
    }
    for (index, item) in super::messages(body, "messages")?.iter().enumerate() {
        message(item, &mut reader).at("messages", index)?;
    }
    let (system, messages) = reader.end()?;
    Ok(ChatRequest {
        model: super::model(body)?,
        system,
        messages,
        tools: read_tools(body)?,
        options: options(body)?,
        stream: super::stream(body)?,
        include_usage: IncludeUsage::Yes,
        previous: None,
    })
}

fn message(message: &Value, reader: &mut Reader) -> Result<(), ProviderError> {
    if !message.is_object() {
        return Err(unexpected("message", "an object", message));
    }
    let content = field(message, "content")?;
    let content = content.ok_or(ProviderError::Missing { at: "a message", field: "content" })?;
    match super::role(message)? {
        "system" => reader.system(plain(content, "content")?),
        "user" => {
            // Results come first, and what else was said goes with them.
            reader.results(anthropic::parse_results(message)?);
            reader.user(blocks(content)?);
        }
        "assistant" => {
            let calls = calls(Format::Anthropic, message)?;
            reader.model(ModelMessage { text: said(content)?, calls, raw: None });
        }
        other => {
            let instead = "`user` or `assistant`";
            let kind = other.to_owned();
            return Err(ProviderError::NotTaken { what: "the role", kind, instead });
        }
    }
    Ok(())
}

/// Text, or blocks of it.
fn plain(content: &Value, name: &str) -> Result<String, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(text.to_owned());
    }
    let blocks = content.as_array().ok_or_else(|| unexpected(name, "text or blocks", content))?;
    let mut said = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let text = text(block, "text").at(name, index)?;
        let missing = ProviderError::Missing { at: "a block", field: "text" };
        said.push(text.ok_or(missing).at(name, index)?);
    }
    Ok(said.join("\n"))
}

/// What the model said for people. Its thoughts, and what the provider's own tools did, only the
/// provider can read.
fn said(content: &Value) -> Result<String, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(text.to_owned());
    }
    let mut said = Vec::new();
    for (index, block) in content.as_array().into_iter().flatten().enumerate() {
        if text(block, "type").at("content", index)? == Some("text") {
            said.push(text(block, "text").at("content", index)?.unwrap_or_default());
        }
    }
    Ok(said.join("\n"))
}

fn blocks(content: &Value) -> Result<Vec<Block>, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(vec![Block::Text(text.to_owned())]);
    }
    let mut blocks = Vec::new();
    for (index, part) in content.as_array().into_iter().flatten().enumerate() {
        blocks.extend(block(part).at("content", index)?);
    }
    Ok(blocks)
}

fn block(part: &Value) -> Result<Option<Block>, ProviderError> {
    let source = field(part, "source")?.unwrap_or(&Value::Null);
    let source_kind = text(source, "type")?.unwrap_or_default();
    let data = || {
        let data = text(source, "data")?;
        data.ok_or(ProviderError::Missing { at: "a source", field: "data" })
    };
    match text(part, "type")?.unwrap_or_default() {
        // Read already.
        "tool_result" => Ok(None),
        "text" => {
            let text = text(part, "text")?;
            let text = text.ok_or(ProviderError::Missing { at: "a text", field: "text" })?;
            Ok(Some(Block::Text(text.to_owned())))
        }
        "image" if source_kind == "base64" => {
            let mime = text(source, "media_type")?.unwrap_or_default();
            image::inline(mime, data()?).map(Some)
        }
        "image" => {
            let at = text(source, "url")?.or(text(source, "file_id")?).unwrap_or(source_kind);
            image::sent(at).map(Some)
        }
        "document" if source_kind == "text" => {
            let title =
                text(part, "title")?.map_or_else(String::new, |title| format!("{title}\n\n"));
            Ok(Some(Block::Text(title + data()?)))
        }
        other => Err(ProviderError::content(other)),
    }
}

fn read_tools(body: &Value) -> Result<Vec<ToolInfo>, ProviderError> {
    let each = list(body, "tools")?.iter().enumerate();
    each.map(|(index, tool)| read_tool(tool).at("tools", index)).collect()
}

fn read_tool(tool: &Value) -> Result<ToolInfo, ProviderError> {
    match text(tool, "type")?.unwrap_or("custom") {
        "custom" => tools::function(tool, &["input_schema"]),
        other => Err(ProviderError::ForeignTool(other.to_owned())),
    }
}

fn options(body: &Value) -> Result<Options, ProviderError> {
    let (tool_choice, parallel) =
        field(body, "tool_choice")?.map(choice).transpose()?.unwrap_or_default();
    let config = field(body, "output_config")?.unwrap_or(&Value::Null);
    let effort = text(config, "effort")?.and_then(Effort::named);
    // Where it was before it was there.
    let format = field(config, "format")?.or(field(body, "output_format")?);
    let shape = match format.and_then(|format| format.get("schema")).cloned() {
        Some(schema) => Shape::Schema { name: "answer".to_owned(), schema, strict: false },
        None => Shape::Text,
    };
    Ok(Options {
        max_tokens: count(body, "max_tokens")?,
        temperature: number(body, "temperature")?,
        top_p: number(body, "top_p")?,
        stop: texts(body, "stop_sequences")?,
        tool_choice,
        parallel,
        effort: effort.or(thinking(body)?),
        shape,
    })
}

fn choice(choice: &Value) -> Result<(ToolChoice, Parallel), ProviderError> {
    let wrong = || unexpected("tool_choice", "an object with a `type`", choice);
    let named = || text(choice, "name")?.map(str::to_owned).ok_or_else(wrong);
    let tool_choice = match text(choice, "type")?.unwrap_or_default() {
        "auto" => ToolChoice::Auto,
        "none" => ToolChoice::Never,
        "any" => ToolChoice::Required,
        "tool" => ToolChoice::Named(named()?),
        _ => return Err(wrong()),
    };
    let one_by_one = flag(choice, "disable_parallel_tool_use")?;
    Ok((tool_choice, if one_by_one { Parallel::No } else { Parallel::Yes }))
}

/// How hard a number of tokens is.
fn thinking(body: &Value) -> Result<Option<Effort>, ProviderError> {
    let thinking = field(body, "thinking")?.unwrap_or(&Value::Null);
    let budget = count(thinking, "budget_tokens")?;
    Ok(match (text(thinking, "type")?, budget) {
        (Some("disabled"), _) => Some(Effort::None),
        (Some("enabled"), Some(..4_096)) => Some(Effort::Low),
        (Some("enabled"), Some(4_096..16_384)) => Some(Effort::Medium),
        (Some("enabled"), Some(16_384..)) => Some(Effort::High),
        _ => None,
    })
}
