//! New processes.
#![expect(unsafe_code, reason = "a process with namespaces of its own can only be made by `clone`")]

use std::{
    ffi::{c_int, c_void},
    io,
    os::fd::{FromRawFd, OwnedFd},
    ptr,
};

use super::checked;

/// A process we made.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

/// Which of the two we are after a [`fork`].
#[derive(Debug)]
pub(crate) enum Forked {
    /// The one that called.
    Parent(Child),
    /// The new one.
    Child,
}

/// Forks, with new namespaces as `flags` say. The caller must have one thread only.
pub(crate) fn fork(flags: c_int) -> io::Result<Forked> {
    let mut pidfd: c_int = -1;
    let flags = libc::c_long::from(flags | libc::CLONE_PIDFD | libc::SIGCHLD);
    let nothing = ptr::null_mut::<c_void>();
    // SAFETY: without CLONE_VM the child gets copies of everything, and without a stack it goes on
    // with its copy of this one. There is one thread, so no lock is held by a thread that is gone.
    // The fourth and fifth argument are swapped on some machines, and null either way.
    let answer =
        unsafe { libc::syscall(libc::SYS_clone, flags, nothing, &raw mut pidfd, nothing, nothing) };
    let pid = checked(answer)?;
    if pid == 0 {
        return Ok(Forked::Child);
    }
    // SAFETY: the kernel has just given us this descriptor, and nobody else knows of it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Forked::Parent(Child { pid: i32::try_from(pid).unwrap_or(-1), pidfd }))
}

/// Runs `task` in a new process that shares our memory, and waits until it has called `exec` or
/// ended. No page table is copied, which is most of what a fork costs.
pub(crate) fn run_and_wait(task: &mut dyn FnMut() -> c_int) -> io::Result<Child> {
    extern "C" fn enter(task: *mut c_void) -> c_int {
        let task = task.cast::<&mut dyn FnMut() -> c_int>();
        // SAFETY: it points to the argument of `run_and_wait`, which waits until we have ended, and
        // it alone knows of it.
        unsafe { (*task)() }
    }
    const STACK: usize = 256 << 10;
    let mut stack = Vec::<u128>::with_capacity(STACK / size_of::<u128>());
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    let mut task = task;
    let mut pidfd: c_int = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the child runs on a stack of its own, which outlives it because CLONE_VFORK makes us
    // wait; while it runs we do not, so nothing is touched by two at once.
    let answer =
        unsafe { libc::clone(enter, top.cast(), flags, (&raw mut task).cast(), &raw mut pidfd) };
    let pid = checked(answer.into())?;
    // SAFETY: the kernel has just given us this descriptor, and nobody else knows of it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Child { pid: i32::try_from(pid).unwrap_or(-1), pidfd })
}

/// Ends this process without running anything that was registered for its end.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: it does not return, and touches no memory of ours.
    unsafe { libc::_exit(code) }
}
