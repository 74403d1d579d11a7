//! Makes what comes out of a sandbox harmless.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat, chmodat, fchmod, fgetxattr, fremovexattr, openat},
    io::Errno,
};

/// Bits that are never kept: setuid, setgid, sticky.
const SPECIAL: u32 = 0o7000;
/// What the kernel writes to the files of an overlay.
const MARKS: [&str; 8] = [
    "user.overlay.opaque",
    "user.overlay.origin",
    "user.overlay.impure",
    "user.overlay.nlink",
    "user.overlay.uuid",
    "user.overlay.protattr",
    "user.overlay.redirect",
    "user.overlay.metacopy",
];

/// What an entry of the upper folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    /// What was there is gone.
    Whiteout,
    /// A device, a socket, a pipe.
    Other,
}

impl Kind {
    pub(super) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::CharacterDevice if stat.st_rdev == 0 => Self::Whiteout,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Other,
        }
    }
}

/// Opens a file or a folder of the upper layer and takes away what must not come out: special mode
/// bits, and the kernel's own marks. One that nobody may read is opened all the same.
pub(crate) fn open_tidy(folder: &OwnedFd, name: &[u8], stat: &Stat) -> io::Result<OwnedFd> {
    let mode = stat.st_mode & 0o7777;
    let (opened, readable) = open_readable(folder, name, stat)?;
    remove_marks(&opened, mode | readable | 0o200)?;
    fchmod(&opened, Mode::from_raw_mode(mode & !SPECIAL))?;
    Ok(opened)
}

/// The same, but leaves the kernel's marks.
pub(super) fn open_tidy_mode(folder: &OwnedFd, name: &[u8], stat: &Stat) -> io::Result<OwnedFd> {
    let (opened, _) = open_readable(folder, name, stat)?;
    fchmod(&opened, Mode::from_raw_mode(stat.st_mode & 0o7777 & !SPECIAL))?;
    Ok(opened)
}

/// Opens an entry, and says which mode bits it takes to read it.
fn open_readable(folder: &OwnedFd, name: &[u8], stat: &Stat) -> io::Result<(OwnedFd, u32)> {
    let mode = stat.st_mode & 0o7777;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let readable = if Kind::of(stat) == Kind::Folder { 0o500 } else { 0o400 };
    let opened = match openat(folder, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let wider = Mode::from_raw_mode(mode | readable);
            chmodat(folder, name, wider, AtFlags::empty())?;
            openat(folder, name, flags, Mode::empty())?
        }
        opened => opened?,
    };
    Ok((opened, readable))
}

fn remove_marks(opened: &OwnedFd, writable: u32) -> io::Result<()> {
    for mark in MARKS {
        match fremovexattr(opened, mark) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            // Without write permission the kernel lets nobody but root remove it.
            Err(Errno::ACCESS | Errno::PERM) => {
                fchmod(opened, Mode::from_raw_mode(writable))?;
                match fremovexattr(opened, mark) {
                    Ok(()) | Err(Errno::NODATA) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Whether the kernel marked an entry so: `opaque` hides what is beneath, `origin` came from there.
pub(super) fn is_marked(entry: impl AsFd, mark: &str) -> bool {
    let mut value = [0; 64];
    fgetxattr(entry, format!("user.overlay.{mark}"), &mut value).is_ok()
}
