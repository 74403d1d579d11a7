//! What a command that changes the workspace itself must not touch.
//!
//! Changes on an overlay are looked at before they are kept. A command in the background has none:
//! what it must not change is found before it starts, and what it should not have made after.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
};

use policy::Protected;
use rustix::{
    fs::{AtFlags, Dir, FileType, readlinkat, statat},
    io::Errno,
};
use tool::{Caller, ToolError};

use crate::{
    World,
    beneath::{Links, open_folder},
    workspace::Workspace,
};

/// A workspace with more in it cannot be looked through for every command.
const MOST_ENTRIES: usize = 2_000_000;
/// Nobody nests folders deeper than this to work in them.
const DEEPEST: usize = 200;
/// Folders that do no harm while they are empty, and of which `git` runs what is in them.
const HELD: [&str; 4] = [".git/hooks", ".git/info", ".git/modules", ".git/worktrees"];

/// What is to be kept from a command that changes the workspace itself.
#[derive(Debug)]
pub struct Fence {
    workspace: Workspace,
    /// What protected files looked like.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    /// What exists and must not change.
    pub read_only: Vec<PathBuf>,
    /// What must not come into being.
    pub absent: Vec<PathBuf>,
    /// What must not be reached: sockets, behind which somebody outside listens.
    pub masked: Vec<PathBuf>,
    /// Links that stand above something protected, or are obeyed themselves, and where they led.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl World {
    /// Looks through the caller's workspace. May block.
    pub fn fence(&self, caller: &Caller) -> Result<Fence, ToolError> {
        let workspace = self.workspace_of(caller);
        let Found { protected, sockets, link, links } = found(&workspace)?;
        if let Some(link) = link {
            return Err(ToolError::failed(format!(
                "`{}` is protected and a link, which a command in the background could replace; put \
                 in its place what it leads to, or run the command to its end",
                link.display()
            )));
        }
        let root = workspace.root.path();
        let is_repository = root.join(".git").is_dir();
        let missing = |rule: &&str| is_repository && !protected.contains(Path::new(rule));
        let read_only: Vec<_> = protected.iter().map(|path| root.join(path)).collect();
        let stamp = |path: &PathBuf| (path.clone(), Stamp::of(path));
        Ok(Fence {
            stamps: files_in(&read_only).iter().map(stamp).collect(),
            absent: HELD.into_iter().filter(missing).map(|rule| root.join(rule)).collect(),
            read_only,
            masked: sockets.iter().map(|path| root.join(path)).collect(),
            links,
            workspace,
        })
    }
}

impl Fence {
    /// What is protected and not as it was, within the workspace. May block.
    pub fn changed(&self) -> Vec<PathBuf> {
        let root = self.workspace.root.path();
        let changed = self.stamps.iter().filter(|(path, stamp)| Stamp::of(path) != *stamp);
        changed.filter_map(|(path, _)| Some(path.strip_prefix(root).ok()?.to_owned())).collect()
    }

    /// What is protected and was not there before, within the workspace. May block.
    pub fn appeared(&self) -> Result<Vec<PathBuf>, ToolError> {
        let root = self.workspace.root.path();
        let Found { protected, links, .. } = found(&self.workspace)?;
        let is_new = |path: &PathBuf| {
            !self.links.contains_key(path) && !self.read_only.contains(&root.join(path))
        };
        let changed = |(path, target): &(PathBuf, PathBuf)| self.links.get(path) != Some(target);
        let links = links.into_iter().filter(changed).map(|(path, _)| path);
        let appeared: BTreeSet<_> = protected.into_iter().filter(is_new).chain(links).collect();
        Ok(appeared.into_iter().collect())
    }
}

/// What a file is changed by.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed: (i64, i64),
    size: u64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        let changed = (found.ctime(), found.ctime_nsec());
        Some(Self { inode: found.ino(), changed, size: found.size() })
    }
}

/// These, and what is in the folders among them, as far as that is not too much.
fn files_in(paths: &[PathBuf]) -> Vec<PathBuf> {
    const MAX_FILES: usize = 10_000;
    let mut all = paths.to_vec();
    let mut next = 0;
    while let Some(path) = all.get(next).cloned().filter(|_| all.len() < MAX_FILES) {
        next += 1;
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            let entries = std::fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok);
            all.extend(entries.map(|entry| entry.path()));
        }
    }
    all
}

#[derive(Debug, Default)]
struct Found {
    protected: BTreeSet<PathBuf>,
    sockets: BTreeSet<PathBuf>,
    /// A link that is protected, if there is one.
    link: Option<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
}

fn found(workspace: &Workspace) -> Result<Found, ToolError> {
    let protected = &workspace.common.protected;
    let mut search = Search {
        protected,
        data: workspace.common.data.path().map_err(ToolError::internal)?,
        root: workspace.root.path(),
        entries: 0,
        found: Found::default(),
    };
    search.folder(workspace.root.as_fd(), Path::new(""), 0).map_err(|error| {
        let root = workspace.root.path().display();
        ToolError::failed_by(
            format!("`{root}` cannot be looked through for what is protected: {error}"),
            error,
        )
    })?;
    Ok(search.found)
}

struct Search<'a> {
    protected: &'a Protected,
    data: PathBuf,
    root: &'a Path,
    entries: usize,
    found: Found,
}

impl Search<'_> {
    fn folder(&mut self, folder: BorrowedFd<'_>, inner: &Path, depth: usize) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(io::Error::other(format!("folders are nested {DEEPEST} deep")));
        }
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(io::Error::other(format!("it has more than {MOST_ENTRIES} entries")));
            }
            let mut kind = entry.file_type();
            // Not every file system says it with the name.
            if kind == FileType::Unknown {
                let stat = statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                kind = FileType::from_raw_mode(stat.st_mode);
            }
            self.entry(folder, inner.join(OsStr::from_bytes(name)), kind, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: BorrowedFd<'_>,
        path: PathBuf,
        kind: FileType,
        depth: usize,
    ) -> io::Result<()> {
        if kind == FileType::Symlink && self.stands_above(&path) {
            let target = readlinkat(folder, path.file_name().unwrap_or_default(), Vec::new())?;
            let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
            self.found.links.insert(path, target);
        } else if self.is_protected(&path, kind) {
            if kind == FileType::Symlink {
                self.found.link = Some(path.clone());
            }
            self.found.protected.insert(path);
        } else if kind == FileType::Socket {
            self.found.sockets.insert(path);
        } else if kind == FileType::Directory && self.root.join(&path) != self.data {
            let Some(name) = path.file_name() else { return Ok(()) };
            return match open_folder(folder, name, Links::Refused) {
                Ok(inner) => self.folder(inner.as_fd(), &path, depth + 1),
                // Another file system is not part of the workspace; into what is closed to us the
                // command cannot go either.
                Err(Errno::XDEV | Errno::ACCESS | Errno::NOENT) => Ok(()),
                Err(errno) => Err(errno.into()),
            };
        }
        Ok(())
    }

    fn is_protected(&self, path: &Path, kind: FileType) -> bool {
        let Some(path) = path.to_str() else { return false };
        // Most names can be told from all rules at once.
        if !self.protected.may_end_with(path.rsplit('/').next().unwrap_or_default()) {
            return false;
        }
        let rule = if kind == FileType::Directory {
            self.protected.folder_rule(path)
        } else {
            self.protected.rule(path)
        };
        rule.or_else(|| self.protected.ask_rule(path)).is_some()
    }

    /// Whether a link at `path` stands above something protected; or is a file that people change
    /// every day, such as `CLAUDE.md` that is `AGENTS.md`. Such a link does not keep the command
    /// from running, and a change of it is told afterwards.
    fn stands_above(&self, path: &Path) -> bool {
        let Some(path) = path.to_str() else { return false };
        self.protected.rule(path).is_none()
            && (self.protected.link_rule(path).is_some() || self.protected.ask_rule(path).is_some())
    }
}
