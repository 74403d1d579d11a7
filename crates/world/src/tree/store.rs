//! Folders that changes replaced or removed, by hash.

use std::{io, os::fd::OwnedFd, sync::Arc};

use rustix::{
    fs::{AtFlags, Timespec, Timestamps, fsync, renameat, utimensat},
    io::Errno,
};
use tool::{Clock, Digest, Live};

use super::{
    copy::copy,
    hash::{Hashed, Hashing, hash},
    remove::remove,
};
use crate::{
    beneath::{Links, open_folder},
    data::{Data, private_folder},
};

/// The store of folders. Each is in a folder of its own, so that the age of a kept one can be noted
/// without touching it.
#[derive(Debug)]
pub(crate) struct Trees {
    dir: OwnedFd,
    clock: Arc<dyn Clock>,
}

/// The name of a kept folder in its shelf.
const KEPT: &str = "tree";

impl Trees {
    pub(crate) fn open(data: &Data, clock: Arc<dyn Clock>) -> Result<Self, Errno> {
        Ok(Self { dir: data.folder("trees")?, clock })
    }

    /// Keeps the folder at `name` in `folder`; afterwards it is no longer there.
    pub(crate) fn put(&self, digest: Digest, folder: &OwnedFd, name: &str) -> io::Result<()> {
        if self.has(digest) {
            return remove(folder, name);
        }
        let shelf_name = digest.to_string();
        // What an interrupted copy left behind is in the way.
        remove(&self.dir, shelf_name.as_str())?;
        let shelf = private_folder(&self.dir, &shelf_name)?;
        match renameat(folder, name, &shelf, KEPT) {
            Err(Errno::XDEV) => {
                let partial = "copy.tmp";
                copy((folder, name.as_bytes()), (&shelf, partial.as_bytes()))?;
                renameat(&shelf, partial, &shelf, KEPT)?;
                fsync(&shelf)?;
                remove(folder, name)?;
            }
            moved => moved?,
        }
        self.touch(&shelf_name)?;
        fsync(&shelf)?;
        Ok(fsync(&self.dir)?)
    }

    /// Takes a kept folder out, to `name` in `folder`. It must be the one it was.
    pub(crate) fn take(&self, digest: Digest, folder: &OwnedFd, name: &str) -> io::Result<Hashed> {
        let shelf_name = digest.to_string();
        let shelf = open_folder(&self.dir, &*shelf_name, Links::Refused)?;
        let kept = open_folder(&shelf, KEPT, Links::Refused)?;
        let hashed = hash(&kept, &mut Hashing { live: &Live::default(), visit: &mut |_| Ok(()) })?;
        if hashed.digest != digest {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match renameat(&shelf, KEPT, folder, name) {
            Err(Errno::XDEV) => copy((&shelf, KEPT.as_bytes()), (folder, name.as_bytes()))?,
            moved => moved?,
        }
        // Only an empty shelf or one whose copy is in use elsewhere is left.
        remove(&self.dir, shelf_name.as_str())?;
        Ok(hashed)
    }

    /// Whether a folder with this hash is kept.
    pub(crate) fn has(&self, digest: Digest) -> bool {
        let shelf = open_folder(&self.dir, &*digest.to_string(), Links::Refused);
        shelf.and_then(|shelf| open_folder(&shelf, KEPT, Links::Refused)).is_ok()
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
