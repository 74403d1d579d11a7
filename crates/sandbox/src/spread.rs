//! A folder in which many folders come and go.

use std::{io, os::fd::AsFd};

use rustix::{
    fs::{IFlags, ioctl_getflags, ioctl_setflags},
    io::Errno,
};

/// Makes a folder fit for holding the layers of overlays, one for each call.
///
/// ext4 keeps what is in one folder close together on the disk, and does not use the place of a
/// deleted file again for some minutes. Where folders come and go all the time it then has to look at
/// thousands of such places for each new one: mounting an overlay takes ten times as long. In a folder
/// with this mark, new folders are spread over the disk. Other file systems have no need of it.
pub fn spread(folder: impl AsFd) -> io::Result<()> {
    let mark = || ioctl_setflags(&folder, ioctl_getflags(&folder)? | IFlags::TOPDIR);
    match mark() {
        Ok(()) | Err(Errno::NOTTY | Errno::OPNOTSUPP | Errno::INVAL) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
