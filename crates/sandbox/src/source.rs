//! Folders and files of the host, opened before anything happens with them.

use std::{
    ffi::OsString,
    io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStringExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat},
    io::Errno,
    mount::{OpenTreeFlags, open_tree},
};

use crate::{
    Access, SandboxError, Source,
    id_map::IdMaps,
    sys::{self, Attr},
    wire::Tree,
};

const NOSUID: u64 = 2;
const NODEV: u64 = 4;

/// Something of the host that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) fd: OwnedFd,
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) owner: (u32, u32),
    pub(crate) mode: u32,
}

impl Opened {
    pub(crate) fn new(source: Source) -> Result<Self, SandboxError> {
        let (fd, named) = match source {
            Source::Fd(fd) => (fd, None),
            Source::Path(path) => {
                let fd = open(&path);
                let fd = fd.map_err(|e| SandboxError::Source { path: path.clone(), source: e })?;
                (fd, Some(path))
            }
        };
        let failed = |errno: Errno| SandboxError::Source {
            path: named.clone().unwrap_or_else(|| format!("descriptor {}", fd.as_raw_fd()).into()),
            source: errno.into(),
        };
        let stat = fstat(&fd).map_err(failed)?;
        let path = path_of(&fd).map_err(failed)?;
        let is_folder = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => true,
            FileType::RegularFile => false,
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return Err(failed(Errno::INVAL)),
        };
        let (owner, mode) = ((stat.st_uid, stat.st_gid), stat.st_mode & 0o777);
        Ok(Self { fd, path, is_folder, owner, mode })
    }

    pub(crate) fn folder(source: Source) -> Result<Self, SandboxError> {
        let opened = Self::new(source)?;
        if opened.is_folder {
            return Ok(opened);
        }
        let source = io::Error::from(io::ErrorKind::NotADirectory);
        Err(SandboxError::Source { path: opened.path, source })
    }

    /// What a launcher is told, with the descriptor to send along.
    ///
    /// Root hands over a mount in which files of `owner` belong to the sandbox's user. Others cannot
    /// make one, and need not: the launcher is the same user, finds the path again and compares.
    pub(crate) fn into_tree(
        self,
        maps: Option<&IdMaps>,
        owner: (u32, u32),
        access: Access,
        fds: &mut Vec<OwnedFd>,
    ) -> Result<Tree, SandboxError> {
        let is_folder = self.is_folder;
        let (fd, path) = match maps {
            None => (self.fd, Some(self.path.into_os_string().into_vec())),
            Some(maps) => {
                let mapped = mapped(&self.fd, maps, owner, access);
                let failed = |source| SandboxError::Source { path: self.path, source };
                (mapped.map_err(failed)?, None)
            }
        };
        fds.push(fd);
        Ok(Tree { fd: fds.len() - 1, path, is_folder })
    }
}

/// Tries id-mapped mounts on the root folder; says what is worth knowing.
pub(crate) fn try_mapping(maps: &IdMaps) -> io::Result<&'static str> {
    let root = open(Path::new("/"))?;
    let map = maps.get((0, 0))?;
    let clone = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(&root, "", clone)?;
    let attr = Attr { flags: NOSUID | NODEV, id_map: Some(map.as_fd()) };
    match sys::set_attr(&tree, attr, 0) {
        Ok(()) => Ok("tried on `/`"),
        // The kernel can, this file system cannot; the one of a workspace may.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok("but not on `/`"),
        Err(error) => Err(error),
    }
}

fn mapped(fd: &OwnedFd, maps: &IdMaps, owner: (u32, u32), access: Access) -> io::Result<OwnedFd> {
    let map = maps.get(owner)?;
    let flags = NOSUID | NODEV | access.flag();
    let clone = || {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH;
        open_tree(fd, "", flags)
    };
    let tree = clone()?;
    match sys::set_attr(&tree, Attr { flags, id_map: Some(map.as_fd()) }, 0) {
        Ok(()) => Ok(tree),
        // Not every file system can do it. What cannot be written can be shown as it is: then only
        // what everybody may read can be read.
        Err(_) if access != Access::ReadWrite => {
            let tree = clone()?;
            sys::set_attr(&tree, Attr { flags, id_map: None }, 0)?;
            Ok(tree)
        }
        Err(error) => Err(io::Error::new(
            error.kind(),
            format!(
                "its file system cannot be shared with the sandbox's user (id-mapped mounts): {error}"
            ),
        )),
    }
}

/// Opens what `path` names, if there is no link in it.
fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::LOOP) => Err(io::Error::other("a part of it is a link; name the real path")),
        other => Ok(other?),
    }
}

/// Where an open file is now.
fn path_of(fd: &OwnedFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let target = readlinkat(CWD, link, Vec::new())?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}
