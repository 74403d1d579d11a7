//! Processes that have ended.
#![expect(unsafe_code, reason = "only `wait4` tells what a process used")]

use std::{io, mem::MaybeUninit, time::Duration};

use super::checked;

/// A process that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    pub(crate) status: i32,
    /// Of the process and everything it has waited for.
    pub(crate) cpu: Duration,
    pub(crate) max_rss_bytes: u64,
}

/// Which process to look for, and whether to wait.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    /// This one; waits.
    This(i32),
    /// Any that has ended already.
    AnyEnded,
}

/// Takes a child that has ended; none if none has.
pub(crate) fn reap(which: Which) -> io::Result<Option<Reaped>> {
    let (pid, options) = match which {
        Which::This(pid) => (pid, 0),
        Which::AnyEnded => (-1, libc::WNOHANG),
    };
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let answer = loop {
        // SAFETY: both pointers are to variables of the right type that outlive the call.
        let answer = unsafe { libc::wait4(pid, &raw mut status, options, usage.as_mut_ptr()) };
        match checked(answer.into()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    if answer == 0 {
        return Ok(None);
    }
    // SAFETY: all zero is a valid `rusage`, and the kernel has filled it in.
    let usage = unsafe { usage.assume_init() };
    Ok(Some(Reaped {
        pid: i32::try_from(answer).unwrap_or(-1),
        status,
        cpu: duration(usage.ru_utime) + duration(usage.ru_stime),
        max_rss_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) << 10,
    }))
}

fn duration(time: libc::timeval) -> Duration {
    let micros = time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_usec);
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// What all children that were waited for have written, with what they have waited for.
pub(crate) fn written_by_children() -> u64 {
    const BLOCK_BYTES: u64 = 512;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a variable of the right type that outlives the call.
    let answer = unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) };
    if checked(answer.into()).is_err() {
        return 0;
    }
    // SAFETY: all zero is a valid `rusage`, and the kernel has filled it in.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_oublock).unwrap_or(0).saturating_mul(BLOCK_BYTES)
}
