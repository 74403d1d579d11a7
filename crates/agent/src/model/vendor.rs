//! What differs from format to format, in one place: where a request goes and how errors are worded.

use provider::Format;

use super::{anthropic, endpoint::Reach, gemini, openai};

/// What one format has of its own.
pub(super) struct Vendor {
    /// What follows the base URL, for a model.
    pub(super) path: fn(&str) -> String,
    /// The header that carries the key, and what it looks like there.
    pub(super) auth: fn(&str) -> (&'static str, String),
    /// Headers that every request has.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// Words, in lower case, by which an error says that the conversation is too long.
    pub(super) too_long: &'static [&'static str],
    /// Words by which it says that the key is wrong, where the status does not.
    pub(super) bad_key: &'static [&'static str],
}

/// What is particular about a format. MCP is for tools, and no provider speaks it.
pub(super) const fn vendor(format: Format) -> &'static Vendor {
    match format {
        Format::OpenAi | Format::Mcp => &openai::CHAT,
        Format::OpenAiResponses => &openai::RESPONSES,
        Format::Anthropic => &anthropic::MESSAGES,
        Format::Gemini => &gemini::GENERATE,
    }
}

/// Where a request for `model` goes. A base URL that has the first part of the path already is one that
/// people write.
pub(super) fn url(reach: &Reach, model: &str) -> String {
    let path = (vendor(reach.format).path)(model);
    let first = path.split('/').nth(1).map(|first| format!("/{first}")).unwrap_or_default();
    let is_version = first.starts_with("/v1");
    let base = reach.base_url.strip_suffix(&first).filter(|_| is_version);
    format!("{}{path}", base.unwrap_or(&reach.base_url))
}
