//! Empty folders in the place of what must not come into being.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, Dir, FlockOperation, Mode, OFlags, ResolveFlags, flock, fstat, mkdirat, openat2,
        unlinkat,
    },
    io::Errno,
};

/// A mode that nobody else gives a folder, so that ours can be told from others.
const MODE: u32 = 0o1555;
const FOLDER: u32 = 0o040_000;
const TRIES: usize = 100;

/// A folder that holds a place. Several calls may hold the same one; the last one removes it.
#[derive(Debug)]
pub(super) struct Held {
    parent: OwnedFd,
    name: OsString,
    /// Locked, shared by all who hold it.
    folder: OwnedFd,
}

impl Held {
    /// Holds the place of the first missing part of `path` beneath `root`. Gives that part as well;
    /// nothing if all of it exists.
    pub(super) fn new(root: &OwnedFd, path: &Path) -> io::Result<Option<(Self, PathBuf)>> {
        // Who removes a folder may come between any two steps of ours.
        for _ in 0..TRIES {
            match Self::attempt(root, path) {
                Err(Errno::AGAIN | Errno::EXIST | Errno::NOENT) => {}
                other => return Ok(other?),
            }
        }
        Err(Errno::AGAIN.into())
    }

    fn attempt(root: &OwnedFd, path: &Path) -> Result<Option<(Self, PathBuf)>, Errno> {
        let mut parent = open(root, OsStr::new("."), OFlags::PATH)?;
        let mut so_far = PathBuf::new();
        for component in path.components() {
            let Component::Normal(name) = component else { return Ok(None) };
            so_far.push(name);
            match open(&parent, name, OFlags::PATH) {
                Ok(found) if !is_ours(&found)? => parent = found,
                Ok(_) => return Self::join(parent, name).map(|held| Some((held, so_far))),
                Err(Errno::NOENT) => {
                    mkdirat(&parent, name, Mode::from_raw_mode(MODE))?;
                    return Self::join(parent, name).map(|held| Some((held, so_far)));
                }
                // A file or a link is in the way: nothing can come into being beneath it.
                Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(errno) => return Err(errno),
            }
        }
        Ok(None)
    }

    /// Locks a folder that was there a moment ago, and makes sure that it still is.
    fn join(parent: OwnedFd, name: &OsStr) -> Result<Self, Errno> {
        let folder = open(&parent, name, OFlags::RDONLY | OFlags::DIRECTORY)?;
        flock(&folder, FlockOperation::LockShared)?;
        let again = open(&parent, name, OFlags::PATH)?;
        if fstat(&again)?.st_ino != fstat(&folder)?.st_ino {
            return Err(Errno::AGAIN);
        }
        Ok(Self { parent, name: name.to_owned(), folder })
    }

    /// Removes it, unless another call holds it too.
    pub(super) fn remove(self) -> io::Result<()> {
        match flock(&self.folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Ok(()),
            other => other?,
        }
        match unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            // Somebody outside has removed it, or has put something there.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

fn is_ours(folder: &OwnedFd) -> Result<bool, Errno> {
    if fstat(folder)?.st_mode != FOLDER | MODE {
        return Ok(false);
    }
    let open = open(folder, OsStr::new("."), OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut names = Dir::read_from(&open)?.filter_map(Result::ok);
    Ok(!names.any(|entry| entry.file_name() != c"." && entry.file_name() != c".."))
}

fn open(folder: impl AsFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat2(folder, name, flags, Mode::empty(), ResolveFlags::BENEATH)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_place_is_held_until_the_last_one_lets_go() {
        let temp = tempfile::tempdir().unwrap();
        let root: OwnedFd = fs::File::open(temp.path()).unwrap().into();
        let hold = || Held::new(&root, Path::new("a/b")).unwrap();
        let ((one, at), (two, _)) = (hold().unwrap(), hold().unwrap());
        assert_eq!(at, Path::new("a"));
        one.remove().unwrap();
        assert!(temp.path().join("a").exists());
        two.remove().unwrap();
        assert!(!temp.path().join("a").exists());
    }

    #[test]
    fn what_exists_is_not_held() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("a/b")).unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let root: OwnedFd = fs::File::open(temp.path()).unwrap().into();
        assert!(Held::new(&root, Path::new("a/b")).unwrap().is_none());
        assert!(Held::new(&root, Path::new("file/b")).unwrap().is_none());
        let (held, at) = Held::new(&root, Path::new("a/b/c/d")).unwrap().unwrap();
        assert_eq!(at, Path::new("a/b/c"));
        held.remove().unwrap();
    }
}
