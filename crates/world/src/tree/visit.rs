//! Goes through a folder.

use std::{
    ffi::OsStr,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};

use super::{
    depth,
    hash::{Hashing, Visited, names},
};

/// Shows `hashing` every entry beneath `folder`, without reading any file. Fails if folders are
/// nested more than [`depth::MAX_DEPTH`] deep.
pub(crate) fn visit(folder: &OwnedFd, hashing: &mut Hashing<'_>) -> io::Result<()> {
    let first = Level { folder: folder.try_clone()?, path: PathBuf::new(), rest: rest(folder)? };
    let mut levels = vec![first];
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.rest.pop() else {
            levels.pop();
            continue;
        };
        let path = level.path.join(OsStr::from_bytes(&name));
        if let Some(folder) = look(&level.folder, &name, &path, hashing)? {
            depth::check(levels.len())?;
            hashing.live.check().map_err(io::Error::other)?;
            levels.push(Level { rest: rest(&folder)?, folder, path });
        }
    }
    Ok(())
}

/// A folder some of whose entries are still to come.
struct Level {
    folder: OwnedFd,
    path: PathBuf,
    /// The last one comes first.
    rest: Vec<Vec<u8>>,
}

fn rest(folder: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut rest = names(folder)?;
    rest.reverse();
    Ok(rest)
}

/// Shows one entry. Opens it if it is a folder.
fn look(
    folder: &OwnedFd,
    name: &[u8],
    inner: &Path,
    hashing: &mut Hashing<'_>,
) -> io::Result<Option<OwnedFd>> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    (hashing.visit)(Visited { inner, stat: &stat })?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Ok(None);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(Some(openat(folder, name, flags, Mode::empty())?))
}
