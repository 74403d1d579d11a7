//! Removes a folder with everything in it.

use std::{io, os::fd::OwnedFd};

use rustix::{
    fs::{AtFlags, Mode, OFlags, fchmod, openat, unlinkat},
    io::Errno,
    path::Arg,
};

use super::hash::names;

/// Removes what is at `name` in `parent`, a folder with all that is in it, through no link. What is
/// not there is not an error.
pub(crate) fn remove(parent: &OwnedFd, name: impl Arg + Copy) -> io::Result<()> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(errno.into()),
    }
    // A folder that nobody may enter, such as one of the kernel's own, is opened up first.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(parent, name, flags, Mode::empty())?;
    let folder = match openat(&folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder));
            rustix::fs::chmod(link, Mode::RWXU)?;
            openat(&folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?
        }
        opened => opened?,
    };
    let inside = names(&folder)?;
    if !inside.is_empty() {
        // What is in a folder without write permission could not be removed. Where this is not
        // allowed, removing says so.
        let _ = fchmod(&folder, Mode::RWXU);
    }
    for inner in inside {
        remove(&folder, inner.as_slice())?;
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}
