//! Files that wait beside their place and must not stay behind.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
    sync::Arc,
};

use rustix::{
    fs::{
        AtFlags, Gid, Mode, OFlags, RenameFlags, Uid, chownat, fchmod, fchown, fstat, openat,
        renameat, renameat_with, statat, symlinkat,
    },
    io::Errno,
};
use tool::{CallId, Digest, FileState};

use super::{
    found::{MODE, Seen},
    wanted::{HowMoved, Moved},
};
use crate::{
    overlay::open_tidy,
    tree::{CopyFiles, TreePlace, Trees, copy_tree, link_entry, remove},
};

/// What is to be at a path.
#[derive(Debug)]
pub(super) enum New {
    File {
        bytes: Vec<u8>,
        mode: Option<u32>,
    },
    Link(String),
    /// What waits elsewhere, and is moved.
    Moved(Moved),
    /// A folder that was kept.
    Tree(Digest),
    Absent,
}

/// A name in a folder of the workspace. Whatever has it is removed in the end.
#[derive(Debug)]
pub(super) struct Temp {
    pub(super) folder: Arc<OwnedFd>,
    pub(super) name: String,
    /// Whether it holds a folder that is kept nowhere else, and must outlive this.
    pub(super) precious: bool,
}

/// What the names of all temp files of `call` begin with.
pub(super) fn prefix(call: CallId) -> String {
    format!(".toolgate-{call}-")
}

/// The name of the `number`th temp file of a commit.
pub(super) fn name(call: CallId, number: impl std::fmt::Display) -> String {
    format!("{}{number}.tmp", prefix(call))
}

impl Temp {
    /// Writes `new` to a temp file, synced, and says what will be there once it is in place.
    pub(super) fn write(
        (folder, name): (Arc<OwnedFd>, String),
        new: &New,
        old: Option<Seen>,
        trees: &Trees,
    ) -> io::Result<(Self, FileState)> {
        let temp = Self { folder, name, precious: false };
        let state = match new {
            New::File { bytes, mode } => temp.write_file(bytes, *mode, old)?,
            New::Link(target) => {
                symlinkat(target.as_str(), &temp.folder, &temp.name)?;
                FileState::Link { target: target.clone() }
            }
            New::Moved(Moved { folder, name, state, how }) => {
                match how {
                    HowMoved::Renamed => {
                        renameat(&**folder, name.as_slice(), &temp.folder, &temp.name)?;
                    }
                    HowMoved::Linked => temp.link((folder, name), state)?,
                }
                if let Some(Seen { owner: (user, group), .. }) = old {
                    let owner = (Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
                    // As below: only root may, and for anybody else it is their own already.
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    let _ = chownat(&temp.folder, &temp.name, owner.0, owner.1, flags);
                }
                state.clone()
            }
            New::Tree(digest) => trees.copy_out(*digest, &temp.folder, &temp.name)?.into(),
            New::Absent => FileState::Absent,
        };
        Ok((temp, state))
    }

    /// Gives what is at `name` in `folder` the name of the temp file too.
    fn link(&self, (folder, name): (&OwnedFd, &[u8]), state: &FileState) -> io::Result<()> {
        let from = TreePlace { folder, name };
        let to = TreePlace { folder: &self.folder, name: self.name.as_bytes() };
        if matches!(state, FileState::Tree { .. }) {
            return copy_tree(from, to, CopyFiles::Linked);
        }
        link_entry(from, to)?;
        if matches!(state, FileState::File { .. }) {
            let stat = statat(to.folder, to.name, AtFlags::SYMLINK_NOFOLLOW)?;
            open_tidy(to.folder, to.name, &stat)?;
        }
        Ok(())
    }

    fn write_file(
        &self,
        bytes: &[u8],
        mode: Option<u32>,
        old: Option<Seen>,
    ) -> io::Result<FileState> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        // A known mode is set at the end: until then nobody else may read what a closed file holds.
        let first = mode.map_or(0o666, |_| 0o600);
        let first = Mode::from_raw_mode(first);
        let fd = openat(&self.folder, &self.name, flags | OFlags::CLOEXEC, first)?;
        let mut file = File::from(fd);
        if let Some(Seen { owner: (user, group), .. }) = old {
            // Only root may give files away; for anybody else the file becomes their own.
            let _ = fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        }
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            fchmod(&file, Mode::from_raw_mode(mode & MODE))?;
        }
        file.sync_all()?;
        let mode = fstat(&file)?.st_mode & MODE;
        Ok(FileState::File { digest: Digest::of_content(bytes), bytes: bytes.len() as u64, mode })
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !self.precious {
            let _ = remove(&self.folder, self.name.as_str());
        }
    }
}

/// Renames, unless something is there already.
pub(super) fn rename_new(
    (from, name): (&OwnedFd, &str),
    (to, new): (&OwnedFd, &str),
) -> Result<(), Errno> {
    match renameat_with(from, name, to, new, RenameFlags::NOREPLACE) {
        Err(errno) if unsupported(errno) => {}
        done => return done,
    }
    match statat(to, new, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => renameat(from, name, to, new),
        Ok(_) => Err(Errno::EXIST),
        Err(errno) => Err(errno),
    }
}

/// Puts each of two files in the place of the other.
pub(super) fn swap(
    (from, name): (&OwnedFd, &str),
    (to, new): (&OwnedFd, &str),
) -> Result<(), Errno> {
    renameat_with(from, name, to, new, RenameFlags::EXCHANGE)
}

/// Whether a file system only knows the plain rename.
pub(super) const fn unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}
