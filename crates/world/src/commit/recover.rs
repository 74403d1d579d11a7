//! What is done at start-up about a call whose process died.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, renameat, unlinkat};
use tool::{CallId, Change, FilePath, FileState, Live, ToolError};

use super::{
    folders::Folders,
    found::{absent, find},
    pending::kept,
    reversed,
    step::step,
    sweep::sweep,
    target::Target,
    temp::{New, Temp, name, rename_new},
};
use crate::{
    Ending, Recovered, Unfinished,
    beneath::{Links, open_folder},
    lock::Shared,
    problem,
    root::Root,
    workspace::{Located, Workspace},
};

/// Finishes or rolls back the last commit of a call, and removes its temp files.
///
/// Only the last one can be half done: a commit begins after the one before has ended.
pub(crate) fn recover(
    workspace: &Workspace,
    unfinished: Unfinished<'_>,
) -> Result<Recovered, ToolError> {
    let mut recovered = Recovered { ending: Ending::Unchanged, conflicts: Vec::new(), swept: 0 };
    if let Some(last) = unfinished.records.last() {
        recovered.ending = settle(workspace, unfinished, last, &mut recovered.conflicts)?;
    }
    recovered.swept = sweep(workspace, unfinished)?;
    Ok(recovered)
}

/// How far one recorded change got.
enum Now {
    /// The new content is in place.
    Done,
    /// The old content is in place, and the new one can be put there.
    Ready(Waiting),
    /// The old content is in place, and the new one is gone.
    Lost,
    /// Somebody else changed it, after us or instead of us.
    Foreign,
}

/// Where new content waits.
enum Waiting {
    Staged(OwnedFd, String),
    Kept(New),
}

struct Standing<'a> {
    change: &'a Change,
    now: Now,
    /// Absent if somebody else was there.
    target: Option<Target>,
    /// Whether the new content has left the temp file.
    moved: bool,
}

fn settle(
    workspace: &Workspace,
    unfinished: Unfinished<'_>,
    changes: &[Change],
    conflicts: &mut Vec<FilePath>,
) -> Result<Ending, ToolError> {
    let live = Live::default();
    let roots: Vec<_> =
        changes.iter().filter_map(|change| workspace.recorded_root(&change.root)).collect();
    let _alone = workspace.common.locks.roots(roots.iter(), &live)?;
    let _kept = workspace.common.locks.blobs(Shared::Yes, &live)?;
    let standings = look(workspace, changes);
    if is_roll_back(unfinished.records) {
        finish(unfinished.call, standings, conflicts)?;
        return Ok(Ending::RolledBack);
    }
    if !must_undo(&standings) {
        finish(unfinished.call, standings, conflicts)?;
        return Ok(Ending::Finished);
    }
    let reverse: Vec<_> = changes.iter().rev().map(reversed).collect();
    unfinished.log.record(unfinished.call, &reverse)?;
    step();
    finish(unfinished.call, look(workspace, &reverse), conflicts)?;
    Ok(Ending::RolledBack)
}

/// A commit is finished if all of it can be. If somebody else was there first, it is finished only
/// if a part of it was done already; else it is as if it had never begun.
fn must_undo(standings: &[Standing<'_>]) -> bool {
    let lost = standings.iter().any(|one| matches!(one.now, Now::Lost));
    let foreign = standings.iter().any(|one| matches!(one.now, Now::Foreign));
    let begun = standings
        .iter()
        .any(|one| matches!(one.now, Now::Done) || matches!(one.now, Now::Foreign) && one.moved);
    lost || foreign && !begun
}

/// Whether the last record takes back the one before; it must not be taken back itself.
fn is_roll_back(records: &[Vec<Change>]) -> bool {
    let [.., before, last] = records else { return false };
    before.iter().rev().map(reversed).eq(last.iter().cloned())
}

fn look<'a>(workspace: &Workspace, changes: &'a [Change]) -> Vec<Standing<'a>> {
    changes.iter().map(|change| look_at(workspace, change)).collect()
}

fn look_at<'a>(workspace: &Workspace, change: &'a Change) -> Standing<'a> {
    let foreign = Standing { change, now: Now::Foreign, target: None, moved: false };
    let Some(root) = workspace.recorded_root(&change.root) else { return foreign };
    let located =
        Located { path: change.path.clone(), root: root.clone(), inner: change.inner.clone() };
    // Where a folder or a link has taken the file's place, somebody else was there.
    let Ok(target) = Target::open_any(located) else { return foreign };
    let Some(state) = state_of(workspace, &target) else { return foreign };
    let staged = staged(workspace, &root, change);
    let moved = change.staged.is_some() && staged.is_none();
    let now = if state == change.after {
        Now::Done
    } else if state != change.before {
        Now::Foreign
    } else if let Some(waiting) = staged {
        Now::Ready(waiting)
    } else {
        kept(&workspace.common.blobs, &change.after)
            .map_or(Now::Lost, |new| Now::Ready(Waiting::Kept(new)))
    };
    Standing { change, now, target: Some(target), moved }
}

fn state_of(workspace: &Workspace, target: &Target) -> Option<FileState> {
    if !target.missing.is_empty() {
        return Some(absent().state);
    }
    let max_bytes = workspace.common.max_file_bytes;
    let found = find(&target.folder, &target.name, &target.path, max_bytes);
    found.ok().map(|found| found.state)
}

/// The temp file of a change, if it still holds the new content.
fn staged(workspace: &Workspace, root: &Root, change: &Change) -> Option<Waiting> {
    let inner = change.staged.as_deref()?;
    let (folder, name) = inner.rsplit_once('/').unwrap_or((".", inner));
    let folder = open_folder(root, folder, Links::Refused).ok()?;
    let max_bytes = workspace.common.max_file_bytes;
    let found = find(&folder, name, &change.path, max_bytes).ok()?;
    (found.state == change.after).then(|| Waiting::Staged(folder, name.to_owned()))
}

fn finish(
    call: CallId,
    standings: Vec<Standing<'_>>,
    conflicts: &mut Vec<FilePath>,
) -> Result<(), ToolError> {
    let mut folders = Folders::default();
    for (number, standing) in standings.into_iter().enumerate() {
        let Standing { change, now, target, moved: _ } = standing;
        match (now, target) {
            (Now::Done, _) => {}
            (Now::Ready(waiting), Some(mut target)) => {
                folders.share(&mut target)?;
                let temp = name(call, format_args!("r{number}"));
                put(&mut folders, &target, change, waiting, temp)?;
            }
            (Now::Lost | Now::Foreign | Now::Ready(_), _) => conflicts.push(change.path.clone()),
        }
        step();
    }
    folders.sync().map_err(ToolError::internal)
}

fn put(
    folders: &mut Folders,
    target: &Target,
    change: &Change,
    waiting: Waiting,
    temp: String,
) -> Result<(), ToolError> {
    let put = || -> std::io::Result<()> {
        let parent = folders.parent(target)?;
        let place = (&*parent, target.name.as_str());
        let replace = |from: (&OwnedFd, &str)| match change.before {
            FileState::Absent => rename_new(from, place),
            FileState::File { .. } | FileState::Link { .. } => {
                renameat(from.0, from.1, place.0, place.1)
            }
        };
        match waiting {
            Waiting::Staged(folder, name) => replace((&folder, &name))?,
            Waiting::Kept(New::Absent) => unlinkat(place.0, place.1, AtFlags::empty())?,
            Waiting::Kept(new) => {
                let (temp, _) = Temp::write(parent.clone(), temp, &new, None)?;
                step();
                replace((&temp.folder, &temp.name))?;
            }
        }
        Ok(())
    };
    put().map_err(|source| problem::writing(&change.path, source))
}
