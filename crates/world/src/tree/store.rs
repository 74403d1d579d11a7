//! Folders that changes replaced or removed, by hash, so that equal ones are kept once.
//!
//! A kept folder leaves the store only when it is pruned. Undo gets a copy: other calls may have
//! removed an equal folder, and an undo that is interrupted must find it again.

use std::{io, os::fd::OwnedFd, path::Path, sync::Arc};

use rustix::{
    fs::{AtFlags, Timespec, Timestamps, fsync, renameat, syncfs, utimensat},
    io::Errno,
};
use tool::{Clock, Digest, Live};

use super::{
    copy::{CopyFiles, TreePlace, copy_tree},
    hash::{Hashed, Hashing, hash},
    links::separate_links,
    remove::remove,
};
use crate::{
    beneath::{Links, open_folder},
    commit::step,
    data::{Data, private_folder},
};

/// The store of folders. Each is in a shelf, a folder of its own, so that the age of a kept one can
/// be noted without touching it.
#[derive(Debug)]
pub(crate) struct Trees {
    dir: OwnedFd,
    clock: Arc<dyn Clock>,
}

/// The name of a kept folder in its shelf.
const KEPT: &str = "tree";
/// The name of one that is still being copied there.
const PARTIAL: &str = "copy.tmp";

impl Trees {
    pub(crate) fn open(data: &Data, clock: Arc<dyn Clock>) -> Result<Self, Errno> {
        Ok(Self { dir: data.folder("trees")?, clock })
    }

    /// Keeps the folder at `name` in `folder`, whose hash is `digest`; afterwards it is no longer
    /// there. At every moment all of it is there or all of it is kept.
    pub(crate) fn put(&self, digest: Digest, folder: &OwnedFd, name: &str) -> io::Result<()> {
        let place = TreePlace { folder, name: name.as_bytes() };
        let shelf_name = digest.to_string();
        if self.is_intact(digest) {
            self.touch(&shelf_name)?;
            return discard(folder, name);
        }
        // A copy that was interrupted, or a kept folder that was damaged.
        remove(&self.dir, shelf_name.as_str())?;
        let shelf = private_folder(&self.dir, &shelf_name)?;
        step();
        match take_in(place, &shelf) {
            // Another file system, or a folder without write permission, which only root may move.
            Err(Errno::XDEV | Errno::ACCESS | Errno::PERM) => {
                self.copy_in(digest, place, &shelf)?;
                step();
                discard(folder, name)?;
            }
            moved => moved?,
        }
        self.touch(&shelf_name)?;
        fsync(&shelf)?;
        Ok(fsync(&self.dir)?)
    }

    fn copy_in(&self, digest: Digest, place: TreePlace<'_>, shelf: &OwnedFd) -> io::Result<()> {
        let partial = TreePlace { folder: shelf, name: PARTIAL.as_bytes() };
        copy_tree(place, partial, CopyFiles::Copied)?;
        let copied = open_folder(shelf, PARTIAL, Links::Refused)?;
        if hash_of(&copied)?.digest != digest {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // On the disk before the original goes.
        syncfs(shelf)?;
        renameat(shelf, PARTIAL, shelf, KEPT)?;
        fsync(shelf)?;
        Ok(fsync(&self.dir)?)
    }

    /// Copies a kept folder to `name` in `folder`, and says what it is. Fails with
    /// [`io::ErrorKind::InvalidData`] if it is not what it was.
    pub(crate) fn copy_out(
        &self,
        digest: Digest,
        folder: &OwnedFd,
        name: &str,
    ) -> io::Result<Hashed> {
        let shelf = open_folder(&self.dir, &*digest.to_string(), Links::Refused)?;
        let kept = TreePlace { folder: &shelf, name: KEPT.as_bytes() };
        let copied = TreePlace { folder, name: name.as_bytes() };
        copy_tree(kept, copied, CopyFiles::Copied)?;
        let hashed = hash_of(&open_folder(folder, name, Links::Refused)?)?;
        if hashed.digest != digest {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(hashed)
    }

    /// Whether a folder with this hash is kept. It may have been damaged since.
    pub(crate) fn has(&self, digest: Digest) -> bool {
        self.kept(digest).is_ok()
    }

    /// Whether a folder with this hash is kept and still what it was. Reads all of it.
    pub(crate) fn is_intact(&self, digest: Digest) -> bool {
        let hashed = self.kept(digest).map_err(io::Error::from).and_then(|kept| hash_of(&kept));
        hashed.is_ok_and(|hashed| hashed.digest == digest)
    }

    /// Whether a shelf on the disk holds a whole folder, not the rest of a copy that was interrupted.
    pub(crate) fn is_shelf_complete(shelf: &Path) -> bool {
        shelf.join(KEPT).is_dir()
    }

    fn kept(&self, digest: Digest) -> Result<OwnedFd, Errno> {
        let shelf = open_folder(&self.dir, &*digest.to_string(), Links::Refused)?;
        open_folder(&shelf, KEPT, Links::Refused)
    }

    /// Notes when it was last needed.
    fn touch(&self, shelf: &str) -> io::Result<()> {
        let now = self.clock.now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let time = Timespec {
            tv_sec: i64::try_from(now.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(now.subsec_nanos()),
        };
        let times = Timestamps { last_access: time, last_modification: time };
        Ok(utimensat(&self.dir, shelf, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }
}

/// Moves a folder to its shelf.
fn take_in(place: TreePlace<'_>, shelf: &OwnedFd) -> Result<(), Errno> {
    separate_links(place).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    renameat(place.folder, place.name, shelf, KEPT)
}

/// Removes a folder that is kept elsewhere. It gets another name first: one that is half removed
/// must not be taken for the folder it was.
fn discard(folder: &OwnedFd, name: &str) -> io::Result<()> {
    let doomed = format!("{name}.drop");
    remove(folder, doomed.as_str())?;
    renameat(folder, name, folder, &doomed)?;
    step();
    remove(folder, doomed.as_str())
}

fn hash_of(folder: &OwnedFd) -> io::Result<Hashed> {
    hash(folder, &mut Hashing { live: &Live::default(), visit: &mut |_| Ok(()) })
}
