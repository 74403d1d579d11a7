//! What is at a path before it is changed.

use std::{io::Read, os::fd::AsFd};

use rustix::{
    fs::{AtFlags, FileType, Stat, readlinkat, statat},
    io::Errno,
};
use tool::{Digest, FilePath, FileState, ToolError};

use crate::{
    beneath::{Links, NOT_REGULAR, open_file},
    problem,
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

/// Reads what is at `name` in `dir`, a link as a link.
pub(super) fn find(
    dir: impl AsFd,
    name: &str,
    path: &FilePath,
    max_bytes: u64,
) -> Result<Found, ToolError> {
    let failed = |errno: Errno| problem::writing(path, errno);
    let stat = match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(absent()),
        stat => stat.map_err(failed)?,
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => find_file(dir, name, path, max_bytes),
        FileType::Symlink => {
            let target = readlinkat(&dir, name, Vec::new()).map_err(failed)?;
            let target = target.to_string_lossy().into_owned();
            let state = FileState::Link { target };
            Ok(Found { state, content: Vec::new(), seen: Some(Seen::of(&stat)) })
        }
        FileType::Directory => Err(failed(Errno::ISDIR)),
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(failed(NOT_REGULAR)),
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
    let state = FileState::File { digest: Digest::of(&content), bytes, mode: stat.st_mode & MODE };
    Ok(Found { state, content, seen: Some(Seen::of(&stat)) })
}

fn too_large(path: &FilePath, bytes: u64, max_bytes: u64) -> ToolError {
    let hint = "it could not be kept, so changing it could not be undone".into();
    ToolError::FileTooLarge { path: path.to_string(), bytes, max_bytes, hint }
}
