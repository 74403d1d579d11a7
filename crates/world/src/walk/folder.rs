//! A folder on the way.

use std::{
    ffi::{CStr, CString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    sync::Arc,
};

use rustix::io::Errno;
use tool::{FileKind, Ignored};

use super::{Going, listing::Listing, rules::Rules};
use crate::beneath::{Links, open_folder};

/// A walk keeps at most this many folders open; deeper ones are found again from the root.
const OPEN_FOLDERS: usize = 500;
/// The longest path that is opened at once; the kernel takes 4,095 bytes.
const PIECE: usize = 3_000;

/// A folder whose entries are still to be visited.
#[derive(Debug)]
pub(super) struct Folder {
    /// Closed if too many were open; with it one share of their count.
    open: Option<(OwnedFd, Arc<()>)>,
    /// Within the root, with a slash at its end unless it is the root.
    pub(super) path: Vec<u8>,
    /// 0 for the folder the walk began in.
    pub(super) depth: usize,
    rules: Option<Arc<Rules>>,
}

/// A folder that was just read.
pub(super) struct Entered {
    pub(super) folder: Arc<Folder>,
    pub(super) listing: Listing,
    own: Option<OwnedFd>,
}

/// A folder's descriptor, kept or opened again.
pub(super) enum Handle<'a> {
    Kept(&'a OwnedFd),
    Again(OwnedFd),
}

impl AsFd for Handle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Kept(fd) => fd.as_fd(),
            Self::Again(fd) => fd.as_fd(),
        }
    }
}

impl Entered {
    /// The folder, and its descriptor while it is being looked at.
    pub(super) fn split(self) -> (Arc<Folder>, Listing, Option<OwnedFd>) {
        let Self { folder, listing, own } = self;
        (folder, listing, own)
    }
}

impl Folder {
    /// The folder's descriptor.
    pub(super) fn handle(&self, going: &Going<'_>) -> Result<Handle<'_>, Errno> {
        match &self.open {
            Some((fd, _)) => Ok(Handle::Kept(fd)),
            None => open_again(going, &self.path).map(Handle::Again),
        }
    }

    /// Whether a walk that leaves things out leaves out `name`.
    pub(super) fn ignores(&self, name: &CStr, kind: FileKind) -> bool {
        if name == c".git" {
            return true;
        }
        let hidden = name.to_bytes().starts_with(b".");
        let Some(rules) = &self.rules else { return hidden };
        let path = [&self.path, name.to_bytes()].concat();
        rules.verdict(&path, kind).unwrap_or(hidden)
    }
}

/// Reads the folder a walk begins in.
pub(super) fn first(going: &Going<'_>, fd: OwnedFd) -> Result<Entered, Errno> {
    let mut path = going.inner.as_os_str().as_bytes().to_vec();
    if !path.is_empty() {
        path.push(b'/');
    }
    let above = match going.how.ignored {
        Ignored::Shown => None,
        Ignored::Skipped => Rules::above(going.root, going.inner),
    };
    read(going, fd, Folder { open: None, path, depth: 0, rules: above })
}

/// Reads the folder `name` of `parent`.
pub(super) fn enter(
    going: &Going<'_>,
    parent: &Arc<Folder>,
    name: &CStr,
) -> Result<Entered, Errno> {
    let fd = open_folder(parent.handle(going)?, name, Links::Refused)?;
    let path = [&parent.path, name.to_bytes(), b"/"].concat();
    let rules = parent.rules.clone();
    read(going, fd, Folder { open: None, path, depth: parent.depth + 1, rules })
}

fn read(going: &Going<'_>, fd: OwnedFd, mut folder: Folder) -> Result<Entered, Errno> {
    let listing = Listing::read(fd.as_fd())?;
    if going.how.ignored == Ignored::Skipped {
        let above = folder.rules.take();
        folder.rules = Rules::within(above, fd.as_fd(), listing.marks, folder.path.len());
    }
    if Arc::strong_count(&going.open) < OPEN_FOLDERS {
        folder.open = Some((fd, going.open.clone()));
        return Ok(Entered { folder: Arc::new(folder), listing, own: None });
    }
    Ok(Entered { folder: Arc::new(folder), listing, own: Some(fd) })
}

/// Opens a folder from the root, in pieces that are short enough, and still through no link.
fn open_again(going: &Going<'_>, path: &[u8]) -> Result<OwnedFd, Errno> {
    let mut folder = open_folder(going.root, ".", Links::Refused)?;
    let mut piece = Vec::new();
    for part in path.split_inclusive(|byte| *byte == b'/') {
        if piece.len() + part.len() > PIECE {
            folder = open_piece(&folder, &piece)?;
            piece.clear();
        }
        piece.extend_from_slice(part);
    }
    if piece.is_empty() { Ok(folder) } else { open_piece(&folder, &piece) }
}

fn open_piece(folder: &OwnedFd, piece: &[u8]) -> Result<OwnedFd, Errno> {
    let piece = CString::new(piece).map_err(|_| Errno::INVAL)?;
    open_folder(folder, &*piece, Links::Refused)
}
