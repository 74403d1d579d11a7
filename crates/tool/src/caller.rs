//! Who asks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Whether the person behind a call owns this Toolgate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
        }
    }

    /// Another user, through `agent`, in the session `main`.
    pub fn member(user: &str, agent: &str) -> Self {
        Self { user: user.into(), role: Role::Member, ..Self::owner(agent) }
    }
}
