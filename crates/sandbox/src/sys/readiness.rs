//! Descriptors that the runtime watches.
#![expect(unsafe_code, reason = "the runtime must be promised that a descriptor stays open")]

use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
};

use tokio::io::{Interest, unix::AsyncFd};

/// Watches for something to read, as long as the result lives.
pub(crate) fn watch_reading(fd: BorrowedFd<'_>) -> io::Result<AsyncFd<BorrowedFd<'_>>> {
    // SAFETY: whoever owns the descriptor cannot close it while it is borrowed.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}

/// Watches a descriptor for both directions, such as a terminal that was opened without blocking.
pub fn watch(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the result owns the descriptor, and nobody else can close it.
    Ok(unsafe { AsyncFd::register(fd) }?)
}
