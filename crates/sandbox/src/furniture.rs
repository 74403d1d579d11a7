//! The mounts of a job: everything it names is opened here, before anything happens with it.

use std::{
    os::fd::{AsRawFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, Uid, chmodat, chownat, mkdirat, open},
    io::Errno,
};

use crate::{
    Access, Bind, Changes, SandboxError, Scratch, Source, Workspace,
    id_map::IdMaps,
    source::Opened,
    spec::inside,
    wire::{Mount, What},
};

/// Places that are the sandbox's own.
const RESERVED: &[&str] = &["/proc", "/dev", "/.empty"];

/// The mounts of a job in the making.
pub(crate) struct Furniture<'a> {
    maps: Option<&'a IdMaps>,
    most_memory: u64,
    fds: Vec<OwnedFd>,
    mounts: Vec<Mount>,
}

impl<'a> Furniture<'a> {
    /// `maps` are there if we are root; no folder in memory gets more than `most_memory`.
    pub(crate) fn new(maps: Option<&'a IdMaps>, most_memory: u64) -> Self {
        Self { maps, most_memory, fds: Vec::new(), mounts: Vec::new() }
    }

    /// All of it, in the order in which it can be mounted, and the descriptors it names.
    pub(crate) fn finish(mut self) -> (Vec<Mount>, Vec<OwnedFd>) {
        self.mounts.sort_by_key(|mount| mount.target.split(|byte| *byte == b'/').count());
        (self.mounts, self.fds)
    }

    fn add(&mut self, target: &Path, what: What) -> Result<(), SandboxError> {
        let target = place(target)?;
        self.mounts.push(Mount { target, what });
        Ok(())
    }

    fn tree(&mut self, target: &Path, opened: Opened, access: Access) -> Result<(), SandboxError> {
        let owner = opened.owner;
        let tree = opened.into_tree(self.maps, owner, access, &mut self.fds)?;
        self.add(target, What::Tree { tree, access })
    }

    pub(crate) fn scratch(&mut self, target: &Path, scratch: Scratch) -> Result<(), SandboxError> {
        match scratch {
            Scratch::Memory { max_bytes } => {
                self.add(target, What::Memory { max_bytes: max_bytes.min(self.most_memory) })
            }
            Scratch::Folder(source) => {
                self.tree(target, Opened::folder(source)?, Access::ReadWrite)
            }
        }
    }

    pub(crate) fn bind(&mut self, bind: Bind) -> Result<(), SandboxError> {
        let Bind { source, target, access } = bind;
        self.tree(&target, Opened::new(source)?, access)
    }

    pub(crate) fn workspace(&mut self, workspace: Workspace) -> Result<(), SandboxError> {
        let Workspace { source, target, mode } = workspace;
        let lower = Opened::folder(source)?;
        match mode {
            // Somebody outside may listen on a socket in it.
            Changes::Refused => self.tree(&target, lower, Access::ReadOnlyWithoutSockets),
            Changes::Direct => self.tree(&target, lower, Access::ReadWrite),
            Changes::Overlay { layers } => {
                let layers = self.layers(layers, &lower)?;
                let owner = lower.owner;
                let layers =
                    layers.into_tree(self.maps, owner, Access::ReadWrite, &mut self.fds)?;
                let lower = lower.into_tree(self.maps, owner, Access::ReadOnly, &mut self.fds)?;
                self.add(&target, What::Overlay { lower, layers })
            }
        }
    }

    /// The folders of an overlay. Its root looks as `upper` does, so that is made to look like the
    /// workspace; and as root, what is to be written must belong to who owns the workspace.
    fn layers(&self, source: Source, workspace: &Opened) -> Result<Opened, SandboxError> {
        let layers = Opened::folder(source)?;
        let make = || -> Result<(), Errno> {
            // A descriptor that was only opened as a path has no right to do anything.
            let path = format!("/proc/self/fd/{}", layers.fd.as_raw_fd());
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let folder = open(path, flags, Mode::empty())?;
            let mode = Mode::from_raw_mode(workspace.mode);
            let look_alike = || chmodat(&folder, "upper", mode, AtFlags::empty());
            match look_alike() {
                Err(Errno::NOENT) => {
                    for name in ["upper", "work"] {
                        mkdirat(&folder, name, Mode::from_raw_mode(0o700))?;
                    }
                    look_alike()?;
                }
                other => other?,
            }
            if self.maps.is_some() {
                let (uid, gid) = workspace.owner;
                let owner = (Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)));
                for name in ["", "upper", "work"] {
                    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
                    chownat(&folder, name, owner.0, owner.1, flags)?;
                }
            }
            Ok(())
        };
        match make() {
            Ok(()) => Ok(layers),
            Err(errno) => Err(SandboxError::Source { path: layers.path, source: errno.into() }),
        }
    }
}

/// A path something can be mounted on.
fn place(path: &Path) -> Result<Vec<u8>, SandboxError> {
    let bytes = inside(path)?;
    if path.parent().is_none() || RESERVED.iter().any(|reserved| path.starts_with(reserved)) {
        return Err(SandboxError::Invalid(format!("nothing can be put on `{}`", path.display())));
    }
    Ok(bytes)
}
