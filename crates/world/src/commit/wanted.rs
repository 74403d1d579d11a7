//! What a commit is asked for.

use std::{os::fd::OwnedFd, sync::Arc};

use rustix::fs::Stat;
use tool::{Expect, FileChange, FileContent, FilePath, FileState};

/// A change to one path.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) path: FilePath,
    pub(crate) expect: Expect,
    pub(crate) content: Content,
    /// What is there now must not have changed after this, and nobody may have removed it.
    pub(crate) since: Option<Since>,
}

/// When a command began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Since {
    /// In the time that files carry.
    pub(crate) moment: Moment,
    /// How many commits there had been.
    pub(crate) commits: u64,
}

/// What shall be at a path.
#[derive(Debug)]
pub(crate) enum Content {
    /// As a tool asks for it.
    Given(FileContent),
    /// What waits elsewhere on the same file system, and is moved.
    Moved(Moved),
    /// Nothing, where a file was or a folder with everything in it.
    Removed,
}

/// A file, a link or a folder that waits to be moved.
#[derive(Debug)]
pub(crate) struct Moved {
    pub(crate) folder: Arc<OwnedFd>,
    pub(crate) name: Vec<u8>,
    /// What it is.
    pub(crate) state: FileState,
    pub(crate) how: HowMoved,
}

impl Moved {
    /// Whether its folders are made anew.
    pub(super) const fn is_linked_tree(&self) -> bool {
        matches!((&self.state, self.how), (FileState::Tree { .. }, HowMoved::Linked))
    }
}

/// How what waits elsewhere gets into the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HowMoved {
    /// By a rename.
    Renamed,
    /// Under a second name, so that it is still where it waited if the commit comes to nothing.
    Linked,
}

impl From<FileChange> for Wanted {
    fn from(FileChange { path, expect, content }: FileChange) -> Self {
        Self { path, expect, content: Content::Given(content), since: None }
    }
}

impl Wanted {
    /// Whether a folder is there, or shall be.
    pub(crate) const fn is_about_a_folder(&self) -> bool {
        const fn is_folder(state: &FileState) -> bool {
            matches!(state, FileState::Tree { .. } | FileState::Folder { .. })
        }
        let shall = match &self.content {
            Content::Moved(moved) => is_folder(&moved.state),
            Content::Given(FileContent::KeptTree(_) | FileContent::FolderMode(_)) => true,
            Content::Given(_) | Content::Removed => false,
        };
        let expected = match &self.expect {
            Expect::State(state) | Expect::Restorable { from: state, to: _ } => is_folder(state),
            Expect::Anything | Expect::Content(_) => false,
        };
        shall || expected
    }
}

impl Content {
    /// Whether a folder can be in its place.
    pub(crate) const fn replaces_folders(&self) -> bool {
        match self {
            Self::Moved(_) | Self::Removed | Self::Given(FileContent::KeptTree(_)) => true,
            Self::Given(_) => false,
        }
    }
}

/// A point in the time that files carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) i64, pub(crate) u64);

impl Moment {
    /// When anything about a file last changed.
    pub(crate) const fn of(stat: &Stat) -> Self {
        Self(stat.st_ctime, stat.st_ctime_nsec)
    }
}
