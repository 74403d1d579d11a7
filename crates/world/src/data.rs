//! The data folder, which no tool may see.

use std::{
    ffi::OsStr,
    fmt::Write as _,
    fs::{DirBuilder, File},
    io::{self, Write},
    os::{fd::OwnedFd, unix::fs::DirBuilderExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, fchmod, fstat, fsync, mkdirat, openat, renameat, unlinkat},
    io::Errno,
    path::Arg,
    process::geteuid,
};
use tool::Digest;

use crate::{
    WorldError,
    beneath::{Links, open_folder, path_of},
    root::Id,
};

/// The data folder, kept open.
#[derive(Debug)]
pub(crate) struct Data {
    fd: OwnedFd,
    /// Tells it apart, whatever it is called.
    pub(crate) id: Id,
}

impl Data {
    /// Opens it, for its owner alone; makes it if need be.
    pub(crate) fn open(path: &Path) -> Result<Self, WorldError> {
        let failed = |source: io::Error| WorldError::Data { path: path.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
        let stat = fstat(&fd).map_err(|errno| failed(errno.into()))?;
        if stat.st_uid != geteuid().as_raw() {
            return Err(WorldError::DataOfAnother { path: path.to_owned(), owner: stat.st_uid });
        }
        fchmod(&fd, Mode::RWXU).map_err(|errno| failed(errno.into()))?;
        // Every later check compares with this path, so it must be there to be read.
        path_of(&fd).map_err(|errno| failed(errno.into()))?;
        Ok(Self { fd, id: Id::of(&stat) })
    }

    /// Whether `path`, with its links resolved, is in here.
    pub(crate) fn hides(&self, path: &Path) -> Result<bool, Errno> {
        Ok(path.starts_with(self.path()?))
    }

    /// Where it is now.
    pub(crate) fn path(&self) -> Result<PathBuf, Errno> {
        path_of(&self.fd)
    }

    /// Opens a folder in it; makes it if need be.
    pub(crate) fn folder(&self, name: &str) -> Result<OwnedFd, Errno> {
        private_folder(&self.fd, name)
    }
}

/// Opens the folder `name`, never through a link; makes it, for its owner alone, if need be.
pub(crate) fn private_folder(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match mkdirat(parent, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno),
    }
    let fd = open_folder(parent, name, Links::Refused)?;
    let stat = fstat(&fd)?;
    if stat.st_uid != geteuid().as_raw() {
        return Err(Errno::PERM);
    }
    fchmod(&fd, Mode::RWXU)?;
    Ok(fd)
}

/// Makes a file that was not there, for its owner alone, never through a link.
pub(crate) fn private_file(dir: &OwnedFd, name: impl Arg) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(dir, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Puts a whole file at `name`, or none, also after a power cut.
pub(crate) fn put_whole(
    dir: &OwnedFd,
    name: &str,
    content: &[u8],
    time: SystemTime,
) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temp = format!("{name}.{}-{number}.tmp", std::process::id());
    let written = private_file(dir, &temp).map_err(io::Error::from).and_then(|mut file| {
        file.write_all(content)?;
        file.set_modified(time)?;
        file.sync_all()?;
        renameat(dir, &temp, dir, name)?;
        Ok(fsync(dir)?)
    });
    if written.is_err() {
        let _ = unlinkat(dir, &temp, AtFlags::empty());
    }
    written
}

/// A file name that stands for `text` and for nothing else, whatever is in it.
pub(crate) fn encoded(text: &str) -> String {
    const LONGEST: usize = 100;
    let mut name = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(name, "%{byte:02x}");
            }
        }
    }
    // No text is encoded with a `#`, so a hash cannot be mistaken for a name.
    if name.is_empty() || name.len() > LONGEST { format!("#{}", Digest::of(text)) } else { name }
}

/// Whether `name` is that of a file [`put_whole`] was still writing.
pub(crate) fn is_partial(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "tmp")
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn no_name_leads_anywhere_else() {
        for (text, expected) in [
            ("ada", "ada"),
            ("..", "%2e%2e"),
            ("a/b", "a%2fb"),
            ("%2e", "%252e"),
            ("#x", "%23x"),
            ("é", "%c3%a9"),
        ] {
            assert_eq!(encoded(text), expected, "{text}");
        }
        assert!(encoded("").starts_with('#'));
        assert_eq!(encoded(&"x".repeat(1000)).len(), 65);
    }
}
