//! Opening without leaving a folder. The kernel decides; comparing strings would race with links.

use std::{
    ffi::OsString,
    fs::File,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::PathBuf,
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2, readlinkat},
    io::Errno,
    path::Arg,
};

/// What happens to links on the way. A link at the very end is a matter of `O_NOFOLLOW`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// They are followed as long as they stay beneath.
    Followed,
    /// There may be none.
    Refused,
}

/// Nothing else says this without `O_TMPFILE`, so it can stand for "not a regular file".
pub(crate) const NOT_REGULAR: Errno = Errno::OPNOTSUPP;

// A rename elsewhere in the tree makes the kernel give up on `..`; it rarely happens twice.
const TRIES: usize = 64;

/// Opens `path` beneath `dir`: not outside, not on another file system, not through `/proc`.
pub(crate) fn open(
    dir: impl AsFd,
    path: impl Arg + Copy,
    flags: OFlags,
    links: Links,
) -> Result<OwnedFd, Errno> {
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    let resolve = match links {
        Links::Followed => inside,
        Links::Refused => inside | ResolveFlags::NO_SYMLINKS,
    };
    // Without NONBLOCK, opening a FIFO waits for a writer, for ever.
    let extra = if flags.contains(OFlags::PATH) {
        OFlags::CLOEXEC
    } else {
        OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
    };
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = openat2(&dir, path, flags | extra, Mode::empty(), resolve);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

/// Opens a regular file for reading.
pub(crate) fn open_file(
    dir: impl AsFd,
    path: impl Arg + Copy,
    links: Links,
) -> Result<(File, Stat), Errno> {
    let last = match links {
        Links::Followed => OFlags::empty(),
        Links::Refused => OFlags::NOFOLLOW,
    };
    let fd = open(dir, path, OFlags::RDONLY | last, links)?;
    let stat = fstat(&fd)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok((fd.into(), stat)),
        FileType::Directory => Err(Errno::ISDIR),
        FileType::Symlink
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => Err(NOT_REGULAR),
    }
}

/// Opens a folder whose entries can be listed, changed and synced.
pub(crate) fn open_folder(
    dir: impl AsFd,
    path: impl Arg + Copy,
    links: Links,
) -> Result<OwnedFd, Errno> {
    open(dir, path, OFlags::RDONLY | OFlags::DIRECTORY, links)
}

/// Where an open file is now, links resolved.
pub(crate) fn path_of(fd: impl AsFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let target = readlinkat(CWD, link, Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}
