//! What is done at start-up about a call whose process died.

use std::os::fd::OwnedFd;

use rustix::fs::syncfs;
use tool::{CallId, Change, FilePath, FileState, Live, ToolError};

use super::{
    folders::Folders,
    found::{AsFolder, Finding, absent, find},
    pending::{is_tree, kept, put_over, set_mode},
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
    tree::remove,
    workspace::{Common, Located, Workspace},
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
        finish(workspace, unfinished.call, standings, conflicts)?;
        return Ok(Ending::RolledBack);
    }
    if !must_undo(&standings) {
        finish(workspace, unfinished.call, standings, conflicts)?;
        return Ok(Ending::Finished);
    }
    let reverse: Vec<_> = changes.iter().rev().map(reversed).collect();
    unfinished.log.record(unfinished.call, &reverse)?;
    step();
    finish(workspace, unfinished.call, look(workspace, &reverse), conflicts)?;
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
    let Some(state) = state_of(workspace, &target, change) else { return foreign };
    let staged = staged(workspace, &root, change);
    let moved = change.staged.is_some() && staged.is_none();
    let now = if state == change.after {
        Now::Done
    } else if state != change.before {
        Now::Foreign
    } else if let Some(waiting) = staged {
        Now::Ready(waiting)
    } else {
        kept(&workspace.common, &change.after)
            .map_or(Now::Lost, |new| Now::Ready(Waiting::Kept(new)))
    };
    Standing { change, now, target: Some(target), moved }
}

fn state_of(workspace: &Workspace, target: &Target, change: &Change) -> Option<FileState> {
    if !target.missing.is_empty() {
        return Some(absent().state);
    }
    let found = find(&target.folder, &target.name, finding(workspace, change, &Live::default()));
    found.ok().map(|found| found.state)
}

fn finding<'a>(workspace: &Workspace, change: &'a Change, live: &'a Live) -> Finding<'a> {
    Finding {
        path: &change.path,
        max_bytes: workspace.common.max_file_bytes,
        folders: AsFolder::recorded(change),
        since: None,
        live,
    }
}

/// The temp file of a change, if it still holds the new content.
fn staged(workspace: &Workspace, root: &Root, change: &Change) -> Option<Waiting> {
    let (folder, name) = opened(root, change.staged.as_deref()?)?;
    let found = find(&folder, &name, finding(workspace, change, &Live::default())).ok()?;
    (found.state == change.after).then_some(Waiting::Staged(folder, name))
}

/// The folder a path within `root` is in, and its name there.
fn opened(root: &Root, inner: &str) -> Option<(OwnedFd, String)> {
    let (folder, name) = inner.rsplit_once('/').unwrap_or((".", inner));
    Some((open_folder(root, folder, Links::Refused).ok()?, name.to_owned()))
}

/// The name that the record of a change has for a folder that must make way.
fn displaced(workspace: &Workspace, change: &Change) -> Option<(OwnedFd, String)> {
    let root = workspace.recorded_root(&change.root)?;
    opened(&root, change.displaced.as_deref()?)
}

/// Keeps a folder that was moved out of the way, whatever else becomes of the change.
fn keep_displaced(workspace: &Workspace, change: &Change) -> Result<(), ToolError> {
    if !is_tree(&change.before) {
        return Ok(());
    }
    let Some((folder, name)) = displaced(workspace, change) else { return Ok(()) };
    let live = Live::default();
    let finding = Finding { folders: AsFolder::Tree, ..finding(workspace, change, &live) };
    let found = find(&folder, &name, finding)?.state;
    match found {
        // The new content, which waits under the same name.
        found if found == change.after => Ok(()),
        // Also one that somebody changed just before it was moved, under the hash it has now.
        FileState::Tree { digest, .. } => {
            let kept = workspace.common.trees.put(digest, &folder, &name);
            kept.map_err(|source| problem::writing(&change.path, source))
        }
        FileState::Absent
        | FileState::File { .. }
        | FileState::Link { .. }
        | FileState::Folder { .. } => Ok(()),
    }
}

fn finish(
    workspace: &Workspace,
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
                keep_displaced(workspace, change)?;
                folders.share(&mut target)?;
                let temp = name(call, format_args!("r{number}"));
                put(workspace, &mut folders, &target, (change, waiting, temp))?;
            }
            (Now::Lost | Now::Foreign | Now::Ready(_), _) => conflicts.push(change.path.clone()),
        }
        keep_displaced(workspace, change)?;
        step();
    }
    folders.sync().map_err(ToolError::internal)
}

fn put(
    workspace: &Workspace,
    folders: &mut Folders,
    target: &Target,
    (change, waiting, temp): (&Change, Waiting, String),
) -> Result<(), ToolError> {
    let common = &workspace.common;
    let failed = |source: std::io::Error| problem::writing(&change.path, source);
    let parent = folders.parent(target).map_err(|errno| failed(errno.into()))?;
    let place = (&*parent, target.name.as_str());
    if let FileState::Folder { mode } = change.after {
        return set_mode(place, mode).map_err(|errno| failed(errno.into()));
    }
    // A folder that was there goes by the name that the record has for it: if this is interrupted
    // too, it is found by that name, and kept.
    let aside = if is_tree(&change.before) { displaced(workspace, change) } else { None };
    let put = || -> std::io::Result<()> {
        match (waiting, aside) {
            (Waiting::Staged(folder, name), _) => {
                put_over((&folder, &name), place, &change.before)?;
                step();
                dispose(common, &change.before, (&folder, &name))
            }
            (Waiting::Kept(New::Absent), Some((folder, name))) => {
                remove(&folder, name.as_str())?;
                rename_new(place, (&folder, &name))?;
                step();
                dispose(common, &change.before, (&folder, &name))
            }
            (Waiting::Kept(New::Absent), None) => dispose(common, &change.before, place),
            (Waiting::Kept(new), aside) => {
                let written = Temp::write((parent.clone(), temp), &new, None, &common.trees)?;
                if matches!(new, New::Tree(_)) {
                    syncfs(&parent)?;
                }
                step();
                let (temp, _) = written;
                let Some((folder, name)) = aside else {
                    put_over((&temp.folder, &temp.name), place, &change.before)?;
                    return dispose(common, &change.before, (&temp.folder, &temp.name));
                };
                remove(&folder, name.as_str())?;
                rename_new((&temp.folder, &temp.name), (&folder, &name))?;
                step();
                put_over((&folder, &name), place, &change.before)?;
                step();
                dispose(common, &change.before, (&folder, &name))
            }
        }
    };
    put().map_err(failed)
}

/// Does away with what was `before` and is at `place` now: a folder is kept, a file was.
fn dispose(
    common: &Common,
    before: &FileState,
    (folder, name): (&OwnedFd, &str),
) -> std::io::Result<()> {
    match before {
        FileState::Tree { digest, .. } => common.trees.put(*digest, folder, name),
        FileState::Absent
        | FileState::File { .. }
        | FileState::Link { .. }
        | FileState::Folder { .. } => remove(folder, name),
    }
}
