//! Going through a folder, from descriptor to descriptor.
//!
//! Each folder is opened from the one it was found in, one name at a time and never through a link,
//! so a folder that is swapped for a link in the middle of a walk cannot lead it outside.

mod entry;
mod folder;
mod listing;
mod ordered;
mod parallel;
mod rules;

use std::{
    ffi::CStr,
    ops::ControlFlow,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, statat},
    io::Errno,
};
use tool::{FileKind, FilePath, Ignored, Live, ToolError, Visit, Walk};

use self::{
    entry::Entry,
    folder::{Entered, Folder},
    listing::Listing,
};
use crate::{
    problem,
    root::{Id, Root},
};

// Asking whether the call was stopped takes a lock, so not every entry asks.
const ENTRIES_PER_CHECK: usize = 64;

/// The folder a walk begins in.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) root: Arc<Root>,
    pub(crate) fd: OwnedFd,
    /// Where it is within the root, links resolved.
    pub(crate) inner: PathBuf,
    /// What the call names it.
    pub(crate) shown: FilePath,
}

/// Visits what is beneath a folder.
pub(crate) fn walk(
    start: Start,
    how: Walk,
    live: &Live,
    visit: Visit<'_>,
) -> Result<(), ToolError> {
    if how.depth == 0 {
        return Ok(());
    }
    let Start { root, fd, inner, shown } = start;
    let (inner, shown) = (&inner, &shown);
    let going = Going { root: &root, inner, shown, how, live, visit, open: Arc::new(()) };
    let first = folder::first(&going, fd).map_err(|errno| problem::reading(shown, errno))?;
    let ended =
        if how.threads <= 1 { ordered::run(&going, first) } else { parallel::run(&going, first) };
    match ended {
        Err(Stop::Failed(error)) => Err(error),
        Ok(()) | Err(Stop::Enough) => Ok(()),
    }
}

/// Why a walk ends before its end.
enum Stop {
    /// The visitor has seen enough.
    Enough,
    Failed(ToolError),
}

/// What all threads of a walk know.
struct Going<'a> {
    root: &'a Root,
    inner: &'a PathBuf,
    shown: &'a FilePath,
    how: Walk,
    live: &'a Live,
    visit: Visit<'a>,
    /// Every folder that is open has a share of it.
    open: Arc<()>,
}

impl Going<'_> {
    /// Enters the folder `name` of `parent`. `None` if it cannot be read, or is gone or moved: a
    /// walk shows what it may see.
    fn enter(&self, parent: &Arc<Folder>, name: &CStr) -> Result<Option<Entered>, Stop> {
        self.live.check().map_err(Stop::Failed)?;
        match folder::enter(self, parent, name) {
            Ok(entered) => Ok(Some(entered)),
            Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                Err(Stop::Failed(problem::reading(self.shown, errno)))
            }
            Err(_) => Ok(None),
        }
    }

    /// Whether the `index`th entry is to be shown.
    fn shows(&self, folder: &Folder, fd: BorrowedFd<'_>, listing: &Listing, index: usize) -> bool {
        let (name, kind) = listing.entry(index);
        if kind == FileKind::Folder && self.is_hidden(fd, listing, index) {
            return false;
        }
        match self.how.ignored {
            Ignored::Shown => true,
            Ignored::Skipped => !folder.ignores(name, kind),
        }
    }

    /// Whether this is the data folder. Its number is compared first, which costs nothing.
    fn is_hidden(&self, fd: BorrowedFd<'_>, listing: &Listing, index: usize) -> bool {
        let Some(hidden) = self.root.hidden() else { return false };
        listing.inode(index) == hidden.inode
            && statat(fd, listing.entry(index).0, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| Id::of(&stat) == hidden)
    }

    fn visit(
        &self,
        folder: &Folder,
        fd: BorrowedFd<'_>,
        listing: &Listing,
        index: usize,
    ) -> Result<(), Stop> {
        if index.is_multiple_of(ENTRIES_PER_CHECK) {
            self.live.check().map_err(Stop::Failed)?;
        }
        let (name, kind) = listing.entry(index);
        match (self.visit)(&Entry::new(self, folder, fd.as_fd(), name, kind)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Enough),
        }
    }
}
