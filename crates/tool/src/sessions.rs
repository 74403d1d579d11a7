//! Conversations of agents, as tools see them.

use std::{fmt, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BoxFuture, Caller, Need, ToolError, own_data::Desk};

/// What a plan says when sessions are looked at.
const LOOKS: &str = "sessions";

/// Which sessions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// `chat`, `request`, `child`; empty is all.
    pub kinds: Vec<String>,
    /// At most so many.
    pub limit: usize,
    /// Only those that did something within this time.
    pub active: Option<Duration>,
    /// So many of the last messages of each.
    pub messages: usize,
    /// Only the one with this label.
    pub label: Option<String>,
    /// Only those of this agent.
    pub agent: Option<String>,
    /// Only those whose name or label contains this.
    pub search: Option<String>,
}

/// What is known about a session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// Names it: `agent:AGENT:NAME`.
    pub session_key: String,
    /// `chat`, `request` or `child`.
    pub kind: String,
    /// `idle`, `running`, `waiting`, `interrupted` or `ended`.
    pub state: String,
    /// The agent whose conversation it is.
    pub agent_id: String,
    /// What somebody called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The model it uses, if one was chosen for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What somebody noted about it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// How many messages it has.
    pub messages: u64,
    /// Tokens sent to models.
    pub input_tokens: u64,
    /// Tokens that models said.
    pub output_tokens: u64,
    /// What it cost, in US dollars, as far as prices are known.
    pub cost: f64,
    /// How many tools it called.
    pub calls: u64,
    /// Questions that wait for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals_waiting: Option<u64>,
    /// When it began.
    pub created_at: String,
    /// When it last did something.
    pub active_at: String,
    /// The last messages, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_messages: Vec<MessageInfo>,
    /// The untrusted content that may stand in them.
    #[serde(skip)]
    pub untrusted: Option<String>,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageInfo {
    /// Its UUID, which calls that it asks for have as their `message_id`.
    pub id: String,
    /// `user`, `assistant`, `tool` or `summary`.
    pub role: String,
    /// What it says, secrets taken out, long ones cut.
    pub text: String,
    /// When it was said.
    pub at: String,
    /// The tools it calls, if they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<MessageCall>,
    /// The call whose result it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// A call that a message asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageCall {
    /// Our own id of it; missing if it is not recorded, as calls of tools of the client are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool, as the model named it.
    pub tool: String,
    /// The arguments as JSON text, long ones cut.
    pub arguments: String,
    /// What became of it: `success`, `error`, `running`, ….
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Whom a message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Addressee {
    /// The session with this key.
    Key(String),
    /// The session with this label, of this agent or one's own.
    Label(String, Option<String>),
}

/// A message from one session to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendMessage {
    /// Whom it is for.
    pub to: Addressee,
    /// What it says.
    pub text: String,
    /// How long to wait for the answer; nothing is not at all.
    pub wait: Duration,
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// Names what it set off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What became of it.
    pub status: SendStatus,
    /// The session it went to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// The answer, if there was one in time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Why it did not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Untrusted content that the session which answered had read.
    #[serde(skip)]
    pub untrusted: Option<String>,
}

/// What can become of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SendStatus {
    /// It was answered.
    Ok,
    /// It will be read.
    Accepted,
    /// Nobody answered in time; it goes on.
    Timeout,
    /// It failed.
    Error,
    /// It may not be.
    Forbidden,
}

/// What a new agent begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpawnContext {
    /// Its task alone.
    #[default]
    Isolated,
    /// What its parent has read and said so far.
    Fork,
}

/// What becomes of the session of an agent that is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cleanup {
    /// It is removed.
    Delete,
    /// It stays.
    #[default]
    Keep,
}

/// An agent that is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    /// What it is to do.
    pub task: String,
    /// What to call it.
    pub label: Option<String>,
    /// Which agent; by default the same.
    pub agent: Option<String>,
    /// Its model; by default the agent's.
    pub model: Option<String>,
    /// What it begins with.
    pub context: SpawnContext,
    /// Only these tools.
    pub allow: Option<Vec<String>>,
    /// Never these tools.
    pub deny: Vec<String>,
    /// What becomes of it.
    pub cleanup: Cleanup,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// What became of the wish to start an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spawned {
    /// `accepted`. A call that may not start the agent is an error.
    pub status: SendStatus,
    /// The session of the new agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child_session_key: Option<String>,
    /// Names what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Why it did not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An agent that may be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its id.
    pub agent_id: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its model, if one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// What is to be different about a session; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionSettings {
    /// The model it uses from now on: `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What to call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What to note about it, as an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Map<String, Value>>,
}

/// Whether what tools were called and what they said is wanted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithTools {
    /// It is.
    Yes,
    /// It is not.
    No,
}

/// Keeps conversations. Each function looks for itself whether `caller` may.
pub trait Sessions: fmt::Debug + Send + Sync {
    /// The sessions that `caller` may see, newest first.
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        query: SessionQuery,
    ) -> BoxFuture<'a, Result<Vec<SessionInfo>, ToolError>>;

    /// The last messages of a session, oldest first, and what untrusted content it has read.
    fn history<'a>(
        &'a self,
        caller: &'a Caller,
        key: &'a str,
        limit: usize,
        tools: WithTools,
    ) -> BoxFuture<'a, Result<History, ToolError>>;

    /// Says something in another session.
    fn send<'a>(
        &'a self,
        caller: &'a Caller,
        message: SendMessage,
    ) -> BoxFuture<'a, Result<Sent, ToolError>>;

    /// Starts an agent below `caller`.
    fn spawn<'a>(
        &'a self,
        caller: &'a Caller,
        spawn: Spawn,
    ) -> BoxFuture<'a, Result<Spawned, ToolError>>;

    /// The agents below `caller`, each after the one that started it.
    fn children<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<SessionInfo>, ToolError>>;

    /// Ends an agent below `caller`, with those below it, and gives their keys.
    fn kill<'a>(
        &'a self,
        caller: &'a Caller,
        target: &'a str,
    ) -> BoxFuture<'a, Result<Vec<String>, ToolError>>;

    /// Tells an agent below `caller` something while it works.
    fn steer<'a>(
        &'a self,
        caller: &'a Caller,
        target: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<Sent, ToolError>>;

    /// What is known about one session; by default `caller`'s own.
    fn status<'a>(
        &'a self,
        caller: &'a Caller,
        key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<SessionInfo, ToolError>>;

    /// Changes what is known about a session; by default `caller`'s own.
    fn change<'a>(
        &'a self,
        caller: &'a Caller,
        key: Option<&'a str>,
        settings: SessionSettings,
    ) -> BoxFuture<'a, Result<SessionInfo, ToolError>>;

    /// The agents that `caller` may start.
    fn agents<'a>(&'a self, caller: &'a Caller)
    -> BoxFuture<'a, Result<Vec<AgentInfo>, ToolError>>;
}

/// What was said in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Oldest first.
    pub messages: Vec<MessageInfo>,
    /// Where untrusted content in it comes from.
    pub untrusted: Option<String>,
}

/// The conversations a call may look at and change, as it planned.
#[derive(Debug)]
pub struct Conversations {
    pub(crate) desk: Desk,
    pub(crate) sessions: Option<Arc<dyn Sessions>>,
}

impl Conversations {
    /// What a call must plan to look at sessions.
    pub fn look() -> Need {
        Need::Recall(LOOKS.to_owned())
    }

    /// The sessions, to be looked at.
    pub fn reading(self) -> Result<Arc<dyn Sessions>, ToolError> {
        self.changing(&Self::look())
    }

    /// The sessions, to be changed as `planned`.
    pub fn changing(self, planned: &Need) -> Result<Arc<dyn Sessions>, ToolError> {
        self.desk.plan.require(planned)?;
        self.desk.live.check()?;
        self.sessions.ok_or_else(|| ToolError::failed("no conversations are kept here"))
    }
}
