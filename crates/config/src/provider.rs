//! The section `providers.<name>`.

use tool::Format;

use crate::Spanned;

/// A provider of models that is not one of the known ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provider {
    /// What it speaks.
    pub format: Option<Spanned<Format>>,
}
