//! Changing files: all of a commit or none of it, also after a power cut.
//!
//! The order is what makes it safe. Before the record nothing that anybody can see has changed, and
//! what the record promises is on the disk: the old contents by hash, the new ones as temp files.
//! After the record everything can be finished from there, by [`recover`] if not by us.

mod folders;
mod found;
mod pending;
mod recover;
mod step;
mod sweep;
mod target;
mod temp;
mod wanted;

#[cfg(test)]
mod crash;

use std::collections::BTreeSet;

use tool::{Change, Changed, Commit, ToolError};

use self::{
    folders::Folders,
    pending::{Pending, is_tree},
};
pub(crate) use self::{
    recover::recover,
    step::step,
    target::Target,
    wanted::{Content, HowMoved, Moment, Moved, Since, Wanted},
};
use crate::{
    lock::{Locked, Shared},
    problem,
    workspace::{Common, Located, Workspace},
};

/// Makes all of `changes`, or none.
pub(crate) fn commit(
    workspace: &Workspace,
    commit: Commit<'_>,
    changes: Vec<Wanted>,
) -> Result<Vec<Changed>, ToolError> {
    let Commit { call, live, log } = commit;
    let common = &workspace.common;
    let located: Result<Vec<_>, _> =
        changes.iter().map(|change| workspace.locate(&change.path)).collect();
    let located = located?;
    let roots: Vec<_> = located.iter().map(|located| located.root.clone()).collect();
    let alone = common.locks.roots(roots.iter(), live)?;
    let _kept = common.locks.blobs(Shared::Yes, live)?;

    changes.iter().zip(&located).try_for_each(|(change, at)| refuse_removed(&alone, change, at))?;
    let mut folders = Folders::default();
    let mut pending = prepare(common, commit, changes.into_iter().zip(located), &mut folders)?;
    if pending.is_empty() {
        return Ok(Vec::new());
    }

    Pending::sync_copies(&pending)?;
    step();
    // From here on the call cannot end: nothing happens behind a recorded outcome.
    let _held = live.hold()?;
    let changes: Vec<_> = pending.iter().map(Pending::change).collect();
    log.record(call, &changes)?;
    for root in &alone {
        let gone = pending.iter().filter(|one| one.target.root.id == root.id && one.removes());
        root.count(gone.map(|one| one.target.inner()));
    }
    pending.sort_by_key(Pending::order);
    step();
    if let Err(error) = apply(common, &mut pending, &mut folders) {
        // Recorded first, like every change. Where even that fails, a half-done commit is worse.
        let reverse: Vec<_> = changes.iter().rev().map(reversed).collect();
        let _ = log.record(call, &reverse);
        return Err(roll_back(workspace, pending, &folders, error));
    }
    Ok(changes.iter().map(Change::summary).collect())
}

/// What was removed leaves nothing behind that carries a time, so those who remove it say so.
fn refuse_removed(
    alone: &[Locked<'_>],
    change: &Wanted,
    located: &Located,
) -> Result<(), ToolError> {
    let Some(since) = change.since else { return Ok(()) };
    let root = alone.iter().find(|root| root.id == located.root.id);
    if root.is_some_and(|root| root.was_removed(&located.inner, since.commits)) {
        return Err(problem::changed_since(&change.path));
    }
    Ok(())
}

/// Checks every change and gets it ready, so that what can fail fails while nothing is changed.
fn prepare(
    common: &Common,
    commit: Commit<'_>,
    changes: impl Iterator<Item = (Wanted, Located)>,
    folders: &mut Folders,
) -> Result<Vec<Pending>, ToolError> {
    let mut pending = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, (change, located)) in changes.enumerate() {
        commit.live.check()?;
        let mut target = if change.is_about_a_folder() {
            Target::open_folder(located, &common.protected)?
        } else {
            Target::open(located, &common.protected)?
        };
        refuse_twice(&mut seen, &target)?;
        folders.share(&mut target)?;
        let name = temp::name(commit.call, number);
        pending.extend(Pending::prepare(common, target, change, name, commit.live)?);
    }
    Ok(pending)
}

fn apply(common: &Common, pending: &mut [Pending], folders: &mut Folders) -> Result<(), ToolError> {
    for one in &mut *pending {
        one.apply(folders)?;
        step();
    }
    for one in &mut *pending {
        one.settle(&common.trees)?;
    }
    step();
    folders.sync().map_err(|source| {
        ToolError::failed_by("the disk did not confirm the change; it was undone", source)
    })
}

fn roll_back(
    workspace: &Workspace,
    pending: Vec<Pending>,
    folders: &Folders,
    error: ToolError,
) -> ToolError {
    let mut stuck = Vec::new();
    for mut one in pending.into_iter().rev() {
        if let Err(source) = one.roll_back(&workspace.common) {
            stuck.push(format!("`{}` ({source})", one.target.path));
        }
    }
    folders.remove_made();
    let _ = folders.sync();
    if stuck.is_empty() {
        return error;
    }
    let files = stuck.join(", ");
    let message = format!("{error}; and these files could not be put back: {files}");
    ToolError::failed_by(message, error)
}

/// The change that undoes `change`.
fn reversed(change: &Change) -> Change {
    let Change { path, root, inner, before, after, staged, displaced } = change.clone();
    // Where a folder that was there waits, it waits to be put back.
    let waits = staged.filter(|_| is_tree(&after));
    Change { path, root, inner, before: after, after: before, staged: displaced, displaced: waits }
}

/// Which of two changes of one file would be the right one?
fn refuse_twice(seen: &mut BTreeSet<std::path::PathBuf>, target: &Target) -> Result<(), ToolError> {
    if seen.insert(target.root.path().join(target.inner())) {
        return Ok(());
    }
    Err(ToolError::failed(format!("`{}` is changed twice in one commit", target.path)))
}
