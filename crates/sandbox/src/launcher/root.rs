//! The root file system every command starts from.
//!
//! It is built once per launcher; a command gets a copy of the mounts, so that only what the job
//! names has to be mounted for it.

use std::{
    fs, io,
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, OpenOptionsExt, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, open},
    mount::{
        MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
        mount_change, move_mount, open_tree, unmount,
    },
    process::{chdir, pivot_root},
};

use super::etc;
use crate::{
    sys::{self, Attr},
    wire::{Failure, SetUp, Step},
};

pub(super) const RDONLY: u64 = 1;
pub(super) const NOSUID: u64 = 2;
pub(super) const NODEV: u64 = 4;
const NOEXEC: u64 = 8;

/// What hides a file, and what hides a folder.
pub(super) const EMPTY_FILE: &str = "/.empty/file";
pub(super) const EMPTY_FOLDER: &str = "/.empty/folder";

const FOLDERS: &[&str] = &[
    ".empty/folder",
    "dev/pts",
    "dev/shm",
    "etc",
    "home",
    "proc",
    "root",
    "run",
    "sys",
    "tmp",
    "var/tmp",
];

const DEVICES: &[&str] = &["full", "null", "random", "tty", "urandom", "zero"];

const LINKS: &[(&str, &str)] = &[
    ("dev/fd", "/proc/self/fd"),
    ("dev/ptmx", "pts/ptmx"),
    ("dev/stderr", "/proc/self/fd/2"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("var/run", "/run"),
];

// Anything that certainly exists; all that is needed from beneath it has been taken before.
const FOOTHOLD: &str = "/usr";

/// The mounts of this process, to come back to.
pub(super) fn mounts_of_this_process() -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    open("/proc/self/ns/mnt", flags, Mode::empty()).step("open the mount namespace")
}

/// The mounts of a process of ours.
pub(super) fn mounts_of(pid: i32) -> io::Result<OwnedFd> {
    Ok(open(format!("/proc/{pid}/ns/mnt"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Leaves the mounts of the host for a root file system of our own.
pub(super) fn build(set_up: &SetUp) -> Result<(), Failure> {
    sys::unshare(libc::CLONE_NEWNS).step("a mount namespace")?;
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).step("keep mounts to ourselves")?;
    let mut parts = system(set_up)?;
    etc::collect(set_up, &mut parts)?;

    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", FOOTHOLD, "tmpfs", flags, c"size=16m,mode=755").step("mount the root folder")?;
    chdir(FOOTHOLD).step("enter the root folder")?;
    skeleton().step("fill the root folder")?;
    for (place, part) in parts {
        part.put(Path::new(&place)).step(&format!("put `{place}` in its place"))?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("devpts", "dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")
        .step("mount /dev/pts")?;
    pivot_root(".", ".").step("pivot_root")?;
    unmount(".", UnmountFlags::DETACH).step("leave the host's root")?;
    chdir("/").step("enter the new root")
}

/// Who is who inside. Written again when the home folder changes.
pub(super) fn name_user(set_up: &SetUp, home: &[u8]) -> io::Result<()> {
    let (uid, gid) = (set_up.identity.uid, set_up.identity.gid);
    let home = if home.is_empty() { b"/" } else { home };
    let mut passwd = format!("agent:x:{uid}:{gid}:agent:").into_bytes();
    passwd.extend(home);
    passwd.extend(b":/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n");
    fs::write("/etc/passwd", passwd)?;
    fs::write("/etc/group", format!("agent:x:{gid}:\nnogroup:x:65534:\n"))
}

/// Something of the host on its way to its place.
#[derive(Debug)]
pub(super) enum Part {
    Folder(OwnedFd),
    File(OwnedFd),
    Copy(Vec<u8>),
    Link(PathBuf),
}

/// What goes where, relative to the root.
pub(super) type Parts = Vec<(String, Part)>;

impl Part {
    /// Takes what is at `path`, as a link if it is one; nothing if there is nothing.
    pub(super) fn take(path: &Path, flags: u64) -> Result<Option<Self>, Failure> {
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(None) };
        let name = format!("take `{}`", path.display());
        let part = if found.is_symlink() {
            Self::Link(fs::read_link(path).step(&name)?)
        } else if found.is_dir() {
            // What is mounted beneath cannot be left out by who does not own the mounts.
            let all = (OpenTreeFlags::AT_RECURSIVE, libc::AT_RECURSIVE);
            Self::Folder(detach(path, flags, all).step(&name)?)
        } else {
            Self::File(detach(path, flags, (OpenTreeFlags::empty(), 0)).step(&name)?)
        };
        Ok(Some(part))
    }

    fn put(self, place: &Path) -> io::Result<()> {
        let tree = match self {
            Self::Copy(content) => return write_file(place, &content),
            Self::Link(target) => {
                make_parent(place)?;
                return symlink(target, place);
            }
            Self::Folder(tree) => {
                fs::create_dir_all(place)?;
                tree
            }
            Self::File(tree) => {
                write_file(place, b"")?;
                tree
            }
        };
        move_mount(&tree, "", CWD, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        Ok(())
    }
}

/// The folders of the system, or the links that stand for them, and the devices.
fn system(set_up: &SetUp) -> Result<Parts, Failure> {
    let mut parts = Parts::new();
    for path in &set_up.system {
        let place = path.strip_prefix("/").unwrap_or(path).to_string_lossy().into_owned();
        let part = Part::take(path, RDONLY | NOSUID | NODEV)?;
        parts.extend(part.map(|part| (place, part)));
    }
    // The host's, for the launcher: it may not make one, because the processes it is about are the
    // host's too. Each command gets its own on top of it.
    parts.extend(Part::take(Path::new("/proc"), 0)?.map(|part| ("proc".to_owned(), part)));
    for name in DEVICES {
        let part = Part::take(&Path::new("/dev").join(name), NOSUID | NOEXEC)?;
        parts.extend(part.map(|part| (format!("dev/{name}"), part)));
    }
    Ok(parts)
}

fn skeleton() -> io::Result<()> {
    for folder in FOLDERS {
        fs::create_dir_all(folder)?;
    }
    write_file(Path::new(EMPTY_FILE.trim_start_matches('/')), b"")?;
    for (link, target) in LINKS {
        symlink(target, link)?;
    }
    Ok(())
}

fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    make_parent(path)?;
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(path)?;
    io::Write::write_all(&mut file, content)
}

fn make_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(Ok(()), |parent| fs::DirBuilder::new().recursive(true).mode(0o755).create(parent))
}

/// A copy of the mount at `path` that is mounted nowhere yet.
fn detach(path: &Path, flags: u64, all: (OpenTreeFlags, i32)) -> io::Result<OwnedFd> {
    let clone = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(CWD, path, clone | all.0 | OpenTreeFlags::AT_SYMLINK_NOFOLLOW)?;
    sys::set_attr(&tree, Attr { flags, id_map: None }, all.1)?;
    Ok(tree)
}
