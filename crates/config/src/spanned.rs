//! Values that remember where they were written.

use std::{fmt, ops::Deref, sync::Arc};

/// A line of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct At {
    /// The file, as it was named when it was read.
    pub file: Arc<str>,
    /// The line, counted from 1; 0 if it stands in no file.
    pub line: u32,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// A value, and where it was written.
#[derive(Debug, Clone, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The place; `None` for a default.
    pub at: Option<At>,
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value, at: None }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Two values are equal wherever they were written.
impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}
