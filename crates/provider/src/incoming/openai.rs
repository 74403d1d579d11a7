//! `OpenAI` chat completions.

use serde_json::Value;
use tool::{Block, ToolInfo};

use super::{ChatRequest, IncludeUsage, one_answer, reader::Reader, tools};
use crate::{
    Effort, Format, ModelMessage, Options, Parallel, ProviderError, Shape, ToolChoice,
    call::calls,
    error::Located,
    image,
    json::{count, field, flag, list, number, text, texts, unexpected},
    openai,
};

pub(super) fn read(body: &Value) -> Result<ChatRequest, ProviderError> {
    refuse(body)?;
    let mut reader = Reader::default();
    for (index, item) in super::messages(body, "messages")?.iter().enumerate() {
        message(item, &mut reader).at("messages", index)?;
    }
    let (system, messages) = reader.end()?;
    let stream_options = field(body, "stream_options")?.unwrap_or(&Value::Null);
    let asked = flag(stream_options, "include_usage")?;
    Ok(ChatRequest {
        model: super::model(body)?,
        system,
        messages,
        tools: read_tools(body)?,
        options: options(body)?,
        stream: super::stream(body)?,
        include_usage: if asked { IncludeUsage::Yes } else { IncludeUsage::No },
        previous: None,
    })
}

/// What we would not do as asked.
fn refuse(body: &Value) -> Result<(), ProviderError> {
    one_answer(body, "n")?;
    if !list(body, "functions")?.is_empty() {
        return Err(ProviderError::asked("functions", "`tools`"));
    }
    if field(body, "audio")?.is_some() {
        return Err(ProviderError::asked("audio", "requests for text"));
    }
    if field(body, "web_search_options")?.is_some() {
        return Err(ProviderError::ForeignTool("web_search_options".to_owned()));
    }
    Ok(())
}

fn message(message: &Value, reader: &mut Reader) -> Result<(), ProviderError> {
    if !message.is_object() {
        return Err(unexpected("message", "an object", message));
    }
    let content = field(message, "content")?;
    match super::role(message)? {
        "system" | "developer" => {
            reader.system(content.map(plain).transpose()?.unwrap_or_default());
        }
        "user" => reader.user(content.map(blocks).transpose()?.unwrap_or_default()),
        "assistant" => {
            let refusal = text(message, "refusal")?.map(str::to_owned);
            let said = content.map(plain).transpose()?.filter(|said| !said.is_empty());
            let text = said.or(refusal).unwrap_or_default();
            let calls = calls(Format::OpenAi, message)?;
            reader.model(ModelMessage { text, calls, raw: None });
        }
        "tool" | "function" => reader.results(openai::parse_results(message)?),
        other => {
            let instead = "`system`, `user`, `assistant` or `tool`";
            let kind = other.to_owned();
            return Err(ProviderError::NotTaken { what: "the role", kind, instead });
        }
    }
    Ok(())
}

/// Content that can only be text.
fn plain(content: &Value) -> Result<String, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(text.to_owned());
    }
    let parts =
        content.as_array().ok_or_else(|| unexpected("content", "text or parts", content))?;
    let mut said = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let found = text(part, "text").at("content", index)?;
        let found = found.or(text(part, "refusal").at("content", index)?);
        let kind = text(part, "type").at("content", index)?.unwrap_or("unknown");
        let found = found.ok_or_else(|| ProviderError::NotTaken {
            what: "content of type",
            kind: kind.to_owned(),
            instead: "text",
        });
        said.push(found.at("content", index)?);
    }
    Ok(said.join("\n"))
}

fn blocks(content: &Value) -> Result<Vec<Block>, ProviderError> {
    if let Some(text) = content.as_str() {
        return Ok(vec![Block::Text(text.to_owned())]);
    }
    let parts =
        content.as_array().ok_or_else(|| unexpected("content", "text or parts", content))?;
    let each = parts.iter().enumerate();
    each.map(|(index, part)| block(part).at("content", index)).collect()
}

fn block(part: &Value) -> Result<Block, ProviderError> {
    match text(part, "type")?.unwrap_or_default() {
        "text" => {
            let text = text(part, "text")?;
            let text = text.ok_or(ProviderError::Missing { at: "a text", field: "text" })?;
            Ok(Block::Text(text.to_owned()))
        }
        "image_url" => {
            let image = field(part, "image_url")?;
            let url = image.and_then(|image| image.get("url").unwrap_or(image).as_str());
            let url =
                url.ok_or(ProviderError::Missing { at: "an image", field: "image_url.url" })?;
            image::sent(url)
        }
        other => Err(ProviderError::content(other)),
    }
}

fn read_tools(body: &Value) -> Result<Vec<ToolInfo>, ProviderError> {
    let each = list(body, "tools")?.iter().enumerate();
    each.map(|(index, tool)| read_tool(tool).at("tools", index)).collect()
}

fn read_tool(tool: &Value) -> Result<ToolInfo, ProviderError> {
    let kind = text(tool, "type")?.unwrap_or("function");
    if kind != "function" {
        return Err(ProviderError::ForeignTool(kind.to_owned()));
    }
    let function = field(tool, "function")?;
    let function = function.ok_or(ProviderError::Missing { at: "a tool", field: "function" })?;
    tools::function(function, &["parameters"])
}

fn options(body: &Value) -> Result<Options, ProviderError> {
    let parallel = field(body, "parallel_tool_calls")?.is_some_and(|parallel| *parallel == false);
    Ok(Options {
        max_tokens: count(body, "max_completion_tokens")?.or(count(body, "max_tokens")?),
        temperature: number(body, "temperature")?,
        top_p: number(body, "top_p")?,
        stop: texts(body, "stop")?,
        tool_choice: field(body, "tool_choice")?.map(choice).transpose()?.unwrap_or_default(),
        parallel: if parallel { Parallel::No } else { Parallel::Yes },
        effort: text(body, "reasoning_effort")?.and_then(Effort::named),
        shape: field(body, "response_format")?.map(shape).transpose()?.unwrap_or_default(),
    })
}

/// `tool_choice`, as both formats of `OpenAI` write it.
pub(super) fn choice(choice: &Value) -> Result<ToolChoice, ProviderError> {
    match choice.as_str() {
        Some("auto") => return Ok(ToolChoice::Auto),
        Some("none") => return Ok(ToolChoice::Never),
        Some("required") => return Ok(ToolChoice::Required),
        Some(_) | None => {}
    }
    let wrong = || unexpected("tool_choice", "`auto`, `none`, `required` or a function", choice);
    match text(choice, "type")? {
        Some("function") => {
            let function = field(choice, "function")?.unwrap_or(choice);
            let name = text(function, "name")?.ok_or_else(wrong)?;
            Ok(ToolChoice::Named(name.to_owned()))
        }
        // Which of them may be called cannot be said in every format; whether one must be, can.
        Some("allowed_tools") => {
            let allowed = field(choice, "allowed_tools")?.unwrap_or(choice);
            let must = text(allowed, "mode")? == Some("required");
            Ok(if must { ToolChoice::Required } else { ToolChoice::Auto })
        }
        Some(other) => Err(ProviderError::ForeignTool(other.to_owned())),
        None => Err(wrong()),
    }
}

/// `response_format`, or `text.format` of responses, where nothing is inside of `json_schema`.
pub(super) fn shape(format: &Value) -> Result<Shape, ProviderError> {
    match text(format, "type")?.unwrap_or_default() {
        "json_object" => Ok(Shape::Json),
        "json_schema" => {
            let inner = field(format, "json_schema")?.unwrap_or(format);
            let name = text(inner, "name")?.unwrap_or("answer").to_owned();
            let schema = field(inner, "schema")?.cloned();
            let strict = flag(inner, "strict")?;
            Ok(schema.map_or(Shape::Json, |schema| Shape::Schema { name, schema, strict }))
        }
        _ => Ok(Shape::Text),
    }
}
