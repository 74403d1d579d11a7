//! The one network interface a command has.
#![expect(unsafe_code, reason = "an interface is brought up by `ioctl`")]

use std::{
    ffi::c_short,
    io,
    os::fd::{AsFd, AsRawFd},
};

use super::checked;

/// Brings up `lo` of the network namespace that `socket` was made in.
pub(crate) fn bring_up_loopback(socket: impl AsFd) -> io::Result<()> {
    let mut name = [0; libc::IFNAMSIZ];
    for (to, from) in name.iter_mut().zip(*b"lo") {
        *to = libc::c_char::try_from(from).unwrap_or(0);
    }
    let flags = c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    let request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_flags: flags },
    };
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the request is of the type this call wants, initialised, and outlives it.
    let answer = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw const request) };
    checked(answer.into()).map(drop)
}
