//! Removes a folder with everything in it.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsRawFd as _, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, chmod, fchmod, fstat, openat, unlinkat},
    io::Errno,
    path::Arg,
};

use super::hash::names;
use crate::root::Id;

/// Descriptors kept open at once. Levels above these are reopened through `..` on the way back, so
/// the depth of a tree costs neither stack nor descriptors.
const MAX_OPEN: usize = 64;

/// A folder that is being emptied.
struct Level {
    /// Its name in the folder above.
    name: Vec<u8>,
    /// Compared when the folder is reached again through `..`.
    id: Id,
    /// Entries still to be removed.
    rest: Vec<Vec<u8>>,
}

/// Removes what is at `name` in `parent`, a folder with all that is in it, through no link. What is
/// not there is not an error. Works at any depth, in time linear in the number of entries.
pub(crate) fn remove(parent: &OwnedFd, name: impl Arg + Copy) -> io::Result<()> {
    if unlink(parent, name)? {
        return Ok(());
    }
    let first = name.into_c_str()?.to_bytes().to_vec();
    let mut open = VecDeque::new();
    let mut levels = vec![enter(parent, first, &mut open)?];
    while let Some(level) = levels.last_mut() {
        let Some(folder) = open.back() else {
            return Err(io::Error::other("no folder is open while removing one"));
        };
        if let Some(name) = level.rest.pop() {
            if !unlink(folder, name.as_slice())? {
                let inner = enter_from(folder, name)?;
                levels.push(push(inner, &mut open));
            }
            continue;
        }
        let name = std::mem::take(&mut level.name);
        levels.pop();
        let emptied = open.pop_back();
        if let Some(above) = levels.last()
            && open.is_empty()
        {
            let emptied = emptied.ok_or(io::ErrorKind::NotFound)?;
            open.push_back(reopen_above(&emptied, above.id)?);
        }
        unlinkat(open.back().unwrap_or(parent), name.as_slice(), AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// Removes what is no folder. Says whether it is gone.
fn unlink(folder: &OwnedFd, name: impl Arg + Copy) -> io::Result<bool> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR | Errno::PERM) => Ok(false),
        Err(Errno::ACCESS) => {
            // Entries of a folder without write permission cannot be removed. Where opening it up
            // is not allowed either, the second attempt says so.
            let _ = fchmod(folder, Mode::RWXU);
            match unlinkat(folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(true),
                Err(Errno::ISDIR | Errno::PERM) => Ok(false),
                Err(errno) => Err(errno.into()),
            }
        }
        Err(errno) => Err(errno.into()),
    }
}

fn enter(parent: &OwnedFd, name: Vec<u8>, open: &mut VecDeque<OwnedFd>) -> io::Result<Level> {
    Ok(push(enter_from(parent, name)?, open))
}

/// Opens the folder `name` of `parent`. One that its owner may not enter, such as the kernel's own
/// `work` folder of an overlay, is opened up first.
fn enter_from(parent: &OwnedFd, name: Vec<u8>) -> io::Result<(OwnedFd, Level)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(parent, name.as_slice(), flags, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let folder = match openat(&folder, ".", flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU)?;
            openat(&folder, ".", flags, Mode::empty())?
        }
        opened => opened?,
    };
    let stat = fstat(&folder)?;
    let rest = names(&folder)?;
    if !rest.is_empty() && stat.st_mode & 0o700 != 0o700 {
        // As above: if this is not allowed, removing says so.
        let _ = fchmod(&folder, Mode::RWXU);
    }
    let id = Id::of(&stat);
    Ok((folder, Level { name, id, rest }))
}

fn push((folder, level): (OwnedFd, Level), open: &mut VecDeque<OwnedFd>) -> Level {
    if open.len() >= MAX_OPEN {
        open.pop_front();
    }
    open.push_back(folder);
    level
}

/// Opens the folder above `folder`. If `folder` was moved meanwhile, `..` leads elsewhere, and the
/// removal ends there.
fn reopen_above(folder: &OwnedFd, expected: Id) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = openat(folder, "..", flags, Mode::empty())?;
    if Id::of(&fstat(&above)?) != expected {
        return Err(io::Error::other("a folder was moved while it was being removed"));
    }
    Ok(above)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use rustix::fs::{CWD, mkdirat};

    use super::*;

    #[test]
    fn removes_folders_of_any_depth_and_leaves_the_targets_of_links() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("kept"), "kept").unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let top = openat(CWD, temp.path(), flags, Mode::empty()).unwrap();
        let mut folder = top.try_clone().unwrap();
        for _ in 0..3_000 {
            mkdirat(&folder, "d", Mode::RWXU).unwrap();
            folder = openat(&folder, "d", flags, Mode::empty()).unwrap();
        }
        let deep = temp.path().join("d/d");
        symlink(temp.path(), deep.join("back")).unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        remove(&top, "d").unwrap();
        let left = fs::read_dir(temp.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["kept"]);
    }
}
