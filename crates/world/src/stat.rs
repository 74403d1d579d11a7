//! What is known about a file without reading it.

use std::{
    os::fd::AsFd,
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{AtFlags, FileType, Statx, StatxFlags, StatxTimestamp, readlinkat, statx},
    io::Errno,
    path::Arg,
};
use tool::{FileKind, FileStat};

/// Looks at `name` in `dir`, a link itself and not where it points; an empty name is `dir`.
pub(crate) fn stat_at(dir: impl AsFd, name: impl Arg + Copy) -> Result<FileStat, Errno> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW;
    let found = statx(&dir, name, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?;
    let mut stat = from_statx(&found);
    if stat.kind == FileKind::Link {
        let target = readlinkat(&dir, name, Vec::new())?;
        stat.target = Some(target.to_string_lossy().into_owned());
    }
    Ok(stat)
}

/// What a kind of file is called here.
pub(crate) const fn kind(found: FileType) -> FileKind {
    match found {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => FileKind::Other,
    }
}

fn from_statx(found: &Statx) -> FileStat {
    let born = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
    FileStat {
        kind: kind(FileType::from_raw_mode(found.stx_mode.into())),
        bytes: found.stx_size,
        mode: u32::from(found.stx_mode) & 0o7777,
        uid: found.stx_uid,
        gid: found.stx_gid,
        modified: time(found.stx_mtime),
        accessed: time(found.stx_atime),
        created: born.then(|| time(found.stx_btime)),
        target: None,
    }
}

fn time(at: StatxTimestamp) -> SystemTime {
    let seconds = Duration::from_secs(at.tv_sec.unsigned_abs());
    let start = if at.tv_sec < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(seconds)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(seconds)
    };
    let whole = start.unwrap_or(SystemTime::UNIX_EPOCH);
    whole.checked_add(Duration::from_nanos(at.tv_nsec.into())).unwrap_or(whole)
}
