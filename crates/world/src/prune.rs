//! Dropping what is too old or too much, oldest first.

use std::{
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

/// Drops what is beneath `folders`, two levels down, beyond `keep`.
pub(crate) fn prune(folders: &[PathBuf], keep: Keep, now: SystemTime) -> io::Result<Pruned> {
    let mut kept = Vec::new();
    for folder in folders {
        collect(folder, &mut kept)?;
    }
    kept.sort_by_key(|file| file.modified);
    let mut total: u64 = kept.iter().map(|file| file.bytes).sum();
    let mut pruned = Pruned::default();
    for file in kept {
        let age = now.duration_since(file.modified).unwrap_or_default();
        let abandoned = age > ABANDONED && is_partial(file.path.as_os_str());
        if age <= keep.age && total <= keep.bytes && !abandoned {
            continue;
        }
        if file.is_folder {
            std::fs::remove_dir_all(&file.path)?;
        } else {
            std::fs::remove_file(&file.path)?;
        }
        total -= file.bytes;
        pruned.files += 1;
        pruned.bytes += file.bytes;
    }
    Ok(pruned)
}

fn collect(folder: &Path, kept: &mut Vec<Kept>) -> io::Result<()> {
    for shelf in std::fs::read_dir(folder)? {
        let shelf = shelf?;
        for entry in std::fs::read_dir(shelf.path())? {
            let entry = entry?;
            let (found, path) = (entry.metadata()?, entry.path());
            if found.is_dir() {
                // A kept folder keeps its own times; those of its shelf say when it was needed.
                let modified = shelf.metadata()?.modified()?;
                kept.push(Kept { modified, bytes: size(&path)?, path, is_folder: true });
            } else {
                let modified = found.modified()?;
                kept.push(Kept { modified, bytes: found.len(), path, is_folder: false });
            }
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
