//! Limits of one process.
#![expect(unsafe_code, reason = "the safe wrapper panics where the kernel refuses")]

use std::{io, mem::MaybeUninit, ptr};

use super::checked;

/// What can be limited.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resource {
    Core,
    OpenFiles,
    FileSize,
    Processes,
}

impl Resource {
    const fn number(self) -> libc::__rlimit_resource_t {
        match self {
            Self::Core => libc::RLIMIT_CORE,
            Self::OpenFiles => libc::RLIMIT_NOFILE,
            Self::FileSize => libc::RLIMIT_FSIZE,
            Self::Processes => libc::RLIMIT_NPROC,
        }
    }
}

/// What this process cannot exceed by its own will.
pub(crate) fn hard_limit(resource: Resource) -> io::Result<u64> {
    let mut limit = MaybeUninit::<libc::rlimit64>::zeroed();
    // SAFETY: the kernel fills the limit in if it succeeds; all zero is a valid one too.
    let limit = unsafe {
        let answer = libc::prlimit64(0, resource.number(), ptr::null(), limit.as_mut_ptr());
        checked(answer.into())?;
        limit.assume_init()
    };
    Ok(limit.rlim_max)
}

/// Sets what it cannot exceed, now and by its own will.
pub(crate) fn set_limit(resource: Resource, to: u64) -> io::Result<()> {
    let limit = libc::rlimit64 { rlim_cur: to, rlim_max: to };
    // SAFETY: the limit is initialised and outlives the call; the old one is not asked for.
    let answer =
        unsafe { libc::prlimit64(0, resource.number(), &raw const limit, ptr::null_mut()) };
    checked(answer.into()).map(drop)
}
