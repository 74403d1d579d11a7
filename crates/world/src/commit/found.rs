//! What is at a path before it is changed.

use std::{
    io::{self, Read},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, FileType, Stat, readlinkat, statat},
    io::Errno,
};
use tool::{Digest, FilePath, FileState, Live, ToolError};

use super::wanted::Moment;
use crate::{
    beneath::{Links, NOT_REGULAR, open_file, open_folder},
    problem,
    tree::{Hashing, Visited, hash},
};

/// Permission bits that are kept; setuid, setgid and sticky bits are not.
pub(super) const MODE: u32 = 0o777;

/// What is at a path.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) state: FileState,
    /// The content of a file.
    pub(super) content: Vec<u8>,
    pub(super) seen: Option<Seen>,
}

/// Enough to notice that somebody touched a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    inode: u64,
    bytes: i64,
    modified: (i64, u64),
    /// Owner and group.
    pub(super) owner: (u32, u32),
}

impl Seen {
    /// What is at `name` in `dir` now.
    pub(super) fn at(dir: impl AsFd, name: &str) -> Result<Self, Errno> {
        statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| Self::of(&stat))
    }

    fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            bytes: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            owner: (stat.st_uid, stat.st_gid),
        }
    }
}

/// How to look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finding<'a> {
    pub(super) path: &'a FilePath,
    pub(super) max_bytes: u64,
    pub(super) folders: AsFolder,
    /// What changed after this was changed by somebody else.
    pub(super) since: Option<Moment>,
    pub(super) live: &'a Live,
}

/// What a folder is taken as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AsFolder {
    /// An error.
    Refused,
    /// A folder, whatever is in it.
    Itself,
    /// A folder with everything in it.
    Tree,
}

impl AsFolder {
    /// What a recorded change took it as.
    pub(super) fn recorded(change: &tool::Change) -> Self {
        let states = [&change.before, &change.after];
        if states.iter().any(|state| matches!(state, FileState::Folder { .. })) {
            Self::Itself
        } else if states.iter().any(|state| matches!(state, FileState::Tree { .. })) {
            Self::Tree
        } else {
            Self::Refused
        }
    }
}

/// Reads what is at `name` in `dir`, a link as a link.
pub(super) fn find(dir: &OwnedFd, name: &str, how: Finding<'_>) -> Result<Found, ToolError> {
    let path = how.path;
    let failed = |errno: Errno| problem::writing(path, errno);
    let stat = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(absent()),
        stat => stat.map_err(failed)?,
    };
    how.refuse_changed(&stat)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => find_file(dir, name, path, how.max_bytes),
        FileType::Symlink => {
            let target = readlinkat(dir, name, Vec::new()).map_err(failed)?;
            let target = target.to_string_lossy().into_owned();
            let state = FileState::Link { target };
            Ok(Found { state, content: Vec::new(), seen: Some(Seen::of(&stat)) })
        }
        FileType::Directory => {
            let state = match how.folders {
                AsFolder::Refused => return Err(failed(Errno::ISDIR)),
                AsFolder::Itself => FileState::Folder { mode: stat.st_mode & MODE },
                AsFolder::Tree => how.tree(dir, name)?,
            };
            Ok(Found { state, content: Vec::new(), seen: Some(Seen::of(&stat)) })
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(failed(NOT_REGULAR)),
    }
}

impl Finding<'_> {
    fn refuse_changed(&self, stat: &Stat) -> Result<(), ToolError> {
        if self.since.is_some_and(|since| Moment::of(stat) > since) {
            return Err(problem::changed_since(self.path));
        }
        Ok(())
    }

    fn tree(&self, dir: &OwnedFd, name: &str) -> Result<FileState, ToolError> {
        let mut visit = |visited: Visited<'_>| match self.since {
            Some(since) if Moment::of(visited.stat) > since => {
                let inner = visited.inner.to_string_lossy();
                Err(io::Error::other(problem::changed_since(&self.path.join(&inner))))
            }
            _ => Ok(()),
        };
        let mut hashing = Hashing { live: self.live, visit: &mut visit };
        let hashed = open_folder(dir, name, Links::Refused)
            .map_err(io::Error::from)
            .and_then(|folder| hash(&folder, &mut hashing));
        hashed.map(FileState::from).map_err(|error| match error.downcast::<ToolError>() {
            Ok(refused) => refused,
            Err(error) => problem::writing(self.path, error),
        })
    }
}

/// What is found where nothing is.
pub(super) const fn absent() -> Found {
    Found { state: FileState::Absent, content: Vec::new(), seen: None }
}

fn find_file(
    dir: impl AsFd,
    name: &str,
    path: &FilePath,
    max_bytes: u64,
) -> Result<Found, ToolError> {
    let opened = open_file(dir, name, Links::Refused);
    let (file, stat) = opened.map_err(|errno| problem::writing(path, errno))?;
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    let mut content = Vec::new();
    if size <= max_bytes {
        // One byte more than allowed: the file may grow while we read.
        let read = file.take(max_bytes.saturating_add(1)).read_to_end(&mut content);
        read.map_err(|source| problem::writing(path, source))?;
    }
    let bytes = size.max(content.len() as u64);
    if bytes > max_bytes {
        return Err(too_large(path, bytes, max_bytes));
    }
    let bytes = content.len() as u64;
    let state =
        FileState::File { digest: Digest::of_content(&content), bytes, mode: stat.st_mode & MODE };
    Ok(Found { state, content, seen: Some(Seen::of(&stat)) })
}

fn too_large(path: &FilePath, bytes: u64, max_bytes: u64) -> ToolError {
    let hint = "it could not be kept, so changing it could not be undone".into();
    ToolError::FileTooLarge { path: path.to_string(), bytes, max_bytes, hint }
}
