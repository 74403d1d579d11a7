//! Taking secrets out before a tool cuts text, so that a cut cannot hide half of one.

use std::{borrow::Cow, fmt};

/// Knows secrets.
pub trait Redact: fmt::Debug + Send + Sync {
    /// The text without secrets; borrowed if there were none.
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str>;
}
