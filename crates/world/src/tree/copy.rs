//! Copies a folder to another file system.

use std::{fs::File, io, os::fd::OwnedFd};

use rustix::{
    fs::{
        AtFlags, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat, readlinkat, statat,
        symlinkat,
    },
    path::Arg,
};

use super::{depth, hash::names};

/// Copies the folder at `name` in `from` to `new` in `to`: files, folders, links and their modes.
/// Sockets, devices and pipes are left out.
pub(super) fn copy(from: (&OwnedFd, &[u8]), to: (&OwnedFd, &[u8])) -> io::Result<()> {
    copy_at(from, to, 0)
}

fn copy_at(
    (from, name): (&OwnedFd, &[u8]),
    (to, new): (&OwnedFd, &[u8]),
    depth: usize,
) -> io::Result<()> {
    depth::check(depth)?;
    let stat = statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            mkdirat(to, new, Mode::RWXU)?;
            let (source, copied) = (folder(from, name)?, folder(to, new)?);
            for inner in names(&source)? {
                copy_at((&source, &inner), (&copied, &inner), depth + 1)?;
            }
            fchmod(&copied, Mode::from_raw_mode(fstat(&source)?.st_mode & 0o777))?;
        }
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let mut source = File::from(openat(from, name, flags, Mode::empty())?);
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let mut copied = File::from(openat(to, new, flags, Mode::RUSR | Mode::WUSR)?);
            io::copy(&mut source, &mut copied)?;
            fchmod(&copied, Mode::from_raw_mode(stat.st_mode & 0o777))?;
            copied.sync_all()?;
        }
        FileType::Symlink => {
            symlinkat(readlinkat(from, name, Vec::new())?.as_c_str(), to, new)?;
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => {}
    }
    Ok(())
}

fn folder(parent: &OwnedFd, name: impl Arg + Copy) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}
