//! Conversations, as every provider means them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::Block;

use crate::{Assembled, Format, WireCall, WireResult, stored};

/// One message of a conversation. Its JSON is ours and stays as it is: conversations are stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// What a person, or a program in their place, said.
    User(#[serde(with = "stored::blocks")] Vec<Block>),
    /// What the model said.
    Model(ModelMessage),
    /// What came of the calls in the message before.
    Results(Vec<WireResult>),
}

/// What a model said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What it asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<WireCall>,
    /// The message as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
}

/// A message with what only its own provider understands: thoughts, signatures. It is repeated as
/// it was to the same provider in the same format, and to nobody else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// The provider's name.
    pub provider: String,
    /// The format it was in.
    #[serde(with = "stored::format")]
    pub format: Format,
    /// What [`Assembled::message`] is.
    pub message: Value,
}

impl Message {
    /// Plain text of a user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Block::Text(text.into())])
    }
}

impl ModelMessage {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer of `provider`, ready to be repeated to it.
    pub fn new(provider: &str, format: Format, answer: Assembled) -> Self {
        let Assembled { text, calls, finish: _, usage: _, message } = answer;
        Self { text, calls, raw: Some(Raw { provider: provider.to_owned(), format, message }) }
    }

    /// The message as `provider` itself said it, if it did.
    pub(crate) fn own(&self, provider: &str, format: Format) -> Option<&Value> {
        let own = |raw: &&Raw| raw.provider == provider && raw.format == format;
        self.raw.as_ref().filter(own).map(|raw| &raw.message)
    }
}
