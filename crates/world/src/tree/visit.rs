//! Goes through a folder.

use std::{
    ffi::OsStr,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use tool::Live;

use super::hash::{Hashing, Visited, names};

/// Shows `hashing` every entry beneath `folder`, without reading any file.
pub(crate) fn visit(folder: &OwnedFd, hashing: &mut Hashing<'_>) -> io::Result<()> {
    go(folder, Path::new(""), hashing)
}

fn go(folder: &OwnedFd, inner: &Path, hashing: &mut Hashing<'_>) -> io::Result<()> {
    Live::check(hashing.live).map_err(io::Error::other)?;
    for name in names(folder)? {
        let inner = inner.join(OsStr::from_bytes(&name));
        let stat = statat(folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
        (hashing.visit)(Visited { inner: &inner, stat: &stat })?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            go(&openat(folder, name.as_slice(), flags, Mode::empty())?, &inner, hashing)?;
        }
    }
    Ok(())
}
