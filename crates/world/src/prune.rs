//! Dropping what is too old or too much.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{Keep, Pruned, data::is_partial};

// A file still being written is never this old.
const ABANDONED: Duration = Duration::from_hours(1);

/// A pre-image or an artifact on the disk.
struct Kept {
    modified: SystemTime,
    bytes: u64,
    path: PathBuf,
    is_folder: bool,
}

/// What is kept for the same purpose or the same user, oldest first.
#[derive(Default)]
struct Pile {
    kept: VecDeque<Kept>,
    bytes: u64,
}

/// Drops pre-images, which are two levels down in `undo`, and artifacts, of which there is a folder for each user
/// in `artifacts`, beyond `keep`. If there is too much, the oldest of the largest pile goes: whoever leaves many
/// artifacts behind takes away from nobody with fewer. Pre-images are one pile for all.
pub(crate) fn prune(
    undo: &[PathBuf],
    artifacts: &Path,
    keep: Keep,
    now: SystemTime,
) -> io::Result<Pruned> {
    let mut shelves = Vec::new();
    for folder in undo {
        shelves.extend(entries(folder)?);
    }
    let mut piles = vec![Pile::of(&shelves)?];
    for shelf in entries(artifacts)? {
        piles.push(Pile::of(&[shelf])?);
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
    fn of(shelves: &[PathBuf]) -> io::Result<Self> {
        let mut kept = Vec::new();
        for shelf in shelves {
            collect(shelf, &mut kept)?;
        }
        kept.sort_by_key(|file| file.modified);
        let bytes = kept.iter().map(|file| file.bytes).sum();
        Ok(Self { kept: kept.into(), bytes })
    }

    fn drop_old(&mut self, age: Duration, now: SystemTime, pruned: &mut Pruned) -> io::Result<()> {
        for file in std::mem::take(&mut self.kept) {
            let old = now.duration_since(file.modified).unwrap_or_default();
            if old > age || (old > ABANDONED && is_partial(file.path.as_os_str())) {
                self.drop(&file, pruned)?;
            } else {
                self.kept.push_back(file);
            }
        }
        Ok(())
    }

    fn drop(&mut self, file: &Kept, pruned: &mut Pruned) -> io::Result<()> {
        if file.is_folder {
            std::fs::remove_dir_all(&file.path)?;
        } else {
            std::fs::remove_file(&file.path)?;
        }
        self.bytes -= file.bytes;
        pruned.files += 1;
        pruned.bytes += file.bytes;
        Ok(())
    }
}

fn collect(shelf: &Path, kept: &mut Vec<Kept>) -> io::Result<()> {
    for entry in std::fs::read_dir(shelf)? {
        let entry = entry?;
        let (found, path) = (entry.metadata()?, entry.path());
        if found.is_dir() {
            // A kept folder keeps its own times; those of its shelf say when it was needed.
            let modified = std::fs::metadata(shelf)?.modified()?;
            kept.push(Kept { modified, bytes: size(&path)?, path, is_folder: true });
        } else {
            let modified = found.modified()?;
            kept.push(Kept { modified, bytes: found.len(), path, is_folder: false });
        }
    }
    Ok(())
}

/// The size of all files beneath a folder.
fn size(folder: &Path) -> io::Result<u64> {
    let (mut bytes, mut folders) = (0, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let (entry, found) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
            if found.is_dir() {
                folders.push(entry);
            }
            bytes += found.len();
        }
    }
    Ok(bytes)
}
