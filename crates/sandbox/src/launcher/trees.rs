//! Folders and files of the host, as mounts that are mounted nowhere yet.

use std::{
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
    mount::{OpenTreeFlags, open_tree},
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use super::{
    Launcher,
    root::{NODEV, NOSUID},
};
use crate::{
    Access,
    sys::{self, Attr},
    wire::{Failure, Mount, Step, Tree, What},
};

impl Launcher {
    /// Finds what a job names by path, and puts a mount of it in the place of its descriptor.
    pub(super) fn find_trees(
        &self,
        mounts: &mut [Mount],
        fds: &mut [OwnedFd],
    ) -> Result<(), Failure> {
        if !mounts.iter_mut().any(|mount| mount.trees().any(|(tree, _)| tree.path.is_some())) {
            return Ok(());
        }
        // A mount can only be copied from the mounts one is in. The parent does it if it may, and
        // otherwise we go back to the host's for it.
        enter(&self.host)?;
        let mut found = Ok(());
        for mount in mounts {
            let name = format!("take `{}`", String::from_utf8_lossy(&mount.target));
            for (tree, access) in mount.trees() {
                found = found.and_then(|()| take(tree, fds, access).step(&name));
            }
        }
        enter(&self.own)?;
        found
    }
}

impl Mount {
    /// What of the host it is made of.
    fn trees(&mut self) -> impl Iterator<Item = (&mut Tree, Access)> {
        let (one, other) = match &mut self.what {
            What::Tree { tree, access } => (Some((tree, *access)), None),
            What::Overlay { lower, layers } => {
                (Some((lower, Access::ReadOnly)), Some((layers, Access::ReadWrite)))
            }
            What::Memory { .. } => (None, None),
        };
        one.into_iter().chain(other)
    }
}

fn enter(mounts: &OwnedFd) -> Result<(), Failure> {
    move_into_link_name_space(mounts.as_fd(), Some(LinkNameSpaceType::Mount))
        .step("change the mount namespace")
}

fn take(tree: &mut Tree, fds: &mut [OwnedFd], access: Access) -> io::Result<()> {
    let Some(path) = tree.path.take() else { return Ok(()) };
    let known = fds.get_mut(tree.fd).ok_or(io::ErrorKind::InvalidData)?;
    let found = find_again(Path::new(OsStr::from_bytes(&path)), known)?;
    let clone = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    let (copy, recursive) = match open_tree(&found, "", clone) {
        Ok(copy) => (copy, 0),
        // Something is mounted beneath, which cannot be left out by who does not own the mounts.
        Err(Errno::INVAL) => {
            (open_tree(&found, "", clone | OpenTreeFlags::AT_RECURSIVE)?, libc::AT_RECURSIVE)
        }
        Err(errno) => return Err(errno.into()),
    };
    let flags = NOSUID | NODEV | access.flag();
    sys::set_attr(&copy, Attr { flags, id_map: None }, recursive)?;
    *known = copy;
    Ok(())
}

/// Opens `path` among the mounts we are in; it must be what `known` is, which was checked.
fn find_again(path: &Path, known: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let (one, other) = (fstat(&found)?, fstat(known)?);
    if (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) {
        return Ok(found);
    }
    // Moved, or mounted after this launcher was started.
    Err(Errno::STALE.into())
}
