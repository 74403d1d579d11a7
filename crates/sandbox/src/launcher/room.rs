//! What a command sees: the mounts of its job on top of the root it starts from.
//!
//! All of this happens in the first process, among mounts that are its own copy.

use std::{
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, mkdirat, open, openat2},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MoveMountFlags, OpenTreeFlags,
        fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount,
        mount_bind, move_mount, open_tree,
    },
};

use super::{
    guard::guard,
    places::{covering, path},
    root::{EMPTY_FILE, EMPTY_FOLDER, RDONLY},
};
use crate::{
    Access,
    sys::{self, Attr},
    wire::{Bytes, Failure, Mount, Spec, Step, Tree, What},
};

/// Files of `/proc` that tell about the whole machine and that no tool needs.
const HIDDEN: &[&str] = &[
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
];

/// A place that can be written to, for the rules that come on top.
#[derive(Debug)]
pub(super) struct Writable {
    pub(super) root: OwnedFd,
    pub(super) is_folder: bool,
    /// Where bytes end up on a disk, if they do.
    pub(super) disk: Option<OwnedFd>,
}

/// Mounts what every command has of its own.
pub(super) fn prepare() -> Result<(), Failure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount("proc", "/proc", "proc", flags, None).step("mount /proc")?;
    for file in HIDDEN {
        match mount_bind(EMPTY_FILE, *file) {
            Err(Errno::NOENT) | Ok(()) => {}
            Err(errno) => return Err(errno).step("hide files of /proc"),
        }
    }
    let root = open_path(Path::new("/")).step("find the root folder")?;
    sys::set_attr(root, Attr { flags: RDONLY, id_map: None }, 0).step("protect the root folder")
}

/// Mounts everything a job names.
pub(super) fn furnish(
    spec: &Spec,
    held: &[Bytes],
    fds: &mut [Option<OwnedFd>],
) -> Result<Vec<Writable>, Failure> {
    let mut writable = Vec::new();
    for (index, mount) in spec.mounts.iter().enumerate() {
        let name = format!("mount `{}`", path(&mount.target).display());
        let place = place(&spec.mounts, index).step(&name)?;
        writable.extend(put(mount, &place, fds).step(&name)?);
    }
    let shared = fresh_memory(spec.limits.shared_bytes).step("mount /dev/shm")?;
    attach(&shared, open_path(Path::new("/dev/shm")).step("find /dev/shm")?)
        .step("mount /dev/shm")?;
    writable.push(Writable { root: shared, is_folder: true, disk: None });
    guard(spec, held)?;
    Ok(writable)
}

/// Finds the place to mount on, or makes it if it lies in another mount of the job.
fn place(mounts: &[Mount], index: usize) -> io::Result<OwnedFd> {
    let mount = mounts.get(index).ok_or(io::ErrorKind::InvalidData)?;
    let target = path(&mount.target);
    let Some(covering) = covering(mounts, index) else { return open_path(target) };
    let covering = path(&covering.target);
    let mut folder = open_path(covering)?;
    let mut parts = target.strip_prefix(covering).unwrap_or(target).components().peekable();
    while let Some(part) = parts.next() {
        // A link in a folder that others can change may lead anywhere.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let find = || openat2(&folder, part, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
        let found = match find() {
            Err(Errno::NOENT) => {
                let made = if !mount.is_folder() && parts.peek().is_none() {
                    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                    rustix::fs::openat(&folder, part, flags, Mode::from_raw_mode(0o644)).map(drop)
                } else {
                    mkdirat(&folder, part, Mode::from_raw_mode(0o755))
                };
                match made {
                    // Another job of the session may have made it just now; it is looked at like any that was there.
                    Ok(()) | Err(Errno::EXIST) => find()?,
                    Err(errno) => return Err(errno.into()),
                }
            }
            other => other?,
        };
        folder = found;
    }
    Ok(folder)
}

fn put(
    mount: &Mount,
    place: &OwnedFd,
    fds: &mut [Option<OwnedFd>],
) -> io::Result<Option<Writable>> {
    let mut take = |tree: &Tree| -> io::Result<OwnedFd> {
        let fd = fds.get_mut(tree.fd).and_then(Option::take);
        fd.ok_or_else(|| io::ErrorKind::InvalidData.into())
    };
    match &mount.what {
        What::Tree { tree, access } => {
            let root = take(tree)?;
            attach(&root, place)?;
            if *access == Access::ReadOnlyWithoutSockets && tree.is_folder {
                attach(&shown(&root)?, &root)?;
            }
            let disk = Some(root.try_clone()?);
            let writable = Writable { root, is_folder: tree.is_folder, disk };
            Ok(Some(writable).filter(|_| *access == Access::ReadWrite))
        }
        What::Memory { max_bytes } => {
            let root = fresh_memory(*max_bytes)?;
            attach(&root, place)?;
            Ok(Some(Writable { root, is_folder: true, disk: None }))
        }
        What::Overlay { lower, layers } => {
            let (lower, layers) = (take(lower)?, take(layers)?);
            // Both lie beneath what is mounted on top of them, where nobody reaches them any more.
            attach(&lower, place)?;
            attach(&layers, &lower)?;
            let root = overlay(&lower, &layers)?;
            attach(&root, &layers)?;
            Ok(Some(Writable { root, is_folder: true, disk: Some(layers) }))
        }
    }
}

fn overlay(lower: &OwnedFd, layers: &OwnedFd) -> io::Result<OwnedFd> {
    let (lower, layers) = (lower.as_raw_fd(), layers.as_raw_fd());
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // Names of descriptors, because a real path may hold what separates layers.
    fsconfig_set_string(&overlay, "lowerdir", format!("/proc/self/fd/{lower}"))?;
    fsconfig_set_string(&overlay, "upperdir", format!("/proc/self/fd/{layers}/upper"))?;
    fsconfig_set_string(&overlay, "workdir", format!("/proc/self/fd/{layers}/work"))?;
    fsconfig_set_flag(&overlay, "userxattr")?;
    // Unmounting would sync the disk. Who keeps the changes makes them durable.
    fsconfig_set_flag(&overlay, "volatile")?;
    mounted(&overlay)
}

/// The same folder once more, as files of another file system, which nobody listens on.
fn shown(folder: &OwnedFd) -> io::Result<OwnedFd> {
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    // There must be two.
    let layers = format!("/proc/self/fd/{}:{EMPTY_FOLDER}", folder.as_raw_fd());
    fsconfig_set_string(&overlay, "lowerdir", layers)?;
    fsconfig_set_flag(&overlay, "userxattr")?;
    mounted(&overlay)
}

fn fresh_memory(max_bytes: u64) -> io::Result<OwnedFd> {
    const PAGE: u64 = 4096;
    let memory = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&memory, "size", max_bytes.max(PAGE).to_string())?;
    // An entry costs memory too, which no size counts.
    fsconfig_set_string(&memory, "nr_inodes", (max_bytes / PAGE).max(64).to_string())?;
    fsconfig_set_string(&memory, "mode", "1777")?;
    mounted(&memory)
}

fn mounted(file_system: &OwnedFd) -> io::Result<OwnedFd> {
    fsconfig_create(file_system)?;
    let attr = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(file_system, FsMountFlags::FSMOUNT_CLOEXEC, attr)?)
}

pub(super) fn copy(of: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(of, "", flags)?)
}

pub(super) fn attach(tree: &OwnedFd, place: impl AsFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", place, "", flags)?)
}

pub(super) fn open_path(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}
