//! Copies a folder with everything in it.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, SeekFrom, Stat, Timespec, Timestamps, Uid,
        XattrFlags, chownat, fchmod, fgetxattr, flistxattr, fsetxattr, ftruncate, futimens,
        ioctl_ficlone, linkat, mkdirat, mknodat, openat, readlinkat, seek, statat, symlinkat,
        utimensat,
    },
    io::Errno,
    process::{getegid, geteuid},
};

use super::{depth, hash::names};
use crate::{commit::step, data::private_file};

/// Permission bits that are copied; setuid, setgid and sticky bits never are.
const MODE: u32 = 0o777;

/// A name in an open folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TreePlace<'a> {
    pub(crate) folder: &'a OwnedFd,
    pub(crate) name: &'a [u8],
}

/// How the files of a copied folder come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyFiles {
    /// Files of their own, which share blocks where the file system can (`FICLONE`).
    Copied,
    /// Second names for the same files where that is possible. Only for originals that go soon.
    Linked,
}

/// Copies the folder at `from` to `to`, where nothing may be: files, folders, links, pipes and
/// sockets, with their modes and times, and their owners where the system allows it.
///
/// Nothing is synced.
pub(crate) fn copy_tree(
    from: TreePlace<'_>,
    to: TreePlace<'_>,
    files: CopyFiles,
) -> io::Result<()> {
    let mut levels = vec![Level::enter(from, to)?];
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.rest.pop() else {
            level.finish()?;
            levels.pop();
            continue;
        };
        step();
        let source = TreePlace { folder: &level.source, name: &name };
        let copied = TreePlace { folder: &level.copied, name: &name };
        let stat = statat(source.folder, source.name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let inner = Level::enter(source, copied)?;
            depth::check(levels.len())?;
            levels.push(inner);
        } else if files == CopyFiles::Linked {
            link_entry(source, copied)?;
        } else {
            copy_entry(source, copied, &stat)?;
        }
    }
    Ok(())
}

/// Gives a file or link a second name; copies it where the system refuses that.
pub(crate) fn link_entry(from: TreePlace<'_>, to: TreePlace<'_>) -> io::Result<()> {
    match linkat(from.folder, from.name, to.folder, to.name, AtFlags::empty()) {
        Err(Errno::PERM | Errno::MLINK | Errno::XDEV | Errno::OPNOTSUPP) => {
            let stat = statat(from.folder, from.name, AtFlags::SYMLINK_NOFOLLOW)?;
            copy_entry(from, to, &stat)
        }
        linked => Ok(linked?),
    }
}

/// Copies a file, link, pipe, socket or device.
fn copy_entry(from: TreePlace<'_>, to: TreePlace<'_>, stat: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => drop(copy_file(from, to, stat)?),
        FileType::Symlink => {
            let target = readlinkat(from.folder, from.name, Vec::new())?;
            symlinkat(target.as_c_str(), to.folder, to.name)?;
            give_away(to, stat);
            utimensat(to.folder, to.name, &times(stat), AtFlags::SYMLINK_NOFOLLOW)?;
        }
        kind @ (FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice) => {
            let mode = Mode::from_raw_mode(stat.st_mode & MODE);
            mknodat(to.folder, to.name, kind, mode, stat.st_rdev)?;
        }
        // Named in the hash of its folder, so leaving it out would not go unnoticed.
        FileType::Directory | FileType::Unknown => return Err(Errno::OPNOTSUPP.into()),
    }
    Ok(())
}

/// Copies a regular file to a new one.
pub(super) fn copy_file(from: TreePlace<'_>, to: TreePlace<'_>, stat: &Stat) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let source = File::from(openat(from.folder, from.name, flags, Mode::empty())?);
    let copied = private_file(to.folder, to.name)?;
    // Without blocks of its own there is nothing to share.
    if stat.st_size > 0 && ioctl_ficlone(&copied, &source).is_err() {
        copy_content(&source, &copied, stat)?;
    }
    copy_attributes(&source, &copied);
    give_away(to, stat);
    fchmod(&copied, Mode::from_raw_mode(stat.st_mode & MODE))?;
    futimens(&copied, &times(stat))?;
    Ok(copied)
}

/// Copies the bytes of a file, and leaves holes where it has some.
fn copy_content(mut source: &File, mut copied: &File, stat: &Stat) -> io::Result<()> {
    const BLOCK: i64 = 512;
    if stat.st_blocks.saturating_mul(BLOCK) >= stat.st_size {
        io::copy(&mut source, &mut copied)?;
        return Ok(());
    }
    let size = u64::try_from(stat.st_size).unwrap_or_default();
    ftruncate(copied, size)?;
    let mut at = 0;
    while at < size {
        let (begin, end) = match seek(source, SeekFrom::Data(at)) {
            Ok(begin) => (begin, seek(source, SeekFrom::Hole(begin))?.min(size)),
            // The rest is one hole.
            Err(Errno::NXIO) => break,
            // The file system does not tell where its holes are.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => (at, size),
            Err(errno) => return Err(errno.into()),
        };
        source.seek(io::SeekFrom::Start(begin))?;
        copied.seek(io::SeekFrom::Start(begin))?;
        io::copy(&mut source.take(end.saturating_sub(begin)), &mut copied)?;
        at = end.max(at + 1);
    }
    Ok(())
}

/// Copies attributes that users set; the kernel's own marks of an overlay stay behind. Losing one is
/// no reason to lose the file.
fn copy_attributes(source: impl AsFd, copied: impl AsFd) {
    let mut list = vec![0; 4096];
    let Ok(count) = flistxattr(&source, &mut list) else { return };
    let names = list.get(..count).unwrap_or_default().split(|byte| *byte == 0);
    let mine = |name: &&[u8]| name.starts_with(b"user.") && !name.starts_with(b"user.overlay.");
    for name in names.filter(mine) {
        let mut value = vec![0; 65_536];
        if let Ok(count) = fgetxattr(&source, name, &mut value) {
            let value = value.get(..count).unwrap_or_default();
            let _ = fsetxattr(&copied, name, value, XattrFlags::empty());
        }
    }
}

/// Gives a copy to the owner of the original. Only root may, so a failure is not an error.
fn give_away(place: TreePlace<'_>, stat: &Stat) {
    if (stat.st_uid, stat.st_gid) != (geteuid().as_raw(), getegid().as_raw()) {
        let owner = (Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)));
        let _ = chownat(place.folder, place.name, owner.0, owner.1, AtFlags::SYMLINK_NOFOLLOW);
    }
}

fn times(stat: &Stat) -> Timestamps {
    let time = |seconds, nanos: u64| Timespec {
        tv_sec: seconds,
        tv_nsec: nanos.try_into().unwrap_or_default(),
    };
    Timestamps {
        last_access: time(stat.st_atime, stat.st_atime_nsec),
        last_modification: time(stat.st_mtime, stat.st_mtime_nsec),
    }
}

/// A folder some of whose entries are still to be copied.
struct Level {
    source: OwnedFd,
    copied: OwnedFd,
    stat: Stat,
    rest: Vec<Vec<u8>>,
}

impl Level {
    fn enter(from: TreePlace<'_>, to: TreePlace<'_>) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let source = openat(from.folder, from.name, flags, Mode::empty())?;
        // Closed to others and open to us until everything is in it.
        mkdirat(to.folder, to.name, Mode::RWXU)?;
        let copied = openat(to.folder, to.name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&source)?;
        give_away(to, &stat);
        let rest = names(&source)?;
        Ok(Self { source, copied, stat, rest })
    }

    /// The mode of a folder may forbid to put anything in it, so it comes last.
    fn finish(&self) -> io::Result<()> {
        copy_attributes(&self.source, &self.copied);
        fchmod(&self.copied, Mode::from_raw_mode(self.stat.st_mode & MODE))?;
        Ok(futimens(&self.copied, &times(&self.stat))?)
    }
}
