//! Names a folder by everything in it.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::Path,
};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use tool::{Digest, FileState, Live};

use super::{depth, file::hash_file};

/// Permission bits that count; setuid, setgid and sticky bits are never kept.
const MODE: u32 = 0o777;

/// What was come by on the way, by its path within the folder.
#[derive(Debug)]
pub(crate) struct Visited<'a> {
    pub(crate) inner: &'a Path,
    pub(crate) stat: &'a Stat,
}

/// How a folder is gone through.
pub(crate) struct Hashing<'a> {
    /// Whether it may go on.
    pub(crate) live: &'a Live,
    /// Sees every entry; an error ends it.
    pub(crate) visit: &'a mut dyn FnMut(Visited<'_>) -> io::Result<()>,
}

/// What a folder is, with everything in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hashed {
    pub(crate) digest: Digest,
    entries: u64,
    bytes: u64,
}

impl From<Hashed> for FileState {
    fn from(Hashed { digest, entries, bytes }: Hashed) -> Self {
        Self::Tree { digest, entries, bytes }
    }
}

/// Goes through a folder. Links are not followed, and what is neither file, folder nor link counts
/// by its name alone.
pub(crate) fn hash(folder: &OwnedFd, hashing: &mut Hashing<'_>) -> io::Result<Hashed> {
    let mut counted = Counted::default();
    let digest = counted.folder(folder, Path::new(""), hashing, 0)?;
    let Counted { entries, bytes } = counted;
    Ok(Hashed { digest, entries, bytes })
}

#[derive(Default)]
struct Counted {
    entries: u64,
    bytes: u64,
}

impl Counted {
    fn folder(
        &mut self,
        folder: &OwnedFd,
        inner: &Path,
        hashing: &mut Hashing<'_>,
        depth: usize,
    ) -> io::Result<Digest> {
        depth::check(depth)?;
        hashing.live.check().map_err(io::Error::other)?;
        let mode = fstat(folder)?.st_mode & MODE;
        let mut lines = vec![mode.to_le_bytes().to_vec()];
        for name in names(folder)? {
            let inner = inner.join(OsStr::from_bytes(&name));
            lines.push(self.entry((folder, &name), &inner, hashing, depth)?);
            lines.push(name);
        }
        Ok(Digest::of_parts(lines.iter().map(Vec::as_slice)))
    }

    /// What there is to know about one entry besides its name.
    fn entry(
        &mut self,
        (folder, name): (&OwnedFd, &[u8]),
        inner: &Path,
        hashing: &mut Hashing<'_>,
        depth: usize,
    ) -> io::Result<Vec<u8>> {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        (hashing.visit)(Visited { inner, stat: &stat })?;
        self.entries += 1;
        let open = |flags: OFlags| {
            let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            openat(folder, name, flags, Mode::empty())
        };
        let (kind, digest) = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let file = File::from(open(OFlags::RDONLY)?);
                let (digest, bytes) = hash_file(&file, hashing.live)?;
                self.bytes += bytes;
                (b'f', digest)
            }
            FileType::Directory => {
                let inside = open(OFlags::RDONLY | OFlags::DIRECTORY)?;
                (b'd', self.folder(&inside, inner, hashing, depth + 1)?)
            }
            FileType::Symlink => {
                (b'l', Digest::of(readlinkat(folder, name, Vec::new())?.to_bytes()))
            }
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => (b'o', Digest::of("")),
        };
        let mode = if kind == b'f' { stat.st_mode & MODE } else { 0 };
        Ok([&[kind], mode.to_le_bytes().as_slice(), digest.as_bytes()].concat())
    }
}

/// The names in a folder, in their order.
pub(crate) fn names(folder: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
