//! Why a URL may not be used.

/// Why a URL may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct UrlRefusal {
    /// The rule that says so.
    pub rule: &'static str,
    /// Why, for people and models.
    pub reason: String,
}

impl UrlRefusal {
    pub(super) fn new(rule: &'static str, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}
