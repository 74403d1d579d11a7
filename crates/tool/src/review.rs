//! What a command changed, before it is kept.

use std::fmt;

use crate::{BoxFuture, ChangeKind, FilePath, ToolError};

/// One change that a command made and nobody kept yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// The file, or the folder with everything in it.
    pub path: FilePath,
    /// What happened to it.
    pub change: ChangeKind,
    /// What it is, in a few words.
    pub what: String,
    /// The change line by line, for text that is not too long.
    pub diff: Option<String>,
}

/// What to do with proposed changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Keep them.
    All,
    /// Drop them.
    Nothing,
    /// Keep these and drop the others.
    Only(Vec<FilePath>),
}

/// Somebody who looks at changes before they are kept.
pub trait Review: fmt::Debug + Send + Sync {
    /// Says what to keep. An error keeps nothing.
    fn judge<'a>(&'a self, proposed: &'a [Proposed]) -> BoxFuture<'a, Result<Keep, ToolError>>;
}
