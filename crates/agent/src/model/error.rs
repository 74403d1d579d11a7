//! Why a model does not answer.

use std::time::Duration;

use provider::ProviderError;

/// Why a model does not answer. The message is for the operator and the owner: it says what the provider
/// said, without the key. [`ModelError::for_anybody`] is for everybody else.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ModelError {
    #[error("{0}")]
    Unknown(String),
    #[error("the provider `{provider}` cannot be used: {reason}")]
    Unusable { provider: String, reason: String },
    #[error("the conversation is too long for `{provider}/{model}`{said}")]
    ContextTooLong { provider: String, model: String, said: String },
    #[error("`{provider}` does not accept its key, which is {whence}{said}")]
    BadKey { provider: String, whence: String, said: String },
    #[error("`{provider}` has had too many requests{said}")]
    RateLimited { provider: String, retry_after: Option<Duration>, said: String },
    #[error("`{provider}` is in trouble ({status}){said}")]
    Overloaded { provider: String, status: u16, said: String },
    #[error("`{provider}` refuses the request ({status}){said}")]
    Refused { provider: String, status: u16, said: String },
    #[error("`{provider}` cannot be reached: {said}")]
    Unreachable { provider: String, said: String },
    #[error("the answer of `{provider}` is broken: {said}")]
    Broken { provider: String, said: String },
    #[error("the conversation cannot be sent: {0}")]
    Prompt(#[from] ProviderError),
    #[error("cancelled")]
    Cancelled,
}

impl ModelError {
    /// The stable type, and the HTTP status that goes with it.
    pub const fn facts(&self) -> (&'static str, u16) {
        let (kind, status, _) = self.table();
        (kind, status)
    }

    /// What a person who talks to an agent may know: nothing about who provides it, or how.
    pub const fn for_anybody(&self) -> &'static str {
        self.table().2
    }

    /// When it may work again, if the provider said.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } => *retry_after,
            Self::Unknown(_)
            | Self::Unusable { .. }
            | Self::ContextTooLong { .. }
            | Self::BadKey { .. }
            | Self::Overloaded { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Broken { .. }
            | Self::Prompt(_)
            | Self::Cancelled => None,
        }
    }

    // One table, so that a new variant must choose everything.
    const fn table(&self) -> (&'static str, u16, &'static str) {
        const SETUP: &str = "the model of this agent is not set up; its operator can see why";
        const LATER: &str = "the model does not answer at the moment; try again later";
        match self {
            Self::Unknown(_) => ("unknown_model", 404, "there is no such model"),
            Self::Unusable { .. } => ("model_unusable", 503, SETUP),
            Self::ContextTooLong { .. } => (
                "context_too_long",
                400,
                "the conversation is too long for the model; begin a new one or shorten it",
            ),
            Self::BadKey { .. } => ("bad_key", 503, SETUP),
            Self::RateLimited { .. } => ("rate_limited", 429, "too many requests; try again later"),
            Self::Overloaded { .. } => ("overloaded", 503, LATER),
            Self::Refused { .. } => ("refused", 502, "the model's provider refused the request"),
            Self::Unreachable { .. } => ("unreachable", 502, LATER),
            Self::Broken { .. } => ("broken_answer", 502, "the answer of the model broke off"),
            Self::Prompt(_) => ("bad_prompt", 400, "the conversation cannot be sent to a model"),
            Self::Cancelled => ("cancelled", 499, "cancelled"),
        }
    }
}
