//! What a run is given, and what it gives back.

use provider::{CallNote, Finish, Message, Options, Usage, WireCall};
use store::SessionKey;
use tool::{Block, ToolInfo};

/// What somebody says to an agent.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// The conversation as whoever asks knows it. A session that has a transcript of its own takes
    /// from it what comes after the model's last words.
    pub messages: Vec<Message>,
    /// Instructions besides the agent's own.
    pub system: Option<String>,
    /// Tools whose calls come back to whoever asks.
    pub tools: Vec<ToolInfo>,
    /// How the model is to answer.
    pub options: Options,
    /// Another model than the session's or the agent's.
    pub model: Option<String>,
    /// What the run is to be called, if somebody must know beforehand.
    pub run: Option<String>,
}

impl Input {
    /// A message of the user.
    pub fn text(text: impl Into<String>) -> Self {
        let message = Message::User(vec![Block::Text(text.into())]);
        Self { messages: vec![message], ..Self::default() }
    }
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Names the run.
    pub run: String,
    /// The session it belongs to.
    pub session: SessionKey,
    /// `provider/model`.
    pub model: String,
    /// What the model said, in all rounds.
    pub text: String,
    /// The calls whoever asked must make, with their own tools.
    pub calls: Vec<WireCall>,
    /// Why it ended.
    pub finish: Finish,
    /// What it used, in all rounds.
    pub usage: Usage,
    /// The calls that ran here.
    pub tool_calls: Vec<CallNote>,
}
