//! Whose things somebody sees.

use std::sync::Arc;

/// Whose things somebody sees, and may stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sees {
    /// Everybody's.
    Everything,
    /// Those of one user; with a list, only what these agents do for them.
    Of { user: Arc<str>, agents: Option<Vec<String>> },
}

impl Sees {
    /// Whether something of this user and agent is among it.
    pub(crate) fn covers(&self, user: &str, agent: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Of { user: own, agents } => {
                let named = |agents: &Vec<String>| agents.iter().any(|named| named == agent);
                **own == *user && agents.as_ref().is_none_or(named)
            }
        }
    }

    /// The one user it is limited to.
    pub(crate) fn user(&self) -> Option<&str> {
        match self {
            Self::Everything => None,
            Self::Of { user, .. } => Some(user),
        }
    }

    /// The agents it is limited to.
    pub(crate) fn agents(&self) -> Option<&[String]> {
        match self {
            Self::Everything => None,
            Self::Of { agents, .. } => agents.as_deref(),
        }
    }
}
