//! Requests of clients, who take us for their provider.

mod anthropic;
mod gemini;
mod openai;
mod openai_responses;
mod reader;
mod tools;

use serde_json::Value;
use tool::ToolInfo;

use crate::{
    Format, Message, Options, ProviderError,
    json::{count, field, flag, list, text, unexpected},
};

/// What a client asks for.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The model, which is an agent of ours. Empty for Gemini, where it is part of the path.
    pub model: String,
    /// What the client tells the model before anything else.
    pub system: Option<String>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The client's own tools.
    pub tools: Vec<ToolInfo>,
    /// What else is asked of the model.
    pub options: Options,
    /// Whether the answer is sent as it grows. Gemini says it in the path.
    pub stream: Stream,
    /// Whether a streamed answer says what it cost.
    pub include_usage: IncludeUsage,
    /// The response this one goes on from.
    pub previous: Option<String>,
}

/// Whether an answer is sent as it grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stream {
    Yes,
    #[default]
    No,
}

/// Whether a streamed answer says what it cost. Only chat completions leave that to the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum IncludeUsage {
    #[default]
    Yes,
    No,
}

/// Reads the body of a request. Fields we do not know are passed over, because clients send new ones
/// all the time; what asks for something we do not do is refused.
pub fn parse_request(format: Format, body: &Value) -> Result<ChatRequest, ProviderError> {
    if !body.is_object() {
        return Err(unexpected("request", "an object", body));
    }
    match format {
        Format::OpenAi => openai::read(body),
        Format::OpenAiResponses => openai_responses::read(body),
        Format::Anthropic => anthropic::read(body),
        Format::Gemini => gemini::read(body),
        Format::Mcp => Err(ProviderError::NoConversation),
    }
}

fn model(body: &Value) -> Result<String, ProviderError> {
    let model = text(body, "model")?.filter(|model| !model.trim().is_empty());
    let missing = ProviderError::Missing { at: "the request", field: "model" };
    model.map(str::to_owned).ok_or(missing)
}

/// The field with the conversation.
fn conversation<'a>(body: &'a Value, name: &'static str) -> Result<&'a Value, ProviderError> {
    field(body, name)?.ok_or(ProviderError::Missing { at: "the request", field: name })
}

/// The messages in it, if it is a list.
fn messages<'a>(body: &'a Value, name: &'static str) -> Result<&'a [Value], ProviderError> {
    conversation(body, name)?;
    list(body, name)
}

fn role(message: &Value) -> Result<&str, ProviderError> {
    text(message, "role")?.ok_or(ProviderError::Missing { at: "a message", field: "role" })
}

fn stream(body: &Value) -> Result<Stream, ProviderError> {
    Ok(if flag(body, "stream")? { Stream::Yes } else { Stream::No })
}

/// A field with the number of answers.
fn one_answer(at: &Value, field: &'static str) -> Result<(), ProviderError> {
    match count(at, field)? {
        None | Some(1) => Ok(()),
        Some(count) => Err(ProviderError::ManyAnswers { field, count }),
    }
}
