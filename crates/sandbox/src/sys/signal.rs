//! Signals of a process that has one thread.
#![expect(unsafe_code, reason = "signal masks and dispositions have no safe wrapper")]

use std::{
    io,
    mem::MaybeUninit,
    os::fd::{FromRawFd, OwnedFd},
    ptr,
    time::Duration,
};

/// Keeps the news of an ended child until [`wait_child_signal`] asks for it.
pub(crate) fn hold_child_signal() {
    let set = child_set();
    // SAFETY: the set is initialised and outlives the call; the old one is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) };
}

/// A descriptor that can be read while there is news of a child, once they are held.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    let set = child_set();
    // SAFETY: the set is initialised and outlives the call, which makes a new descriptor.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC) };
    super::checked(fd.into())?;
    // SAFETY: the kernel has just given us this descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Waits until a child has ended or the time is up.
pub(crate) fn wait_child_signal(longest: Duration) {
    let set = child_set();
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: longest.subsec_nanos().into(),
    };
    // SAFETY: set and time are initialised and outlive the call; no details are asked for.
    unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const time) };
}

/// Gives every signal its usual meaning and lets all of them in, as a new program expects it.
pub(crate) fn default_signals() -> io::Result<()> {
    // SAFETY: SIG_DFL is a valid disposition for every signal; for the two that have none, and for
    // numbers that do not exist, the kernel says so and changes nothing.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    allow_signals()
}

/// Lets all signals in.
pub(crate) fn allow_signals() -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the set is initialised by `sigemptyset` before it is used, and outlives the calls.
    let answer = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, set.as_ptr(), ptr::null_mut())
    };
    super::checked(answer.into()).map(drop)
}

fn child_set() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: all zero is a valid set, and both calls only write into it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        set.assume_init()
    }
}
