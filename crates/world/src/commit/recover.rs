//! What is done at start-up about a call whose process died.

use std::os::fd::OwnedFd;

use tool::{CallId, Change, FilePath, FileState, Live, ToolError};

use super::{
    folders::Folders,
    found::{AsFolder, Finding, absent, find},
    pending::{is_tree, kept, put_over, set_mode},
    reversed,
    step::step,
    sweep::sweep,
    target::Target,
    temp::{New, Temp, name},
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

/// Keeps a folder that was moved out of the way, whatever else becomes of the change.
fn keep_displaced(workspace: &Workspace, change: &Change) -> Result<(), ToolError> {
    let FileState::Tree { digest, .. } = change.before else { return Ok(()) };
    let Some(inner) = change.displaced.as_deref() else { return Ok(()) };
    let Some(root) = workspace.recorded_root(&change.root) else { return Ok(()) };
    let Some((folder, name)) = opened(&root, inner) else { return Ok(()) };
    let found = find(&folder, &name, finding(workspace, change, &Live::default()))?;
    if found.state != change.before {
        return Ok(());
    }
    let kept = workspace.common.trees.put(digest, &folder, &name);
    kept.map_err(|source| problem::writing(&change.path, source))
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
                folders.share(&mut target)?;
                let temp = name(call, format_args!("r{number}"));
                put(&workspace.common, &mut folders, &target, (change, waiting, temp))?;
            }
            (Now::Lost | Now::Foreign | Now::Ready(_), _) => conflicts.push(change.path.clone()),
        }
        keep_displaced(workspace, change)?;
        step();
    }
    folders.sync().map_err(ToolError::internal)
}

fn put(
    common: &Common,
    folders: &mut Folders,
    target: &Target,
    (change, waiting, temp): (&Change, Waiting, String),
) -> Result<(), ToolError> {
    let put = || -> std::io::Result<()> {
        let parent = folders.parent(target)?;
        let place = (&*parent, target.name.as_str());
        match waiting {
            _ if matches!(change.after, FileState::Folder { .. }) => {
                if let FileState::Folder { mode } = change.after {
                    set_mode(place, mode)?;
                }
            }
            Waiting::Staged(folder, name) => {
                put_over((&folder, &name), place, &change.before)?;
                step();
                dispose(common, &change.before, (&folder, &name))?;
            }
            Waiting::Kept(New::Absent) => dispose(common, &change.before, place)?,
            Waiting::Kept(new) => {
                let (mut temp, _) = Temp::write((parent.clone(), temp), &new, None, &common.trees)?;
                step();
                put_over((&temp.folder, &temp.name), place, &change.before)?;
                temp.precious = is_tree(&change.before);
                dispose(common, &change.before, (&temp.folder, &temp.name))?;
            }
        }
        Ok(())
    };
    put().map_err(|source| problem::writing(&change.path, source))
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
