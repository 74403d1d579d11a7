//! What is known about a session, and what is said in it.

use std::{fmt, time::SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::time::shown;

/// Names a session: of one user, with one agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    /// Whose it is.
    pub user: String,
    /// With which agent.
    pub agent: String,
    /// Tells it from the others of the two.
    pub name: String,
}

impl SessionKey {
    /// The session `name` of `user` with `agent`.
    pub fn new(user: &str, agent: &str, name: &str) -> Self {
        Self { user: user.to_owned(), agent: agent.to_owned(), name: name.to_owned() }
    }

    /// What `Display` wrote, for a session of `user`: a model names no other user.
    pub fn parse(user: &str, text: &str) -> Result<Self, String> {
        let parts = text.trim().strip_prefix("agent:").and_then(|rest| rest.split_once(':'));
        match parts {
            Some((agent, name)) if !agent.is_empty() && !name.is_empty() => {
                Ok(Self::new(user, agent, name))
            }
            _ => Err(format!("`{text}` is not a session; write `agent:AGENT:NAME`")),
        }
    }
}

/// As models see it: `agent:AGENT:NAME`.
impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "agent:{}:{}", self.agent, self.name)
    }
}

/// Where a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A conversation that goes on.
    Chat,
    /// One request that named no session.
    Request,
    /// Spawned by another session.
    Child,
}

impl SessionKind {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Request => "request",
            Self::Child => "child",
        }
    }
}

impl fmt::Display for SessionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a session does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Waits for a message.
    Idle,
    /// The model or its tools are at work.
    Running,
    /// Waits for a person or for another session.
    Waiting,
    /// Its process died, or it was stopped half way.
    Interrupted,
    /// Takes no more messages.
    Ended,
}

impl SessionState {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Interrupted => "interrupted",
            Self::Ended => "ended",
        }
    }
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One conversation of an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Session {
    /// Its name.
    pub key: SessionKey,
    /// Where it comes from.
    pub kind: SessionKind,
    /// What it does now.
    pub state: SessionState,
    /// The session that spawned it.
    pub parent: Option<SessionKey>,
    /// What people call it.
    pub label: Option<String>,
    /// The model it uses instead of the agent's.
    pub model: Option<String>,
    /// Whatever clients keep with it.
    pub metadata: Value,
    /// What a child may. Nothing the store understands.
    pub rights: Value,
    /// What it is doing now, so that a restart can go on. Nothing the store understands.
    pub run: Option<Value>,
    /// The first message that still goes to the model; the older ones were compacted.
    pub context_from: u64,
    /// Tokens its models read.
    pub input_tokens: u64,
    /// Tokens its models wrote.
    pub output_tokens: u64,
    /// What they cost, in millionths.
    pub cost_micros: u64,
    /// Calls of tools.
    pub calls: u64,
    /// When it was made.
    #[serde(serialize_with = "shown")]
    pub created_at: SystemTime,
    /// When something last happened in it.
    #[serde(serialize_with = "shown")]
    pub active_at: SystemTime,
    /// How many messages it has; the next one gets this number.
    pub messages: u64,
}

/// A session that may have to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its name.
    pub key: SessionKey,
    /// Where it comes from.
    pub kind: SessionKind,
    /// The session that spawned it.
    pub parent: Option<SessionKey>,
    /// What people call it.
    pub label: Option<String>,
    /// The model it uses instead of the agent's.
    pub model: Option<String>,
    /// Whatever clients keep with it.
    pub metadata: Value,
    /// What a child may.
    pub rights: Value,
}

impl NewSession {
    /// One with nothing but a name.
    pub const fn new(key: SessionKey, kind: SessionKind) -> Self {
        let (metadata, rights) = (Value::Null, Value::Null);
        Self { key, kind, parent: None, label: None, model: None, metadata, rights }
    }
}

/// What is to change about a session; what is not given stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionChange {
    /// What it does now.
    pub state: Option<SessionState>,
    /// What people call it; an empty one takes the label away.
    pub label: Option<String>,
    /// The model it uses; an empty one means the agent's.
    pub model: Option<String>,
    /// Whatever clients keep with it.
    pub metadata: Option<Value>,
    /// What a child may.
    pub rights: Option<Value>,
    /// What it is doing now; `null` means nothing.
    pub run: Option<Value>,
    /// The first message that still goes to the model.
    pub context_from: Option<u64>,
}

/// What is added to the account of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens its models read.
    pub input_tokens: u64,
    /// Tokens they wrote.
    pub output_tokens: u64,
    /// What they cost, in millionths.
    pub cost_micros: u64,
    /// Calls of tools.
    pub calls: u64,
}

/// Which sessions are wanted. Empty lists and what is not given leave nothing out.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Of this user.
    pub user: Option<String>,
    /// With one of these agents.
    pub agents: Vec<String>,
    /// Of one of these kinds.
    pub kinds: Vec<SessionKind>,
    /// In one of these states.
    pub states: Vec<SessionState>,
    /// In which something happened since.
    pub active_since: Option<SystemTime>,
    /// With exactly this label.
    pub label: Option<String>,
    /// With this somewhere in name or label.
    pub search: Option<String>,
    /// Spawned by this session.
    pub parent: Option<SessionKey>,
    /// After this one in the list: the last of the page before.
    pub before: Option<SessionCursor>,
    /// At most so many.
    pub limit: u32,
}

/// A place in the list of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCursor {
    /// When something last happened in the session there.
    pub active_at: SystemTime,
    /// Its name.
    pub key: SessionKey,
}

impl From<&Session> for SessionCursor {
    fn from(session: &Session) -> Self {
        Self { active_at: session.active_at, key: session.key.clone() }
    }
}

/// Who or what a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The user, or whoever speaks to the agent.
    User,
    /// The model: text, and the calls it asks for.
    Model,
    /// What came of the calls.
    Results,
    /// Stands for older messages.
    Summary,
    /// For people; models do not see it.
    Note,
}

impl MessageRole {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Results => "results",
            Self::Summary => "summary",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for MessageRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Its place in the session: from 0, one by one.
    pub number: u64,
    /// Who or what it is from.
    pub role: MessageRole,
    /// What it says. Nothing the store understands.
    pub content: Value,
    /// When it was added.
    #[serde(serialize_with = "shown")]
    pub at: SystemTime,
}

/// A message that is to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// Who or what it is from.
    pub role: MessageRole,
    /// What it says.
    pub content: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_is_shown() {
        for (agent, name) in [("main", "main"), ("main", "a:b"), ("ärger", "x y")] {
            let key = SessionKey::new("ada", agent, name);
            assert_eq!(SessionKey::parse("ada", &key.to_string()), Ok(key));
        }
    }

    #[test]
    fn what_is_no_key_says_how_to_write_one() {
        for text in ["", "main", "agent:main", "agent::x", "agent:main:", "user:ada:main"] {
            let error = SessionKey::parse("ada", text).unwrap_err();
            assert_eq!(error, format!("`{text}` is not a session; write `agent:AGENT:NAME`"));
        }
    }
}
