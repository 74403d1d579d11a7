//! Images on the wire.

use base64::{Engine, engine::general_purpose::STANDARD};
use tool::Block;

use crate::ProviderError;

/// What models of `OpenAI` and Anthropic can look at.
pub(crate) const COMMON: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

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

/// The blocks, where an image the model cannot look at is a line that says so.
pub(crate) fn visible<'a>(
    blocks: &'a [Block],
    mimes: &'static [&'static str],
) -> impl Iterator<Item = Seen<'a>> {
    blocks.iter().map(move |block| match block {
        Block::Text(text) => Seen::Text(text.as_str().into()),
        Block::Image { mime, data } if mimes.contains(&mime.as_str()) => Seen::Image { mime, data },
        Block::Image { mime, data } => Seen::Text(
            format!("[{mime} of {} bytes, which this model cannot look at]", data.len()).into(),
        ),
    })
}

/// A block as a model can see it.
pub(crate) enum Seen<'a> {
    Text(std::borrow::Cow<'a, str>),
    Image { mime: &'a str, data: &'a [u8] },
}
