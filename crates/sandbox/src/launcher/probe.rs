//! Tries what the kernel offers, each thing in a process of its own.

use std::{fs, io};

use rustix::{
    mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount},
    process::{
        PidfdFlags, Signal, chdir, getpid, pidfd_open, pidfd_send_signal, pivot_root,
        set_parent_process_death_signal,
    },
};

use super::identity;
use crate::{
    filter::{MemoryLimit, filter},
    sys::{self, Forked, Resource, Which},
    wire::{Failure, Identity, Sockets, Tried},
};

type Trial = fn(Identity) -> Result<(), i32>;

/// One for each of `features::FEATURES`, by the same name.
const TRIALS: &[(&str, Trial)] = &[
    ("user namespaces", |who| enter(who, 0)),
    ("mount namespaces", |who| enter(who, libc::CLONE_NEWNS)),
    ("process namespaces", first_process),
    ("network namespaces", |who| enter(who, libc::CLONE_NEWNET)),
    ("ipc namespaces", |who| enter(who, libc::CLONE_NEWIPC)),
    ("uts namespaces", |who| enter(who, libc::CLONE_NEWUTS)),
    ("cgroup namespaces", |who| enter(who, libc::CLONE_NEWCGROUP)),
    ("pivot_root", pivot),
    ("own /proc", own_proc),
    ("overlayfs", overlay),
    ("Landlock", |_| errno(sys::landlock_abi().map(drop))),
    ("seccomp", |_| {
        errno(sys::no_new_privs())?;
        errno(sys::set_filter(&filter(MemoryLimit::Counted, Sockets::Namespaced)))
    }),
    ("pidfd", |_| errno(pidfd_open(getpid(), PidfdFlags::empty()).map(drop))),
    ("close_range", |_| errno(sys::close_range(3, u32::MAX))),
    ("process limits", process_limit),
];

/// Tries everything.
pub(super) fn probe(who: Identity) -> Vec<Tried> {
    let mut tried: Vec<_> = TRIALS.iter().map(|(name, trial)| attempt(name, *trial, who)).collect();
    for feature in &mut tried {
        if feature.name == "Landlock" && feature.errno.is_none() {
            feature.note = format!("version {}", sys::landlock_abi().unwrap_or(0));
        }
    }
    tried
}

fn attempt(name: &str, trial: Trial, who: Identity) -> Tried {
    let errno = match sys::fork(0) {
        Ok(Forked::Child) => sys::exit_now(trial(who).err().unwrap_or(0)),
        Ok(Forked::Parent(child)) => match sys::reap(Which::This(child.pid)) {
            Ok(Some(reaped)) if libc::WIFEXITED(reaped.status) => {
                Some(libc::WEXITSTATUS(reaped.status)).filter(|errno| *errno != 0)
            }
            Ok(_) => Some(libc::EIO),
            Err(error) => error.raw_os_error(),
        },
        Err(error) => Some(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    Tried { name: name.to_owned(), errno, note: String::new() }
}

fn enter(who: Identity, flags: i32) -> Result<(), i32> {
    identity::assume(who).map_err(|Failure { errno, .. }| errno)?;
    if flags == 0 { Ok(()) } else { errno(sys::unshare(flags)) }
}

/// A process with numbers and mounts of its own, made as the first process of a command is.
fn first_process(who: Identity) -> Result<(), i32> {
    enter(who, 0)?;
    match errno(sys::fork(libc::CLONE_NEWPID | libc::CLONE_NEWNS))? {
        Forked::Child => sys::exit_now(0),
        Forked::Parent(child) => errno(sys::reap(Which::This(child.pid))).map(drop),
    }
}

/// A small file system to try things on, in mounts of our own.
fn foothold(who: Identity) -> Result<(), i32> {
    enter(who, libc::CLONE_NEWNS)?;
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    errno(mount_change("/", private))?;
    errno(mount("tmpfs", "/usr", "tmpfs", MountFlags::NOSUID, c"size=1m"))?;
    errno(chdir("/usr"))
}

fn pivot(who: Identity) -> Result<(), i32> {
    foothold(who)?;
    errno(pivot_root(".", "."))?;
    errno(unmount(".", UnmountFlags::DETACH))
}

fn own_proc(who: Identity) -> Result<(), i32> {
    foothold(who)?;
    errno(fs::create_dir("proc"))?;
    errno(sys::unshare(libc::CLONE_NEWPID))?;
    // Only who lives in a new process namespace can have a new `/proc`.
    let mount = |_| errno(mount("proc", "proc", "proc", MountFlags::NOSUID, None));
    attempt("", mount, who).errno.map_or(Ok(()), Err)
}

fn overlay(who: Identity) -> Result<(), i32> {
    foothold(who)?;
    for folder in ["lower", "upper", "work", "all"] {
        errno(fs::create_dir(folder))?;
    }
    let options = c"lowerdir=lower,upperdir=upper,workdir=work,userxattr,volatile";
    errno(mount("overlay", "all", "overlay", MountFlags::NOSUID, options))?;
    errno(fs::write("all/file", "text"))
}

/// Whether processes are counted by user namespace: then two fit where the user has more.
fn process_limit(who: Identity) -> Result<(), i32> {
    enter(who, 0)?;
    errno(sys::unshare(libc::CLONE_NEWUSER))?;
    errno(sys::set_limit(Resource::Processes, 2))?;
    let Forked::Parent(child) = errno(sys::fork(0))? else { wait_for_signal() };
    let third = sys::fork(0);
    let refused = match third {
        Ok(Forked::Child) => sys::exit_now(0),
        Ok(Forked::Parent(_)) => Err(libc::ENOSYS),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(()),
        Err(error) => Err(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    errno(pidfd_send_signal(&child.pidfd, Signal::KILL))?;
    errno(sys::reap(Which::This(child.pid)))?;
    refused
}

fn wait_for_signal() -> ! {
    // Not left behind if our parent dies.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    loop {
        sys::wait_child_signal(std::time::Duration::from_mins(1));
    }
}

fn errno<T, E: Into<io::Error>>(result: Result<T, E>) -> Result<T, i32> {
    result.map_err(|error| error.into().raw_os_error().unwrap_or(libc::EIO))
}
