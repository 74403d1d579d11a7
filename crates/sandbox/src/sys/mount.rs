//! Attributes of mounts.
#![expect(unsafe_code, reason = "`mount_setattr` has no safe wrapper")]

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd},
};

use super::checked;

const ID_MAP: u64 = 0x0010_0000;

/// `struct mount_attr`.
#[repr(C)]
struct Raw {
    set: u64,
    clear: u64,
    propagation: u64,
    userns: u64,
}

/// What a mount is to become.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Attr<'a> {
    pub(crate) flags: u64,
    pub(crate) id_map: Option<BorrowedFd<'a>>,
}

/// Sets attributes of the mount `mount` is the root of, and of those beneath it if `recursive`
/// holds `AT_RECURSIVE`.
pub(crate) fn set_attr(mount: impl AsFd, attr: Attr<'_>, recursive: i32) -> io::Result<()> {
    let Attr { flags, id_map } = attr;
    let mapped = id_map.map_or(0, |_| ID_MAP);
    let userns = id_map.map_or(0, |fd| fd.as_raw_fd());
    let attr = Raw {
        set: flags | mapped,
        clear: 0,
        // What is mounted on the host later must not appear in a call that is running.
        propagation: libc::MS_PRIVATE,
        userns: u64::try_from(userns).unwrap_or(0),
    };
    // SAFETY: the path is an empty C string, and the structure is as long as we say; both outlive
    // the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const attr,
            size_of::<Raw>(),
        )
    };
    checked(answer).map(drop)
}
