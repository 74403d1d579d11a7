//! What a command changed, before it is kept.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BoxFuture, ChangeKind, Digest, FilePath, ToolError};

/// One change that a command made and nobody kept yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proposed {
    /// The file, or the folder with everything in it.
    pub path: FilePath,
    /// What happened to it.
    pub change: ChangeKind,
    /// What it is, in a few words.
    pub what: String,
    /// The change line by line, for text that is not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Names what would be there, where that is a file or a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub after: Option<Digest>,
    /// The rule by which a person has to see it, because other programs or agents obey the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_rule: Option<String>,
}

/// How much of what was there before would be replaced or removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Files and links.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
    /// Changed files that other programs or agents obey, new ones too.
    pub asked: u64,
}

/// What a command changed, all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// One by one.
    pub changes: Vec<Proposed>,
    /// What would be lost by them.
    pub lost: Extent,
}

/// What to do with proposed changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Keep them.
    All,
    /// Keep all but those with an [`Proposed::ask_rule`].
    Unasked,
    /// Drop them.
    Nothing,
    /// Keep these and drop the others.
    Only(Vec<FilePath>),
    /// Decide later. Drops them where changes cannot wait.
    Later,
}

/// Somebody who looks at changes before they are kept.
pub trait Review: fmt::Debug + Send + Sync {
    /// Whether changes by which so much would be lost are to be looked at; else all are kept.
    fn is_wanted(&self, lost: Extent) -> bool;

    /// Says what to keep. An error keeps nothing.
    fn judge<'a>(&'a self, proposal: &'a Proposal) -> BoxFuture<'a, Result<Keep, ToolError>>;
}
