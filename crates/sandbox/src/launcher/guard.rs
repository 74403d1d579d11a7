//! Paths in a workspace that must not change, must look empty, or must not come into being.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2},
    io::Errno,
};

use super::{
    places::path,
    room::{attach, copy, open_path},
    root::{EMPTY_FILE, EMPTY_FOLDER, RDONLY},
};
use crate::{
    Access,
    sys::{self, Attr},
    wire::{Bytes, Failure, Mount, Spec, Step, What},
};

/// What is found at a path.
enum Spot {
    /// This.
    Found(OwnedFd),
    /// Nothing.
    Missing,
    /// A file is where a folder would have to be.
    Blocked,
    /// A link is in it. What it leads to can be guarded, but the link itself can be replaced.
    Link,
}

/// Guards everything a job names. `held` are folders that stand for what must not come into being.
pub(super) fn guard(spec: &Spec, held: &[Bytes]) -> Result<(), Failure> {
    let read_only = spec.read_only.iter().chain(&spec.absent).map(|bytes| path(bytes));
    let masked = spec.masked.iter().map(|bytes| path(bytes));
    let held = held.iter().map(|bytes| path(bytes));
    let mut pinned = Vec::new();
    for target in read_only.clone().chain(masked.clone()).chain(held.clone()) {
        pin_parents(target, &spec.mounts, &mut pinned)
            .step(&format!("pin the folders above `{}`", target.display()))?;
    }
    for target in held.clone() {
        hide(target).step(&format!("hold `{}`", target.display()))?;
    }
    for target in read_only {
        if !held.clone().any(|held| target.starts_with(held)) {
            protect(target, &spec.mounts).step(&format!("protect `{}`", target.display()))?;
        }
    }
    for target in masked {
        hide(target).step(&format!("mask `{}`", target.display()))?;
    }
    Ok(())
}

/// What is mounted on cannot be renamed, but a folder above it can, with everything in it; and
/// another one can be put in its place. So those are mounted on themselves.
fn pin_parents(target: &Path, mounts: &[Mount], pinned: &mut Vec<PathBuf>) -> io::Result<()> {
    let Some(mount) = above(target, mounts) else { return Ok(()) };
    let is_read_only = match &mount.what {
        What::Tree { access, .. } => *access != Access::ReadWrite,
        What::Overlay { .. } | What::Memory { .. } => false,
    };
    if is_read_only {
        // Nothing can be renamed there.
        return Ok(());
    }
    let parents = target.ancestors().skip(1).take_while(|parent| *parent != path(&mount.target));
    for parent in parents.collect::<Vec<_>>().into_iter().rev() {
        if pinned.iter().any(|known| known == parent) {
            continue;
        }
        let Spot::Found(folder) = find(parent)? else { return Ok(()) };
        attach(&copy(&folder)?, &folder)?;
        pinned.push(parent.to_owned());
    }
    Ok(())
}

fn protect(target: &Path, mounts: &[Mount]) -> io::Result<()> {
    match find(target)? {
        Spot::Found(found) => {
            let copy = copy(&found)?;
            sys::set_attr(&copy, Attr { flags: RDONLY, id_map: None }, libc::AT_RECURSIVE)?;
            attach(&copy, &found)
        }
        // As long as that file stays, nothing can be there.
        Spot::Blocked => target.parent().map_or(Ok(()), |parent| protect(parent, mounts)),
        Spot::Link if lasts(target, mounts) => Err(Errno::LOOP.into()),
        Spot::Missing | Spot::Link => Ok(()),
    }
}

fn hide(target: &Path) -> io::Result<()> {
    let found = match find(target)? {
        Spot::Found(found) => found,
        Spot::Missing | Spot::Blocked => return Ok(()),
        Spot::Link => return Err(Errno::LOOP.into()),
    };
    let is_folder = FileType::from_raw_mode(fstat(&found)?.st_mode) == FileType::Directory;
    let nothing = if is_folder { EMPTY_FOLDER } else { EMPTY_FILE };
    let copy = copy(&open_path(Path::new(nothing))?)?;
    sys::set_attr(&copy, Attr { flags: RDONLY, id_map: None }, 0)?;
    attach(&copy, &found)
}

/// Whether what happens to this path has happened to the host. An overlay's changes are looked at
/// before they are kept.
fn lasts(target: &Path, mounts: &[Mount]) -> bool {
    above(target, mounts).is_some_and(|mount| match &mount.what {
        What::Tree { access, .. } => *access == Access::ReadWrite,
        What::Overlay { .. } | What::Memory { .. } => false,
    })
}

/// The mount of the job that `target` lies in.
fn above<'a>(target: &Path, mounts: &'a [Mount]) -> Option<&'a Mount> {
    let holds = |mount: &&Mount| {
        let top = path(&mount.target);
        target.starts_with(top) && target != top
    };
    mounts.iter().rev().find(holds)
}

fn find(target: &Path) -> io::Result<Spot> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(CWD, target, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(found) => match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Symlink => Ok(Spot::Link),
            FileType::Directory
            | FileType::RegularFile
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Ok(Spot::Found(found)),
        },
        Err(Errno::NOENT) => Ok(Spot::Missing),
        Err(Errno::NOTDIR) => Ok(Spot::Blocked),
        Err(Errno::LOOP) => Ok(Spot::Link),
        Err(errno) => Err(errno.into()),
    }
}
