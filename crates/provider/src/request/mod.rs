//! Requests to a model.

use crate::{DefinitionList, Message, Options};

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
