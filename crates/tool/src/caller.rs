//! Who asks.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the person behind a call owns this Toolgate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whoever owns the data folder.
    Owner,
    /// Anybody else.
    Member,
}

/// Who asks. Comes from authentication, never from arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Caller {
    /// The person or account behind the agent.
    pub user: Arc<str>,
    /// The agent that makes the call.
    pub agent: Arc<str>,
    /// The conversation it belongs to.
    pub session: Arc<str>,
    /// Who wrote the message that led to the call, where that is somebody else than the user.
    pub sender: Option<Arc<str>>,
    /// The channel the message came by.
    pub channel: Option<Arc<str>>,
    /// The surface the call came through (`http`, `mcp`), where `channel` names a chat service behind it. Rules about
    /// either apply.
    #[serde(default)]
    pub surface: Option<Arc<str>>,
    /// The model provider.
    pub provider: Option<Arc<str>>,
    /// The model, as its provider calls it.
    #[serde(default)]
    pub model: Option<Arc<str>>,
    /// What the user is here.
    pub role: Role,
    /// Whether the agent itself runs in a sandbox.
    pub confined: Confined,
    /// The agent that spawned this one, which therefore has at least its rights.
    pub parent: Option<Arc<Self>>,
    /// What whoever spawned it left to it.
    #[serde(default)]
    pub left: Option<Arc<Left>>,
}

/// Which tools an agent was left when another one spawned it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Left {
    /// Only these; absent is no opinion, empty is nothing.
    pub allow: Option<Vec<String>>,
    /// Never these.
    pub deny: Vec<String>,
}

/// Whether an agent itself runs in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confined {
    /// It does.
    Sandboxed,
    /// It does not.
    Free,
}

impl Caller {
    /// The owner, through `agent`, in the session `main`.
    pub fn owner(agent: &str) -> Self {
        Self {
            user: "owner".into(),
            agent: agent.into(),
            session: "main".into(),
            sender: None,
            channel: None,
            surface: None,
            provider: None,
            model: None,
            role: Role::Owner,
            confined: Confined::Free,
            parent: None,
            left: None,
        }
    }

    /// Itself, whoever spawned it, and so on up.
    pub fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |caller| caller.parent.as_deref())
    }

    /// Itself and those above it, each agent once.
    pub fn agents(&self) -> impl Iterator<Item = &Self> {
        self.chain().enumerate().filter_map(|(at, caller)| {
            let before = self.chain().take(at).any(|nearer| nearer.agent == caller.agent);
            (!before).then_some(caller)
        })
    }

    /// The agent in whose workspace it works: a child works where its parent does.
    pub fn home(&self) -> &Arc<str> {
        self.chain().last().map_or(&self.agent, |top| &top.agent)
    }

    /// The same without models, in it and above it: a session may change its model, and stays who it is.
    #[must_use]
    pub fn without_models(&self) -> Self {
        let parent = self.parent.as_ref().map(|parent| Arc::new(parent.without_models()));
        Self { model: None, parent, ..self.clone() }
    }

    /// Who wrote the message that led to the call: the sender, or the user where nobody else is named.
    pub fn sender_or_user(&self) -> &Arc<str> {
        self.sender.as_ref().unwrap_or(&self.user)
    }

    /// How many agents are above this one.
    pub fn depth(&self) -> usize {
        self.chain().count() - 1
    }

    /// Whether the message came from the owner: the one thing owner-only tools ask.
    pub fn is_owner(&self) -> bool {
        self.role == Role::Owner && self.sender.as_ref().is_none_or(|sender| *sender == self.user)
    }

    /// Another user, through `agent`, in the session `main`.
    pub fn member(user: &str, agent: &str) -> Self {
        Self { user: user.into(), role: Role::Member, ..Self::owner(agent) }
    }
}
