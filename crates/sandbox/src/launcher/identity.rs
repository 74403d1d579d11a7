//! Who a launcher, and every command after it, is.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    process::{DumpableBehavior, Gid, Uid, set_dumpable_behavior},
    thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid},
};

use crate::{
    sys,
    wire::{Failure, Identity, Step},
};

/// Gives up being root for good, if we are, and enters a user namespace in which we may mount.
pub(super) fn assume(identity: Identity) -> Result<(), Failure> {
    let Identity { become_id, uid, gid } = identity;
    let (mut host_uid, mut host_gid) = (uid, gid);
    if let Some(id) = become_id {
        (host_uid, host_gid) = (id, id);
        give_up_root(id)?;
    }
    sys::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).step("a user namespace")?;
    let proc = open_proc().step("open /proc")?;
    // The kernel lets nobody choose groups who has not shown that none is lost by it.
    write(&proc, "self/setgroups", "deny").step("the user namespace's groups")?;
    map(&proc, (uid, host_uid), (gid, host_gid)).step("the user namespace's map")
}

/// Opens `/proc` for [`map`].
pub(super) fn open_proc() -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(CWD, "/proc", flags, Mode::empty())?)
}

/// Says who we are in the user namespace we have just made: inside, and in the one around it.
pub(super) fn map(proc: impl AsFd, uid: (u32, u32), gid: (u32, u32)) -> io::Result<()> {
    write(&proc, "self/uid_map", &format!("{} {} 1", uid.0, uid.1))?;
    write(&proc, "self/gid_map", &format!("{} {} 1", gid.0, gid.1))
}

/// Writes a file of `/proc` in one go, as the kernel wants it.
pub(super) fn write(proc: impl AsFd, path: &str, text: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    File::from(openat(proc, path, flags, Mode::empty())?).write_all(text.as_bytes())
}

fn give_up_root(id: u32) -> Result<(), Failure> {
    let (uid, gid) = (Uid::from_raw(id), Gid::from_raw(id));
    set_thread_groups(&[]).step("drop all groups")?;
    set_thread_res_gid(gid, gid, gid).step("the sandbox's group")?;
    set_thread_res_uid(uid, uid, uid).step("the sandbox's user")?;
    // Our files in /proc are not ours any more; without them we could not say who we are.
    set_dumpable_behavior(DumpableBehavior::Dumpable).step("own /proc/self")
}
