//! Streamed answers, put together again.

mod anthropic;
mod frames;
mod gemini;
mod mcp;
mod openai;
mod openai_responses;
mod repeatable;
mod thoughts;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Format, ProviderError, WireCall, calls, json::field};
use frames::Frames;

/// Bytes of one answer, unless told otherwise.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// Calls, blocks or items of one answer.
pub(crate) const MAX_PARTS: usize = 4_096;

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// It said what it had to say.
    Stop,
    /// It waits for the results of its calls.
    Calls,
    /// It ran out of tokens; what it said may be cut.
    Length,
    /// The provider held something back.
    Filtered,
    /// Another reason, in the provider's words.
    Other(String),
}

/// What an answer cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// All that went in, from the cache or not.
    pub input: u64,
    /// All that came out, thoughts too.
    pub output: u64,
    /// What of the input was read from the provider's cache.
    #[serde(default)]
    pub cache_read: u64,
    /// What of the input was written to it.
    #[serde(default)]
    pub cache_write: u64,
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Assembled {
    /// What the model said.
    pub text: String,
    /// What it asked for.
    pub calls: Vec<WireCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// What it cost, if the provider said.
    pub usage: Option<Usage>,
    /// The answer as the next request must repeat it, with everything only the provider
    /// understands. `OpenAI` responses: the list of items.
    pub message: Value,
}

/// Puts an answer together from bytes cut anywhere: server-sent events, a list of JSON objects, or
/// one object.
pub struct Assembler {
    format: Format,
    frames: Frames,
    answer: Box<dyn Answer>,
    said: Said,
    left: usize,
    max_bytes: usize,
}

impl Assembler {
    /// For an answer in `format`.
    pub fn new(format: Format) -> Self {
        Self::with_limit(format, MAX_BYTES)
    }

    /// For an answer in `format` of at most so many bytes.
    pub fn with_limit(format: Format, max_bytes: usize) -> Self {
        let answer: Box<dyn Answer> = match format {
            Format::OpenAi => Box::<openai::Chat>::default(),
            Format::OpenAiResponses => Box::<openai_responses::Items>::default(),
            Format::Anthropic => Box::<anthropic::Blocks>::default(),
            Format::Gemini => Box::<gemini::Parts>::default(),
            Format::Mcp => Box::<mcp::Messages>::default(),
        };
        let (frames, said) = (Frames::default(), Said::default());
        Self { format, frames, answer, said, left: max_bytes, max_bytes }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        let too_large = ProviderError::TooLarge { max: self.max_bytes, what: "bytes" };
        self.left = self.left.checked_sub(bytes.len()).ok_or(too_large)?;
        self.frames.push(bytes);
        while let Some(data) = self.frames.next()? {
            self.event(&data)?;
        }
        Ok(())
    }

    /// What the model said so far.
    pub fn text(&self) -> &str {
        &self.said.text
    }

    /// The whole answer, or what is missing of it.
    pub fn finish(mut self) -> Result<Assembled, ProviderError> {
        while let Some(data) = self.frames.last()? {
            self.event(&data)?;
        }
        let Said { text, finish, usage } = self.said;
        let finish = finish.ok_or(ProviderError::Incomplete("nothing says why it stopped"))?;
        let mut message = self.answer.message(&text);
        repeatable::repair(self.format, &mut message);
        let calls = calls(self.format, &message)?;
        repeatable::make(self.format, &mut message, &calls);
        Ok(Assembled { text, calls, finish, usage, message })
    }

    fn event(&mut self, data: &str) -> Result<(), ProviderError> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = tool::parse_json(data).map_err(ProviderError::NotJson)?;
        if let Some(error) = event.get("error").filter(|error| !error.is_null())
            && self.format != Format::Mcp
        {
            return Err(remote(error));
        }
        self.answer.event(&event, &mut self.said)
    }
}

impl fmt::Debug for Assembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembler").field("format", &self.format).finish_non_exhaustive()
    }
}

/// An error in the provider's words.
fn remote(error: &Value) -> ProviderError {
    let message = error.get("message").and_then(Value::as_str);
    ProviderError::Remote(message.map_or_else(|| crate::json::as_text(error), str::to_owned))
}

/// What all formats say.
#[derive(Debug, Default)]
struct Said {
    text: String,
    finish: Option<Finish>,
    usage: Option<Usage>,
}

impl Said {
    /// Counts grow, and some formats send them in parts.
    fn count(&mut self, new: Usage) {
        if new == Usage::default() {
            return;
        }
        let old = self.usage.unwrap_or_default();
        self.usage = Some(Usage {
            input: new.input.max(old.input),
            output: new.output.max(old.output),
            cache_read: new.cache_read.max(old.cache_read),
            cache_write: new.cache_write.max(old.cache_write),
        });
    }
}

/// A count, where there may be none.
fn tokens(at: &Value, name: &str) -> Result<u64, ProviderError> {
    Ok(field(at, name)?.and_then(Value::as_u64).unwrap_or(0))
}

/// What a cost is broken down into.
fn details<'a>(at: &'a Value, name: &str) -> Result<&'a Value, ProviderError> {
    Ok(field(at, name)?.unwrap_or(&Value::Null))
}

/// An answer that grows event by event.
trait Answer: Send {
    /// Takes one event; one of an unknown type is passed over.
    fn event(&mut self, event: &Value, said: &mut Said) -> Result<(), ProviderError>;
    /// The whole message, which [`calls`] can read.
    fn message(self: Box<Self>, text: &str) -> Value;
}
