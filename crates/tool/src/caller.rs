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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
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
    /// The model provider.
    pub provider: Option<Arc<str>>,
    /// What the user is here.
    pub role: Role,
    /// Whether the agent itself runs in a sandbox.
    pub confined: Confined,
    /// The agent that spawned this one, which therefore has at least its rights.
    pub parent: Option<Arc<Self>>,
}

/// Whether an agent itself runs in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
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
            provider: None,
            role: Role::Owner,
            confined: Confined::Free,
            parent: None,
        }
    }

    /// How many agents are above this one.
    pub fn depth(&self) -> usize {
        std::iter::successors(self.parent.as_ref(), |caller| caller.parent.as_ref()).count()
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
