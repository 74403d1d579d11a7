//! Folders that exist only as long as a command runs.

use std::{
    ffi::OsStr,
    fs, io,
    os::{
        fd::OwnedFd,
        unix::{
            ffi::{OsStrExt, OsStringExt},
            fs::DirBuilderExt,
        },
    },
    path::{Path, PathBuf},
};

use super::held::Held;
use crate::{
    Access,
    wire::{Bytes, Failure, Mount, Spec, Step, What},
};

/// What was made for one command and is removed after it, last first.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// In our own root, to mount on.
    points: Vec<(PathBuf, Kind)>,
    /// In folders of the host, in the place of what must not come into being.
    held: Vec<Held>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Folder,
    File,
}

impl Places {
    /// Makes what is missing. Gives the paths inside at which something is held.
    pub(super) fn make(&mut self, spec: &Spec, fds: &[OwnedFd]) -> Result<Vec<Bytes>, Failure> {
        for (index, mount) in spec.mounts.iter().enumerate() {
            let target = path(&mount.target);
            if covering(&spec.mounts, index).is_none() {
                let kind = if mount.is_folder() { Kind::Folder } else { Kind::File };
                self.point(target, kind)
                    .step(&format!("make a place for `{}`", target.display()))?;
            }
        }
        let mut held = Vec::new();
        for absent in &spec.absent {
            let absent = path(absent);
            let name = format!("keep `{}` from coming into being", absent.display());
            held.extend(self.hold(absent, &spec.mounts, fds).step(&name)?);
        }
        Ok(held)
    }

    /// Lets go of what was held in folders of the host.
    pub(super) fn remove_held(&mut self) -> io::Result<()> {
        self.held.drain(..).rev().try_for_each(Held::remove)
    }

    /// Removes what was mounted on.
    pub(super) fn remove_points(&mut self) -> io::Result<()> {
        self.points.drain(..).rev().try_for_each(|(path, kind)| match kind {
            Kind::Folder => fs::remove_dir(path),
            Kind::File => fs::remove_file(path),
        })
    }

    fn point(&mut self, target: &Path, kind: Kind) -> io::Result<()> {
        let mut so_far = PathBuf::new();
        for component in target.components() {
            so_far.push(component);
            if fs::symlink_metadata(&so_far).is_ok() {
                continue;
            }
            if so_far == target && matches!(kind, Kind::File) {
                fs::File::create_new(&so_far)?;
                self.points.push((so_far.clone(), Kind::File));
            } else {
                fs::DirBuilder::new().mode(0o755).create(&so_far)?;
                self.points.push((so_far.clone(), Kind::Folder));
            }
        }
        Ok(())
    }

    /// Holds the place of `absent`, if it lies in a folder of the host that can be written to.
    fn hold(
        &mut self,
        absent: &Path,
        mounts: &[Mount],
        fds: &[OwnedFd],
    ) -> io::Result<Option<Bytes>> {
        let mut over = mounts.iter().rev().filter_map(|mount| {
            let target = path(&mount.target);
            Some((target, absent.strip_prefix(target).ok()?, &mount.what))
        });
        let Some((target, beneath, what)) = over.next() else { return Ok(None) };
        // An overlay's changes are looked at before they are kept, and memory is not kept.
        let What::Tree { tree, access: Access::ReadWrite } = what else { return Ok(None) };
        let root = fds.get(tree.fd).ok_or(io::ErrorKind::InvalidData)?;
        let Some((held, part)) = Held::new(root, beneath)? else { return Ok(None) };
        self.held.push(held);
        Ok(Some(target.join(part).into_os_string().into_vec()))
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // Where nothing came of a command, nothing may be left of it on the host. Our own root goes
        // with us.
        drop(self.remove_held());
    }
}

impl Mount {
    pub(super) fn is_folder(&self) -> bool {
        match &self.what {
            What::Tree { tree, .. } => tree.is_folder,
            What::Overlay { .. } | What::Memory { .. } => true,
        }
    }
}

/// The mount whose folder the target of the mount at `index` lies in, among those before it.
pub(super) fn covering(mounts: &[Mount], index: usize) -> Option<&Mount> {
    let target = path(&mounts.get(index)?.target);
    mounts.get(..index)?.iter().rev().find(|mount| target.starts_with(path(&mount.target)))
}

pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
