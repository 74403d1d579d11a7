//! Requests of clients, who take us for their provider.

use tool::ToolInfo;

use crate::{Message, Options};

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
