//! A walk on one thread, in name order.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use tool::FileKind;

use super::{
    Going, Stop,
    folder::{Entered, Folder},
    listing::Listing,
};

/// A folder some of whose entries are still to come.
struct Level {
    folder: Arc<Folder>,
    listing: Listing,
    next: usize,
}

/// Visits each folder, then what is in it, then its neighbour.
pub(super) fn run(going: &Going<'_>, first: Entered) -> Result<(), Stop> {
    let mut levels = vec![level_of(first).0];
    while let Some(level) = levels.last_mut() {
        if level.next == level.listing.len() {
            levels.pop();
            continue;
        }
        let index = level.next;
        level.next += 1;
        if let Some(inner) = visit(going, level, index)? {
            levels.push(inner);
        }
    }
    Ok(())
}

fn visit(going: &Going<'_>, level: &Level, index: usize) -> Result<Option<Level>, Stop> {
    let Level { folder, listing, next: _ } = level;
    let Ok(handle) = folder.handle(going) else { return Ok(None) };
    if !going.shows(folder, handle.as_fd(), listing, index) {
        return Ok(None);
    }
    going.visit(folder, handle.as_fd(), listing, index)?;
    let (name, kind) = listing.entry(index);
    if kind != FileKind::Folder || folder.depth + 1 >= going.how.depth {
        return Ok(None);
    }
    Ok(going.enter(folder, name)?.map(|entered| level_of(entered).0))
}

fn level_of(entered: Entered) -> (Level, Option<OwnedFd>) {
    let (folder, mut listing, own) = entered.split();
    listing.sort();
    (Level { folder, listing, next: 0 }, own)
}
