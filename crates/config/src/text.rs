//! Texts for people.

use std::{fmt, ops::Deref};

/// A text that is not empty.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(pub(crate) String);

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
