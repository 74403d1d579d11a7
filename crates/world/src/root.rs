//! One directory tree that paths cannot leave.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use rustix::{
    fs::{Mode, OFlags, Stat, fstat},
    io::Errno,
};

use crate::{
    WorldError,
    beneath::{self, Links, path_of},
    data::Data,
};

/// Tells files apart, whatever they are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Id {
    pub(crate) const fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }
}

/// A directory tree. The handle is kept, so moving the folder does not move the border.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    /// As configuration names it.
    given: PathBuf,
    /// With links resolved, when it was opened.
    path: PathBuf,
    pub(crate) id: Id,
    /// What must not be seen in it.
    hidden: Option<Arc<Data>>,
    /// Held while files in it change, besides the lock that other processes see.
    pub(crate) changing: Mutex<()>,
    /// Where overlays of it are made, once one was.
    pub(crate) overlays: OnceLock<Arc<OwnedFd>>,
}

impl Root {
    /// Opens the tree at `path`, in which `data` is invisible.
    pub(crate) fn open(path: &Path, data: &Arc<Data>) -> Result<Self, WorldError> {
        let failed =
            |errno: Errno| WorldError::Root { path: path.to_owned(), source: errno.into() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        let root = Self::new(fd, path, Some(data.clone())).map_err(failed)?;
        if data.hides(&root.path).map_err(failed)? {
            return Err(WorldError::RootInData { path: path.to_owned() });
        }
        Ok(root)
    }

    /// A tree of our own in the data folder, which callers know as `name`.
    pub(crate) fn private(fd: OwnedFd, name: &str) -> Result<Self, Errno> {
        Self::new(fd, Path::new(name), None)
    }

    fn new(fd: OwnedFd, given: &Path, hidden: Option<Arc<Data>>) -> Result<Self, Errno> {
        let (path, id) = (path_of(&fd)?, Id::of(&fstat(&fd)?));
        let (changing, overlays) = (Mutex::new(()), OnceLock::new());
        Ok(Self { fd, given: given.to_owned(), path, id, hidden, changing, overlays })
    }

    /// Where it was when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The rest of `path` beneath this root and how long the part before is, by component.
    pub(crate) fn strip<'p>(&self, path: &'p Path) -> Option<(usize, &'p Path)> {
        let names = [self.given.as_path(), self.path.as_path()];
        let found = |name: &Path| Some((name.components().count(), path.strip_prefix(name).ok()?));
        names.into_iter().find_map(found)
    }

    /// Where an open file is now, within this root. What must not be seen does not exist.
    pub(crate) fn inner(&self, fd: impl AsFd) -> Result<PathBuf, Errno> {
        let path = path_of(fd)?;
        if self.hides(&path)? {
            return Err(Errno::NOENT);
        }
        path.strip_prefix(path_of(&self.fd)?).map(Path::to_owned).map_err(|_| Errno::XDEV)
    }

    /// What to say instead of `errno`: of what must not be seen not even its kind is told.
    pub(crate) fn discreet(&self, inner: &str, errno: Errno) -> Errno {
        let open =
            |above: &Path| beneath::open(&self.fd, above, OFlags::PATH, Links::Followed).ok();
        match Path::new(inner).ancestors().find_map(open).map(|fd| self.inner(&fd)) {
            Some(Err(Errno::NOENT)) => Errno::NOENT,
            Some(_) | None => errno,
        }
    }

    /// Whether nothing in this root may see `inner`.
    pub(crate) fn hides_inner(&self, inner: &Path) -> Result<bool, Errno> {
        self.hides(&path_of(&self.fd)?.join(inner))
    }

    /// What must not be seen in it.
    pub(crate) fn hidden(&self) -> Option<Id> {
        self.hidden.as_ref().map(|data| data.id)
    }

    fn hides(&self, path: &Path) -> Result<bool, Errno> {
        self.hidden.as_ref().map_or(Ok(false), |data| data.hides(path))
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
