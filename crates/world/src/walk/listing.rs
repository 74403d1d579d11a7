//! The names in one folder.

use std::{ffi::CStr, os::fd::BorrowedFd};

use rustix::{
    fs::{AtFlags, FileType, RawDir, statat},
    io::Errno,
};
use tool::FileKind;

use crate::stat;

const BUFFER: usize = 32 * 1024;

/// The entries of a folder, their names one after the other in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    names: Vec<u8>,
    entries: Vec<Listed>,
    /// Which of the names that change what is shown were there.
    pub(super) marks: Marks,
}

#[derive(Debug, Clone, Copy)]
struct Listed {
    start: usize,
    inode: u64,
    kind: FileKind,
}

/// The names that change what is shown.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) ignore: bool,
    pub(super) gitignore: bool,
    pub(super) repository: bool,
}

impl Listing {
    /// Reads all names in `folder`. One pass, no look at the files themselves.
    pub(super) fn read(folder: BorrowedFd<'_>) -> Result<Self, Errno> {
        let mut buffer: Vec<u8> = Vec::with_capacity(BUFFER);
        let mut entries = RawDir::new(folder, buffer.spare_capacity_mut());
        let mut listing = Self::default();
        while let Some(entry) = entries.next() {
            let entry = entry?;
            listing.add(folder, entry.file_name(), entry.file_type(), entry.ino());
        }
        Ok(listing)
    }

    /// Puts the entries in name order.
    pub(super) fn sort(&mut self) {
        let names = &self.names;
        self.entries.sort_unstable_by_key(|entry| name_at(names, entry.start));
    }

    pub(super) const fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entry(&self, index: usize) -> (&CStr, FileKind) {
        let listed = self.entries.get(index);
        listed.map_or((c"", FileKind::Other), |it| (name_at(&self.names, it.start), it.kind))
    }

    pub(super) fn inode(&self, index: usize) -> u64 {
        self.entries.get(index).map_or(0, |listed| listed.inode)
    }

    fn add(&mut self, folder: BorrowedFd<'_>, name: &CStr, kind: FileType, inode: u64) {
        match name.to_bytes() {
            b"." | b".." => return,
            b".ignore" => self.marks.ignore = true,
            b".gitignore" => self.marks.gitignore = true,
            b".git" => self.marks.repository = true,
            _ => {}
        }
        // Not every file system says what an entry is.
        let kind = if kind == FileType::Unknown { look(folder, name) } else { kind };
        let start = self.names.len();
        self.names.extend_from_slice(name.to_bytes_with_nul());
        self.entries.push(Listed { start, inode, kind: stat::kind(kind) });
    }
}

fn name_at(names: &[u8], start: usize) -> &CStr {
    names.get(start..).and_then(|rest| CStr::from_bytes_until_nul(rest).ok()).unwrap_or_default()
}

fn look(folder: BorrowedFd<'_>, name: &CStr) -> FileType {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}
