//! What a world is made from, and what its maintenance reports.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use tool::{CallId, Caller, Change, ChangeLog, FilePath};

/// What a [`crate::World`] is made from.
#[derive(Debug, Clone)]
pub struct WorldSettings {
    /// Where pre-images, artifacts, locks and private temp folders are. No tool sees it.
    pub data: PathBuf,
    /// The root of every agent that has none of its own.
    pub workspace: PathBuf,
    /// Roots of single agents.
    pub agents: BTreeMap<String, PathBuf>,
    /// More roots for everybody, reached by absolute path.
    pub roots: Vec<PathBuf>,
    /// Protected paths besides the built-in ones.
    pub protected: Vec<String>,
    /// Larger files are not changed: what cannot be kept cannot be undone.
    pub max_file_bytes: u64,
    /// How much is kept to undo changes and to read artifacts.
    pub keep: Keep,
}

impl WorldSettings {
    /// One workspace, the usual limits.
    pub fn new(data: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            workspace: workspace.into(),
            agents: BTreeMap::new(),
            roots: Vec::new(),
            protected: Vec::new(),
            max_file_bytes: 100 * 1024 * 1024,
            keep: Keep::default(),
        }
    }
}

/// How much of the past is kept: pre-images and artifacts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// At most this many bytes.
    pub bytes: u64,
    /// At most this long.
    pub age: Duration,
}

impl Default for Keep {
    fn default() -> Self {
        Self { bytes: 10 * 1024 * 1024 * 1024, age: Duration::from_hours(30 * 24) }
    }
}

/// What [`crate::World::prune`] dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many pre-images and artifacts.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
}

/// A call whose process died, as the journal knows it.
#[derive(Debug, Clone, Copy)]
pub struct Unfinished<'a> {
    /// The call.
    pub call: CallId,
    /// Who made it.
    pub caller: &'a Caller,
    /// The files and folders it planned to write.
    pub planned: &'a [FilePath],
    /// Its change records, in order.
    pub records: &'a [Vec<Change>],
    /// Where a roll-back is recorded.
    pub log: &'a dyn ChangeLog,
}

/// How an unfinished call was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It had recorded no change, so there is none.
    Unchanged,
    /// Its last commit is whole.
    Finished,
    /// Its last commit is undone.
    RolledBack,
}

/// What [`crate::World::recover`] found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// How the last commit was left.
    pub ending: Ending,
    /// Files that somebody else changed since; they were left alone.
    pub conflicts: Vec<FilePath>,
    /// How many temp files were removed.
    pub swept: usize,
}
