//! Why a run did not come to an answer.

use std::time::Duration;

use store::{SessionKey, StoreError};
use tool::{Caller, ToolError};

use crate::model::ModelError;

/// When an agent may try again for which there is no room: nobody knows when a conversation ends.
const LATER: Duration = Duration::from_secs(5);

/// Why a run did not come to an answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum AgentError {
    #[error("there is no agent `{id}`{hint}")]
    UnknownAgent { id: String, hint: String },
    #[error("`{name}` cannot be the name of a session: {problem}")]
    SessionName { name: String, problem: &'static str },
    #[error("there is no session `{0}`")]
    UnknownSession(String),
    #[error("{0}")]
    Invalid(String),
    #[error("session `{session}` has too much to do already; wait until it has answered")]
    Busy { session: SessionKey },
    #[error("{most} conversations of yours go on already, which is all you may have; wait for one")]
    TooMany { most: usize },
    #[error("session `{session}` is used by another process; end that one, or use another session")]
    Elsewhere { session: SessionKey },
    #[error("session `{session}` has ended; begin another one")]
    Ended { session: SessionKey },
    #[error("the run was stopped")]
    Cancelled,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Provider(#[from] provider::ProviderError),
    #[error("internal error; this is not your fault, and trying again may help")]
    Store(#[source] StoreError),
    #[error("internal error; this is not your fault, and trying again may help")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Tool(#[from] ToolError),
}

/// A session that somebody removed meanwhile is not our fault.
impl From<StoreError> for AgentError {
    fn from(error: StoreError) -> Self {
        if let StoreError::UnknownSession(key) = &error {
            return Self::UnknownSession(key.to_string());
        }
        Self::Store(error)
    }
}

/// For a tool that speaks to agents: what the model did wrong it is told, the rest is ours.
impl From<AgentError> for ToolError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Tool(error) => error,
            AgentError::TooMany { .. } => {
                Self::RateLimited { reason: error.to_string(), retry_after: LATER }
            }
            AgentError::Model(ModelError::Cancelled) | AgentError::Cancelled => Self::Cancelled,
            AgentError::UnknownAgent { .. }
            | AgentError::SessionName { .. }
            | AgentError::UnknownSession(_)
            | AgentError::Invalid(_)
            | AgentError::Busy { .. }
            | AgentError::Elsewhere { .. }
            | AgentError::Ended { .. }
            | AgentError::Model(_)
            | AgentError::Provider(_) => Self::failed(error.to_string()),
            AgentError::Store(_) | AgentError::Json(_) => Self::internal(error),
        }
    }
}

impl AgentError {
    /// What `caller` may know: who provides a model, and how, is the owner's business.
    pub fn shown_to(&self, caller: &Caller) -> String {
        if let Self::Model(error) = self
            && !caller.is_owner()
        {
            return error.for_anybody().to_owned();
        }
        self.to_string()
    }

    /// The stable type, and the HTTP status that goes with it.
    pub fn facts(&self) -> (&'static str, u16) {
        match self {
            Self::UnknownAgent { .. } | Self::UnknownSession(_) => ("not_found", 404),
            Self::SessionName { .. }
            | Self::Invalid(_)
            | Self::Ended { .. }
            | Self::Provider(_) => ("validation_error", 400),
            Self::Busy { .. } | Self::TooMany { .. } | Self::Elsewhere { .. } => {
                ("rate_limited", 429)
            }
            Self::Cancelled => ("cancelled", 499),
            Self::Model(error) => error.facts(),
            Self::Store(_) | Self::Json(_) => ("internal_error", 500),
            Self::Tool(error) => (error.kind(), error.http_status()),
        }
    }
}
