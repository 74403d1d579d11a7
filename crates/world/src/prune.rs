//! Dropping what is too old or too much.

use std::{
    collections::VecDeque,
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::fs::{Mode, OFlags};

use crate::{
    Keep, Pruned,
    commit::step,
    data::is_partial,
    tree::{Trees, remove},
};

// A file still being written is never this old.
const ABANDONED: Duration = Duration::from_hours(1);

/// What the name of a folder ends with that is being dropped.
const DOOMED: &str = ".drop";

/// Where the past is kept.
#[derive(Debug)]
pub(crate) struct KeptPlaces {
    /// Contents of files, two levels down.
    pub(crate) blobs: PathBuf,
    /// Folders, each in a shelf of its own.
    pub(crate) trees: PathBuf,
    /// A folder of artifacts for each user.
    pub(crate) artifacts: PathBuf,
}

/// A pre-image or an artifact on the disk.
struct Kept {
    modified: SystemTime,
    bytes: u64,
    path: PathBuf,
    is_folder: bool,
    /// Whether it was still being written.
    is_partial: bool,
}

/// What is kept for the same purpose or the same user, oldest first.
#[derive(Default)]
struct Pile {
    kept: VecDeque<Kept>,
    bytes: u64,
}

/// Drops pre-images and artifacts beyond `keep`. If there is too much, the oldest of the largest pile
/// goes: a user who leaves many artifacts behind takes no space from users with fewer. Pre-images are
/// one pile for all.
pub(crate) fn prune(places: &KeptPlaces, keep: Keep, now: SystemTime) -> io::Result<Pruned> {
    let mut undo = Vec::new();
    for shelf in entries(&places.blobs)? {
        collect(&shelf, &mut undo)?;
    }
    collect_trees(&places.trees, &mut undo)?;
    let mut piles = vec![Pile::of(undo)];
    for shelf in entries(&places.artifacts)? {
        let mut kept = Vec::new();
        collect(&shelf, &mut kept)?;
        piles.push(Pile::of(kept));
    }
    let mut pruned = Pruned::default();
    for pile in &mut piles {
        pile.drop_old(keep.age, now, &mut pruned)?;
    }
    while piles.iter().map(|pile| pile.bytes).sum::<u64>() > keep.bytes {
        let Some(largest) = piles.iter_mut().max_by_key(|pile| pile.bytes) else { break };
        let Some(oldest) = largest.kept.pop_front() else { break };
        largest.drop(&oldest, &mut pruned)?;
    }
    Ok(pruned)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

impl Pile {
    fn of(mut kept: Vec<Kept>) -> Self {
        kept.sort_by_key(|file| file.modified);
        let bytes = kept.iter().map(|file| file.bytes).sum();
        Self { kept: kept.into(), bytes }
    }

    fn drop_old(&mut self, age: Duration, now: SystemTime, pruned: &mut Pruned) -> io::Result<()> {
        for file in std::mem::take(&mut self.kept) {
            let old = now.duration_since(file.modified).unwrap_or_default();
            if old > age || (old > ABANDONED && file.is_partial) {
                self.drop(&file, pruned)?;
            } else {
                self.kept.push_back(file);
            }
        }
        Ok(())
    }

    fn drop(&mut self, file: &Kept, pruned: &mut Pruned) -> io::Result<()> {
        if file.is_folder {
            drop_folder(&file.path)?;
        } else {
            std::fs::remove_file(&file.path)?;
        }
        step();
        self.bytes -= file.bytes;
        pruned.files += 1;
        pruned.bytes += file.bytes;
        Ok(())
    }
}

/// Removes a folder. It gets another name first: one that is half removed is not taken for kept.
fn drop_folder(path: &Path) -> io::Result<()> {
    let mut doomed = path.as_os_str().to_owned();
    doomed.push(DOOMED);
    std::fs::rename(path, &doomed)?;
    step();
    remove_doomed(Path::new(&doomed))
}

fn remove_doomed(path: &Path) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = rustix::fs::open(above, flags, Mode::empty())?;
    remove(&above, name)
}

fn collect(shelf: &Path, kept: &mut Vec<Kept>) -> io::Result<()> {
    for entry in std::fs::read_dir(shelf)? {
        let entry = entry?;
        let (found, path) = (entry.metadata()?, entry.path());
        let (modified, is_partial) = (found.modified()?, is_partial(path.as_os_str()));
        kept.push(Kept { modified, bytes: found.len(), path, is_folder: false, is_partial });
    }
    Ok(())
}

/// A kept folder keeps its own times; those of its shelf say when it was needed.
fn collect_trees(trees: &Path, kept: &mut Vec<Kept>) -> io::Result<()> {
    for shelf in entries(trees)? {
        if shelf.to_string_lossy().ends_with(DOOMED) {
            remove_doomed(&shelf)?;
            continue;
        }
        let modified = std::fs::metadata(&shelf)?.modified()?;
        let is_partial = !Trees::is_shelf_complete(&shelf);
        kept.push(Kept { modified, bytes: size(&shelf), path: shelf, is_folder: true, is_partial });
    }
    Ok(())
}

/// The space that all files beneath a folder take; a folder that cannot be read counts for nothing.
fn size(folder: &Path) -> u64 {
    const BLOCK: u64 = 512;
    let (mut bytes, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                folders.push(entry.path());
            }
            // A sparse file takes less than its length.
            bytes += found.len().min(found.blocks().saturating_mul(BLOCK));
        }
    }
    bytes
}
