//! Results, as every provider means them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{Block, Outcome};

use crate::{
    Format, ProviderError, WireCall, anthropic, gemini, image::Seen, mcp, openai, openai_responses,
    stored,
};

/// What a model is told about a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireResult {
    /// The id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool, as the provider calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What the model sees; for an error `error_type: message`.
    #[serde(with = "stored::blocks")]
    pub blocks: Vec<Block>,
    /// The same for programs, if it is structured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
}

impl WireResult {
    /// What a model may know of an outcome: never `meta` or `details`.
    pub fn new(call: &WireCall, outcome: &Outcome) -> Self {
        Self::bounded(call, outcome, usize::MAX)
    }

    /// Without the structured value if the text has more bytes than this: a copy of it is dear.
    fn bounded(call: &WireCall, outcome: &Outcome, max_bytes: usize) -> Self {
        let (blocks, structured, is_error) = match outcome {
            Outcome::Success { result, meta: _, blocks, transcript: _ } => {
                (blocks.clone(), Some(result).filter(|result| !result.is_string()), false)
            }
            Outcome::Error { error_type, message, blocks, .. } => {
                let said = failed(error_type, message);
                (std::iter::once(said).chain(blocks.iter().cloned()).collect(), None, true)
            }
        };
        let length = |block: &Block| match block {
            Block::Text(text) => text.len(),
            Block::Image { .. } => 0,
        };
        let fits = blocks.iter().map(length).sum::<usize>() <= max_bytes;
        let structured = structured.filter(|_| fits).cloned();
        let name = Some(call.name.clone());
        Self { id: call.id.clone(), name, blocks, structured, is_error }
    }

    /// All text, joined.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Image { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What names the call in a format that must name it.
    pub(crate) fn key(&self) -> &str {
        self.id.as_deref().or(self.name.as_deref()).unwrap_or_default()
    }
}

pub(crate) fn failed(error_type: &str, message: &str) -> Block {
    Block::Text(format!("{error_type}: {message}"))
}

/// The results of one turn, in the order of its calls, as the next request has them.
///
/// `OpenAI` chat: a list of messages. `OpenAI` responses: a list of input items. Anthropic and Gemini:
/// one message. MCP: the result, or a list if there is not exactly one.
pub fn results(format: Format, answers: &[(&WireCall, &Outcome)]) -> Value {
    let max_bytes = match format {
        Format::Mcp => return mcp::answers(answers),
        Format::Gemini => gemini::COMPARED_BYTES,
        // These have no place for it.
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic => 0,
    };
    let results =
        answers.iter().map(|(call, outcome)| WireResult::bounded(call, outcome, max_bytes));
    write(format, results.collect())
}

/// As [`results`], for results that were read in another format or come from elsewhere.
pub fn write_results(format: Format, results: &[WireResult]) -> Value {
    write(format, results.to_vec())
}

fn write(format: Format, results: Vec<WireResult>) -> Value {
    match format {
        Format::OpenAi => openai::results(&results),
        Format::OpenAiResponses => openai_responses::results(&results),
        Format::Anthropic => anthropic::results(&results),
        Format::Gemini => gemini::results(results),
        Format::Mcp => mcp::results(results),
    }
}

/// The results in what a client or a server sent: what [`results`] writes, one of its parts, or a
/// list of messages. What is not a result is passed over.
pub fn parse_results(format: Format, message: &Value) -> Result<Vec<WireResult>, ProviderError> {
    match format {
        Format::OpenAi => openai::parse_results(message),
        Format::OpenAiResponses => openai_responses::parse_results(message),
        Format::Anthropic => anthropic::parse_results(message),
        Format::Gemini => gemini::parse_results(message),
        Format::Mcp => mcp::parse_results(message),
    }
}

/// How `OpenAI`'s formats, which have no field for it, say that a call failed.
const FAILED: &str = "error: ";

/// Text that says by itself whether the call failed.
pub(crate) fn flagged_text(result: &WireResult, blocks: &[Seen<'_>]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        Seen::Text(text) => Some(&**text),
        Seen::Image { .. } => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if result.is_error { format!("{FAILED}{text}") } else { text }
}

/// The result that [`flagged_text`] was made of.
pub(crate) fn from_flagged(id: Option<String>, mut blocks: Vec<Block>) -> WireResult {
    let mut is_error = false;
    if let Some(Block::Text(text)) = blocks.first_mut()
        && let Some(message) = text.strip_prefix(FAILED).filter(|rest| names_an_error(rest))
    {
        is_error = true;
        *text = message.to_owned();
    }
    WireResult { id, name: None, blocks, structured: None, is_error }
}

/// `file_not_found: …`; a tool's own text that happens to begin with `error:` is not ours.
fn names_an_error(text: &str) -> bool {
    let word = text.split_once(": ").map_or("", |(word, _)| word);
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
