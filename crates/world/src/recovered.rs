//! A call that was cut short, and how it was left.

use std::path::Path;

use tool::{CallId, Caller, Change, ChangeLog, FilePath};

/// A call whose process died, as the journal knows it.
#[derive(Debug, Clone, Copy)]
pub struct Unfinished<'a> {
    /// The call.
    pub call: CallId,
    /// Who made it.
    pub caller: &'a Caller,
    /// The root it worked in; without one, the caller's root of now.
    pub workspace: Option<&'a Path>,
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

impl Recovered {
    /// A root is gone: there is nothing to finish and nothing to take back.
    pub(crate) fn nothing_left(unfinished: Unfinished<'_>) -> Self {
        let last = unfinished.records.last().into_iter().flatten();
        let conflicts = last.map(|change| change.path.clone()).collect();
        Self { ending: Ending::Unchanged, conflicts, swept: 0 }
    }
}
