//! Removing the temp files of a call whose process died.

use std::{
    collections::BTreeSet,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::fs::Dir;
use tool::{FilePath, Ignored, Live, ToolError, Walk, WalkEntry};

use super::temp::prefix;
use crate::{
    Unfinished,
    beneath::{Links, open_folder},
    root::{Id, Root},
    tree::remove,
    walk::walk,
    workspace::{Located, Workspace},
};

/// A temp file lies in a folder that was opened by its path at once. The kernel takes paths of 4,096
/// bytes, each name takes at least two of them, so no temp file lies deeper than this. Without a
/// bound, time would grow with the square of the depth.
const MAX_DEPTH: usize = 2_048;

/// Removes every temp file of the call and says how many there were. A temp file waits in a folder
/// above the file it is for.
pub(super) fn sweep(workspace: &Workspace, unfinished: Unfinished<'_>) -> Result<usize, ToolError> {
    let prefix = prefix(unfinished.call);
    let mut seen = BTreeSet::new();
    let mut swept = 0;
    for (root, inner) in places(workspace, unfinished) {
        for folder in inner.ancestors() {
            swept += sweep_folder(&root, folder, &prefix, &mut seen);
        }
    }
    for path in unfinished.planned {
        for found in beneath(workspace, path, &prefix)? {
            let Ok(Located { root, inner, .. }) = workspace.locate(&found) else { continue };
            let folder = Path::new(&inner).parent().unwrap_or(Path::new(""));
            swept += sweep_folder(&root, folder, &prefix, &mut seen);
        }
    }
    Ok(swept)
}

fn places(workspace: &Workspace, unfinished: Unfinished<'_>) -> Vec<(Arc<Root>, PathBuf)> {
    let planned = unfinished.planned.iter().filter_map(|path| {
        let Located { root, inner, .. } = workspace.locate(path).ok()?;
        Some((root, PathBuf::from(inner)))
    });
    let recorded = unfinished.records.iter().flatten().filter_map(|change| {
        Some((workspace.recorded_root(&change.root)?, PathBuf::from(&change.inner)))
    });
    planned.chain(recorded).collect()
}

fn sweep_folder(
    root: &Root,
    folder: &Path,
    prefix: &str,
    seen: &mut BTreeSet<(Id, PathBuf)>,
) -> usize {
    if !seen.insert((root.id, folder.to_owned())) {
        return 0;
    }
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    let Ok(fd) = open_folder(root, folder, Links::Refused) else { return 0 };
    let Ok(entries) = Dir::read_from(&fd) else { return 0 };
    let ours = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_bytes().starts_with(prefix.as_bytes()));
    ours.filter(|entry| remove(&fd, entry.file_name()).is_ok()).count()
}

/// The temp files beneath a folder that was planned as a whole.
fn beneath(
    workspace: &Workspace,
    path: &FilePath,
    prefix: &str,
) -> Result<Vec<FilePath>, ToolError> {
    let Ok(start) = workspace.start(path, Links::Refused) else { return Ok(Vec::new()) };
    let found = Mutex::new(Vec::new());
    let look = |entry: &dyn WalkEntry| {
        if entry.path().name().is_some_and(|name| name.starts_with(prefix)) {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.push(entry.path().clone());
        }
        ControlFlow::Continue(())
    };
    let how = Walk { depth: MAX_DEPTH, ignored: Ignored::Shown, threads: 1 };
    walk(start, how, &Live::default(), &look)?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}
