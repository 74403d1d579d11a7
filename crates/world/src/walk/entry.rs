//! One entry of a walk.

use std::{
    cell::OnceCell,
    ffi::CStr,
    fs::File,
    io,
    os::{fd::BorrowedFd, unix::ffi::OsStrExt},
};

use tool::{FileKind, FilePath, FileStat, WalkEntry};

use super::{Going, folder::Folder};
use crate::{
    beneath::{Links, open_file},
    stat::stat_at,
};

/// An entry, reached from the open folder it is in.
pub(super) struct Entry<'a> {
    going: &'a Going<'a>,
    folder: &'a Folder,
    fd: BorrowedFd<'a>,
    name: &'a CStr,
    kind: FileKind,
    /// Put together when somebody asks: most entries are passed over.
    path: OnceCell<FilePath>,
}

impl<'a> Entry<'a> {
    pub(super) const fn new(
        going: &'a Going<'a>,
        folder: &'a Folder,
        fd: BorrowedFd<'a>,
        name: &'a CStr,
        kind: FileKind,
    ) -> Self {
        Self { going, folder, fd, name, kind, path: OnceCell::new() }
    }

    /// The path from the folder the walk began in.
    fn relative(&self) -> Vec<u8> {
        let start = self.going.inner.as_os_str().as_bytes().len();
        let start = if start == 0 { 0 } else { start + 1 };
        let folder = self.folder.path.get(start..).unwrap_or_default();
        [folder, self.name.to_bytes()].concat()
    }
}

impl WalkEntry for Entry<'_> {
    fn path(&self) -> &FilePath {
        self.path.get_or_init(|| self.going.shown.join(&String::from_utf8_lossy(&self.relative())))
    }

    fn kind(&self) -> FileKind {
        self.kind
    }

    fn depth(&self) -> usize {
        self.folder.depth + 1
    }

    fn open(&self) -> io::Result<File> {
        Ok(open_file(self.fd, self.name, Links::Refused)?.0)
    }

    fn stat(&self) -> io::Result<FileStat> {
        Ok(stat_at(self.fd, self.name)?)
    }
}
