//! What a tool returns.

mod fence;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{ArtifactRef, CallId};

/// A piece of what a model gets to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Such as `image/png`.
        mime: String,
        /// The encoded image.
        data: Vec<u8>,
    },
}

/// What running cost, as far as the tool knows; added to the outcome's `meta`.
pub type Usage = Map<String, Value>;

/// What a tool returns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// For the model.
    pub blocks: Vec<Block>,
    /// For programs; the text is then the same value.
    pub value: Option<Value>,
    /// Large things the call left behind.
    pub artifacts: Vec<ArtifactRef>,
    /// What it cost.
    pub usage: Usage,
    /// What a transcript keeps instead of `blocks`, if a hook said so.
    pub transcript: Option<Vec<Block>>,
    /// Where the content comes from, if nobody vouches for it.
    pub untrusted: Option<String>,
    /// Who answered in the tool's place: `hook:NAME` or `cache`.
    pub answered_by: Option<String>,
}

impl ToolOutput {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![Block::Text(text.into())], ..Self::default() }
    }

    /// A structured value. The model gets the same JSON as text.
    pub fn json(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => Self { value: Some(value), ..Self::default() },
            Err(error) => Self::text(format!("the result cannot be written as JSON: {error}")),
        }
    }

    /// A structured value with a better text for the model than its JSON.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.blocks.insert(0, Block::Text(text.into()));
        self
    }

    /// An image after what is there.
    #[must_use]
    pub fn with_image(mut self, mime: impl Into<String>, data: Vec<u8>) -> Self {
        self.blocks.push(Block::Image { mime: mime.into(), data });
        self
    }

    /// Text from `source`, which nobody vouches for, fenced so that a model does not take it for instructions. The
    /// marks carry what is random in the id of `call`, so that the text cannot have them in it.
    pub fn fenced(call: CallId, source: &str, text: &str) -> String {
        fence::around(call, source, text)
    }

    /// What the marks carry, if `text` begins with one of [`ToolOutput::fenced`].
    pub fn fence_id(text: &str) -> Option<&str> {
        fence::id(text)
    }

    /// All text for the model, joined.
    pub fn joined_text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    /// How long [`ToolOutput::joined_text`] is.
    pub fn text_bytes(&self) -> usize {
        let (count, bytes) =
            self.texts().fold((0, 0), |(n, bytes), text| (n + 1, bytes + text.len()));
        bytes + usize::saturating_sub(count, 1)
    }

    /// The same as [`ToolOutput::joined_text`], taken out: there may be megabytes of it.
    pub fn take_text(&mut self) -> String {
        let (texts, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.blocks)
            .into_iter()
            .partition(|block| matches!(block, Block::Text(_)));
        self.blocks = others;
        let mut all = String::new();
        for (number, block) in texts.into_iter().enumerate() {
            let Block::Text(text) = block else { continue };
            if number == 0 {
                all = text;
            } else {
                all.push('\n');
                all.push_str(&text);
            }
        }
        all
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Image { .. } => None,
        })
    }
}
