//! Requests to a model.

mod anthropic;
mod body;
mod gemini;
mod openai;
mod openai_responses;
mod turns;

use std::borrow::Cow;

use serde_json::Value;

use crate::{DefinitionList, Format, Message, Options, ProviderError, names::wire_name};

/// What goes to a model.
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'a> {
    /// The provider's name, to know its own messages by.
    pub provider: &'a str,
    /// The model, as the provider calls it.
    pub model: &'a str,
    /// What it is told before anything else.
    pub system: Option<&'a str>,
    /// The conversation.
    pub messages: &'a [Message],
    /// The tools it may call, in the format of the request.
    pub tools: Option<&'a DefinitionList>,
    /// What else is asked of it.
    pub options: &'a Options,
}

/// The body of a request for a streamed answer. The same prompt gives the same bytes, and one that
/// goes on gives bytes that begin alike, so that the provider's cache is of use.
///
/// For Gemini the model is part of the path, and so is that the answer is streamed.
pub fn request(format: Format, prompt: &Prompt<'_>) -> Result<Value, ProviderError> {
    let turns = turns::turns(format, prompt);
    if turns.is_empty() {
        return Err(ProviderError::NothingSaid);
    }
    match format {
        Format::OpenAi => Ok(openai::body(prompt, &turns)),
        Format::OpenAiResponses => Ok(openai_responses::body(prompt, &turns)),
        Format::Anthropic => Ok(anthropic::body(prompt, &turns)),
        Format::Gemini => Ok(gemini::body(prompt, turns)),
        Format::Mcp => Err(ProviderError::NoConversation),
    }
}

impl<'a> Prompt<'a> {
    /// The definitions, if there are any; an empty list is refused.
    fn definitions(&self) -> Option<&'a Value> {
        self.tools.filter(|list| !list.is_empty()).map(|list| &list.value)
    }

    /// What the provider calls a tool.
    fn wire<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        self.tools.map_or_else(|| wire_name(name), |list| list.names.outward(name))
    }

    /// What it is told first, if it is anything.
    fn instructions(&self) -> Option<&'a str> {
        self.system.filter(|system| !system.trim().is_empty())
    }
}
