//! Changes to files: what is asked for, what is recorded, what is reported.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, Digest, FilePath, Live, ToolError};

/// A change to one file that a tool asks for.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The file.
    pub path: FilePath,
    /// What must be there now, or nothing is changed at all.
    pub expect: Expect,
    /// What shall be there.
    pub content: FileContent,
}

/// What a change relies on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expect {
    /// Whatever is there.
    Anything,
    /// Exactly this.
    State(FileState),
    /// Exactly `from`, to bring `to` back. Where `to` is already, nothing is left to do: so an undo
    /// that was interrupted can be repeated.
    Restorable {
        /// What the change that is taken back left there.
        from: FileState,
        /// What was there before that.
        to: FileState,
    },
    /// A file with this content, whatever its mode.
    Content(Digest),
}

/// What shall be at a path.
#[derive(Debug, Clone)]
pub enum FileContent {
    /// A file. Without a mode it keeps the one of the file it replaces.
    File {
        /// All of it.
        bytes: Vec<u8>,
        /// Permission bits.
        mode: Option<u32>,
    },
    /// What is there now, and this after it.
    Append(Vec<u8>),
    /// The file that was kept under this hash when an earlier change replaced it.
    Kept {
        /// Names the content.
        digest: Digest,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link, to undo its removal.
    Link(String),
    /// The folder that was kept under this hash, with everything in it, when an earlier change
    /// replaced or removed it.
    KeptTree(Digest),
    /// The folder that is there, with these permission bits.
    FolderMode(u32),
    /// Nothing.
    Absent,
}

/// What is or was at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Names the content.
        digest: Digest,
        /// Its size.
        bytes: u64,
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it points.
        target: String,
    },
    /// A folder, whatever is in it.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A folder with everything in it.
    Tree {
        /// Names all of it: names, modes, contents.
        digest: Digest,
        /// How many files, folders and links are in it.
        entries: u64,
        /// The size of its files together.
        bytes: u64,
    },
}

/// What brings a state back, from what was kept.
impl From<&FileState> for FileContent {
    fn from(state: &FileState) -> Self {
        match state {
            FileState::Absent => Self::Absent,
            FileState::File { digest, bytes: _, mode } => {
                Self::Kept { digest: *digest, mode: *mode }
            }
            FileState::Link { target } => Self::Link(target.clone()),
            FileState::Folder { mode } => Self::FolderMode(*mode),
            FileState::Tree { digest, .. } => Self::KeptTree(*digest),
        }
    }
}

/// One changed file, as the journal records it before it happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The file as calls name it.
    pub path: FilePath,
    /// The absolute path of the root it is beneath.
    pub root: String,
    /// The path within that root.
    pub inner: String,
    /// What was there.
    pub before: FileState,
    /// What is to be there.
    pub after: FileState,
    /// Where the new content waits, within the root; it is renamed into place.
    pub staged: Option<String>,
    /// Where a folder that was there waits, within the root, until it is kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displaced: Option<String>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ChangeKind {
    Created,
    Modified,
    Deleted,
}

/// One changed file, as an outcome reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changed {
    /// The file.
    pub path: FilePath,
    /// What happened to it.
    pub change: ChangeKind,
}

impl Change {
    /// How this is reported.
    pub fn summary(&self) -> Changed {
        let change = match (&self.before, &self.after) {
            (FileState::Absent, _) => ChangeKind::Created,
            (_, FileState::Absent) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        Changed { path: self.path.clone(), change }
    }
}

/// Records changes before they happen.
pub trait ChangeLog: fmt::Debug + Send + Sync {
    /// Returns once the record is on the disk. What cannot be recorded must not happen. May block.
    fn record(&self, call: CallId, changes: &[Change]) -> Result<(), ToolError>;
}

/// What a change is made for.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'a> {
    /// The call that makes it.
    pub call: CallId,
    /// Whether it still may.
    pub live: &'a Live,
    /// Where it is recorded.
    pub log: &'a dyn ChangeLog,
}
