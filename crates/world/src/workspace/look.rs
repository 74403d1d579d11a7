//! What the world says about a plan's path, before anybody decides about it.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{fs::OFlags, io::Errno};
use tool::{
    FileKind, FilePath, FileStat, Ignored, Live, Need, PathFact, ToolError, Walk, WalkEntry,
};

use super::{Located, Workspace, artifact_id};
use crate::{
    beneath::{self, Links},
    commit::Target,
    problem,
    root::Root,
    stat::stat_at,
    walk::walk,
};

/// Beyond this many entries a folder is simply large.
const ENTRIES: u64 = 10_000;

/// Resolves the path of `need`, or gives the error that using it would give.
pub(super) fn look(workspace: &Workspace, need: &Need) -> Result<PathFact, ToolError> {
    match need {
        Need::Read(path) => look_read(workspace, path),
        Need::Write(path) => look_write(workspace, path),
        Need::Fetch(_)
        | Need::Run(_)
        | Need::Act(_)
        | Need::Recall(_)
        | Need::Keep(_)
        | Need::Use(_) => Err(ToolError::internal(format!("there is no path in: {need}"))),
    }
}

fn look_read(workspace: &Workspace, path: &FilePath) -> Result<PathFact, ToolError> {
    if let Some(id) = artifact_id(path) {
        let stat = workspace.common.artifacts.read(&workspace.user, id)?.stat;
        return fact(path, path.to_string(), &stat);
    }
    let Located { path, root, inner } = workspace.locate(path)?;
    let open = |inner: &Path| {
        let fd = beneath::open(&root, inner, OFlags::PATH, Links::Followed)?;
        Ok((root.inner(&fd)?, stat_at(&fd, "")?))
    };
    let mut rest = PathBuf::new();
    for above in Path::new(&inner).ancestors() {
        let above = if above == Path::new("") { Path::new(".") } else { above };
        match open(above) {
            Ok((found, stat)) if rest == Path::new("") => {
                return fact(&path, resolved(&root, &found), &stat);
            }
            Ok((found, _)) => return Ok(absent(&path, resolved(&root, &found.join(&rest)))),
            Err(Errno::NOENT | Errno::NOTDIR) => {
                rest = Path::new(above.file_name().unwrap_or_default()).join(&rest);
            }
            Err(errno) => return Err(problem::reading(&path, errno)),
        }
    }
    Err(ToolError::not_found(path))
}

fn look_write(workspace: &Workspace, path: &FilePath) -> Result<PathFact, ToolError> {
    let located = workspace.locate(path)?;
    if located.inner == "." {
        return look_beneath(workspace, path);
    }
    let target = Target::open(located, &workspace.common.protected)?;
    let resolved = resolved(&target.root, Path::new(&target.inner()));
    let protected = &workspace.common.protected;
    let names = target.names(protected);
    let ask_rule = names.iter().find_map(|name| protected.ask_rule(name)).map(str::to_owned);
    let found = match target.stat().map_err(|errno| problem::writing(path, errno))? {
        None => Ok(absent(path, resolved)),
        Some(stat) if stat.kind == FileKind::Folder => look_beneath(workspace, path),
        // The link itself may be removed; a commit refuses to write through it.
        Some(stat) if stat.kind == FileKind::Link => Ok(absent(path, resolved)),
        Some(stat) => fact(path, resolved, &stat),
    };
    found.map(|fact| PathFact { ask_rule, ..fact })
}

/// Counts what is there to be overwritten.
fn look_beneath(workspace: &Workspace, path: &FilePath) -> Result<PathFact, ToolError> {
    let start = workspace.start(path, Links::Refused)?;
    let resolved = resolved(&start.root, &start.inner);
    let (entries, files, bytes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let count = |entry: &dyn WalkEntry| {
        if entry.kind() == FileKind::File {
            files.fetch_add(1, Ordering::Relaxed);
            bytes.fetch_add(entry.stat().map_or(0, |stat| stat.bytes), Ordering::Relaxed);
        }
        match entries.fetch_add(1, Ordering::Relaxed) {
            0..ENTRIES => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    };
    let how = Walk { depth: usize::MAX, ignored: Ignored::Shown, threads: 1 };
    walk(start, how, &Live::default(), &count)?;
    let (files, bytes) = (files.into_inner(), bytes.into_inner());
    Ok(PathFact { path: path.clone(), resolved, files, bytes, ask_rule: None })
}

fn fact(path: &FilePath, resolved: String, stat: &FileStat) -> Result<PathFact, ToolError> {
    match stat.kind {
        FileKind::File => {
            let (files, bytes) = (1, stat.bytes);
            Ok(PathFact { path: path.clone(), resolved, files, bytes, ask_rule: None })
        }
        FileKind::Folder => Ok(absent(path, resolved)),
        FileKind::Link | FileKind::Other => Err(ToolError::path(path, "is not a regular file")),
    }
}

fn absent(path: &FilePath, resolved: String) -> PathFact {
    PathFact { path: path.clone(), resolved, files: 0, bytes: 0, ask_rule: None }
}

fn resolved(root: &Root, inner: &Path) -> String {
    root.path().join(inner).to_string_lossy().trim_end_matches('/').to_owned()
}
