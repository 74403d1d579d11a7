//! `OpenAI` responses.

use serde_json::Value;
use tool::{Block, ToolInfo};

use super::{ChatRequest, IncludeUsage, openai, reader::Reader, tools};
use crate::{
    Effort, Format, ModelMessage, Options, Parallel, ProviderError,
    call::calls,
    error::Located,
    image,
    json::{count, field, flag, list, number, text, unexpected},
    openai_responses,
};

/// Between messages of one answer.
const BETWEEN: &str = "\n\n";

pub(super) fn read(body: &Value) -> Result<ChatRequest, ProviderError> {
    refuse(body)?;
    let mut reader = Reader::default();
    reader.system(text(body, "instructions")?.unwrap_or_default());
    if let Some(text) = super::conversation(body, "input")?.as_str() {
        reader.user(vec![Block::Text(text.to_owned())]);
    } else {
        for (index, entry) in super::messages(body, "input")?.iter().enumerate() {
            item(entry, &mut reader).at("input", index)?;
        }
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
        previous: text(body, "previous_response_id")?.map(str::to_owned),
    })
}

/// What we would not do as asked.
fn refuse(body: &Value) -> Result<(), ProviderError> {
    if field(body, "conversation")?.is_some() {
        return Err(ProviderError::asked("conversation", "`previous_response_id`"));
    }
    if field(body, "prompt")?.is_some() {
        return Err(ProviderError::asked("prompt", "`instructions` and `input`"));
    }
    if flag(body, "background")? {
        return Err(ProviderError::asked("background", "a request that waits for its answer"));
    }
    Ok(())
}

fn item(item: &Value, reader: &mut Reader) -> Result<(), ProviderError> {
    if !item.is_object() {
        return Err(unexpected("item", "an object", item));
    }
    match text(item, "type")?.unwrap_or("message") {
        "message" => message(item, reader),
        "function_call" => {
            let calls = calls(Format::OpenAiResponses, item)?;
            reader.more(ModelMessage { calls, ..ModelMessage::default() }, BETWEEN);
            Ok(())
        }
        "function_call_output" => {
            reader.results(openai_responses::parse_results(item)?);
            Ok(())
        }
        // Only whoever thought it can read it.
        "reasoning" => Ok(()),
        other => Err(ProviderError::NotTaken {
            what: "an item of type",
            kind: other.to_owned(),
            instead: "messages, function calls and their outputs",
        }),
    }
}

fn message(message: &Value, reader: &mut Reader) -> Result<(), ProviderError> {
    let role = super::role(message)?;
    let content = field(message, "content")?.map(blocks).transpose()?.unwrap_or_default();
    match role {
        "system" | "developer" => reader.system(joined(&content)),
        "user" => reader.user(content),
        "assistant" => reader.more(ModelMessage::text(joined(&content)), BETWEEN),
        other => {
            let instead = "`system`, `developer`, `user` or `assistant`";
            let kind = other.to_owned();
            return Err(ProviderError::NotTaken { what: "the role", kind, instead });
        }
    }
    Ok(())
}

fn joined(blocks: &[Block]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::Image { .. } => None,
    });
    texts.collect()
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
        "input_text" | "output_text" | "text" => {
            let text = text(part, "text")?;
            let text = text.ok_or(ProviderError::Missing { at: "a text", field: "text" })?;
            Ok(Block::Text(text.to_owned()))
        }
        "refusal" => Ok(Block::Text(text(part, "refusal")?.unwrap_or_default().to_owned())),
        "input_image" => {
            let url = text(part, "image_url")?;
            let missing = ProviderError::Missing { at: "an image", field: "image_url" };
            image::sent(url.ok_or(missing)?)
        }
        other => Err(ProviderError::content(other)),
    }
}

fn read_tools(body: &Value) -> Result<Vec<ToolInfo>, ProviderError> {
    let each = list(body, "tools")?.iter().enumerate();
    each.map(|(index, tool)| read_tool(tool).at("tools", index)).collect()
}

fn read_tool(tool: &Value) -> Result<ToolInfo, ProviderError> {
    match text(tool, "type")?.unwrap_or("function") {
        "function" => tools::function(tool, &["parameters"]),
        other => Err(ProviderError::ForeignTool(other.to_owned())),
    }
}

fn options(body: &Value) -> Result<Options, ProviderError> {
    let parallel = field(body, "parallel_tool_calls")?.is_some_and(|parallel| *parallel == false);
    let reasoning = field(body, "reasoning")?.unwrap_or(&Value::Null);
    let form = field(body, "text")?.unwrap_or(&Value::Null);
    let form = field(form, "format")?.map(openai::shape).transpose()?;
    let choice = field(body, "tool_choice")?.map(openai::choice).transpose()?;
    Ok(Options {
        max_tokens: count(body, "max_output_tokens")?,
        temperature: number(body, "temperature")?,
        top_p: number(body, "top_p")?,
        stop: Vec::new(),
        tool_choice: choice.unwrap_or_default(),
        parallel: if parallel { Parallel::No } else { Parallel::Yes },
        effort: text(reasoning, "effort")?.and_then(Effort::named),
        shape: form.unwrap_or_default(),
    })
}
