//! Images on the wire.

use base64::{Engine, engine::general_purpose::STANDARD};
use tool::Block;

use crate::ProviderError;

/// What models of `OpenAI` and Anthropic can look at.
pub(crate) const COMMON: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// How much of a URL is shown in a message.
const SHOWN_CHARS: usize = 100;

pub(crate) fn encode(data: &[u8]) -> String {
    STANDARD.encode(data)
}

/// `data:image/png;base64,…`
pub(crate) fn data_url(mime: &str, data: &[u8]) -> String {
    format!("data:{mime};base64,{}", encode(data))
}

/// An image from its base64 text.
pub(crate) fn decode(mime: &str, base64: &str) -> Result<Block, ProviderError> {
    let data = STANDARD.decode(base64.trim());
    let data = data.map_err(|error| {
        ProviderError::Base64(error.to_string().trim_end_matches('.').to_owned())
    })?;
    Ok(Block::Image { mime: mime.to_owned(), data })
}

/// An image from a `data:` URL; any other URL is told to the model as it is.
pub(crate) fn from_url(url: &str) -> Result<Block, ProviderError> {
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    parts.map_or_else(
        || Ok(Block::Text(format!("[image at {url}]"))),
        |(mime, base64)| decode(mime, base64),
    )
}

/// An image a client sent, as a `data:` URL; one that is elsewhere would have to be fetched.
pub(crate) fn sent(url: &str) -> Result<Block, ProviderError> {
    let parts = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    let Some((head, data)) = parts.filter(|(head, _)| head.ends_with(";base64")) else {
        return Err(ProviderError::RemoteImage(url.chars().take(SHOWN_CHARS).collect()));
    };
    inline(head.split(';').next().unwrap_or_default(), data)
}

/// An image a client sent in base64; other media are refused.
pub(crate) fn inline(mime: &str, data: &str) -> Result<Block, ProviderError> {
    if !mime.starts_with("image/") {
        return Err(ProviderError::content(mime));
    }
    decode(mime, data)
}

/// The blocks, where an image the model cannot look at is a line that says so.
pub(crate) fn visible<'a>(
    blocks: &'a [Block],
    mimes: &'static [&'static str],
) -> impl Iterator<Item = Seen<'a>> {
    blocks.iter().map(move |block| Seen::of(block, mimes))
}

/// A block as a model can see it.
pub(crate) enum Seen<'a> {
    Text(std::borrow::Cow<'a, str>),
    Image { mime: &'a str, data: &'a [u8] },
}

impl<'a> Seen<'a> {
    /// A block as a model sees it that can look at images of these types.
    pub(crate) fn of(block: &'a Block, mimes: &[&str]) -> Self {
        match block {
            Block::Text(text) => Self::Text(text.as_str().into()),
            Block::Image { mime, data } if mimes.contains(&mime.as_str()) => {
                Self::Image { mime, data }
            }
            Block::Image { mime, data } => Self::Text(
                format!("[{mime} of {} bytes, which this model cannot look at]", data.len()).into(),
            ),
        }
    }
}
