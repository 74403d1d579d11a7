//! Brings what is to be moved to the disk.

use std::io;

use rustix::{
    fs::{Mode, OFlags, fsync, openat, syncfs},
    io::Errno,
};
use tool::FileState;

use crate::{
    commit::{Content, Moved, Wanted},
    workspace::Workspace,
};

/// More files than this are cheaper to sync with everything else.
const FEW: usize = 16;

/// Returns when everything that waits to be moved would survive a power cut: what a record promises
/// must be on the disk before it.
pub(super) fn sync(workspace: &Workspace, wanted: &[Wanted]) -> io::Result<()> {
    let moved: Vec<_> = wanted.iter().filter_map(moved).collect();
    if moved.len() > FEW || moved.iter().any(|moved| !is_single(&moved.state)) {
        return Ok(syncfs(&workspace.root)?);
    }
    for Moved { folder, name, state, how: _ } in moved {
        // A link is part of its folder, and that is synced when it changes.
        if matches!(state, FileState::File { .. }) {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(folder, name.as_slice(), flags, Mode::empty()) {
                Ok(file) => fsync(file)?,
                // Closed even to its owner, but not to this.
                Err(Errno::ACCESS) => return Ok(syncfs(&workspace.root)?),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}

const fn moved(wanted: &Wanted) -> Option<&Moved> {
    match &wanted.content {
        Content::Moved(moved) => Some(moved),
        Content::Given(_) | Content::Removed => None,
    }
}

const fn is_single(state: &FileState) -> bool {
    match state {
        FileState::Absent | FileState::File { .. } | FileState::Link { .. } => true,
        FileState::Folder { .. } | FileState::Tree { .. } => false,
    }
}
