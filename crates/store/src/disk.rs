//! Room on the disk of a data folder: what must be there before a database is opened, and a reserve for
//! emergencies.
//!
//! `SQLite` maps the index of its write-ahead log into memory. Where the disk has no block for a page of it, a
//! write to that page ends the process with SIGBUS, without a word. So a database is opened only if there is
//! room, and all blocks of the index are allocated before anything else happens.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::{
    fs::{FallocateFlags, Mode, OFlags, fallocate, open, statvfs},
    io::Errno,
    process::geteuid,
};
use tool::{DiskCondition, DiskProblem};

use crate::{StoreError, folder::private_file};

/// Given up when something urgent must be stored on a full disk.
const RESERVE_BYTES: u64 = 1024 * 1024;
/// Free space that must be there besides: for the indexes and logs of two databases, and a few records.
const NEEDED_BYTES: u64 = 512 * 1024;
/// The same for what is urgent.
const URGENT_BYTES: u64 = 256 * 1024;
/// Enough index for a log of 64 MB, four times as much as a log has after upkeep.
const INDEX_BYTES: u64 = 128 * 1024;
/// Data folders that are remembered, to name the disk of a database in errors.
const MAX_FOLDERS: usize = 64;

/// Whether this process may use up the reserve.
static URGENT: AtomicBool = AtomicBool::new(false);
/// The data folders this process uses.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Lets this process use the reserve of a data folder whose disk is full. For a command that the owner gives in
/// an emergency, such as a stop or the end of a token.
pub fn use_reserve() {
    URGENT.store(true, Ordering::Relaxed);
}

/// Sees to it that a database in `data` can be opened and written. The folder must be locked.
pub(crate) fn ensure_room(data: &Path) -> Result<(), StoreError> {
    remember(data);
    if URGENT.load(Ordering::Relaxed) {
        if lacks_room(data, URGENT_BYTES).is_some() {
            give_up_reserve(data);
        }
        return lacks_room(data, URGENT_BYTES).map_or(Ok(()), |problem| Err(problem.into()));
    }
    fill_reserve(data)?;
    lacks_room(data, NEEDED_BYTES).map_or(Ok(()), |problem| Err(problem.into()))
}

/// Frees the reserve. What cannot be freed is found out by whoever needs the space.
pub(crate) fn give_up_reserve(data: &Path) {
    let freed = private_file(&reserve(data)).map(|file| file.set_len(0));
    tracing::warn!(?freed, "the disk is full; the reserve of the data folder is used");
}

/// Allocates all blocks of the index of a database's write-ahead log, if there is one.
pub(crate) fn allocate_index(database: &Path) -> Result<(), StoreError> {
    let path = index_path(database);
    match index(&path).map(|file| allocate(file, INDEX_BYTES)) {
        Ok(Err(errno)) => Err(StoreError::io(path)(errno.into())),
        Ok(Ok(())) | Err(_) => Ok(()),
    }
}

/// Where `SQLite` keeps the index.
pub(crate) fn index_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-shm");
    PathBuf::from(name)
}

/// The index of a write-ahead log. It is opened once and never closed: when a process closes any descriptor of
/// a file, it loses all POSIX locks it has on that file, and here those are the ones that `SQLite` relies on.
pub(crate) fn index(path: &Path) -> io::Result<&'static File> {
    /// By device and inode: a file that was made anew is another one.
    static OPEN: OnceLock<Mutex<HashMap<(u64, u64), &'static File>>> = OnceLock::new();
    let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let identity = |file: Metadata| (file.dev(), file.ino());
    if let Some(file) = open.get(&identity(fs::metadata(path)?)) {
        return Ok(file);
    }
    let file =
        OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path))?;
    let file: &'static File = Box::leak(Box::new(file));
    open.insert(identity(file.metadata()?), file);
    Ok(file)
}

/// What is wrong with the disk of a data folder of this process, after `SQLite` has failed to write.
pub(crate) fn diagnose() -> Option<DiskProblem> {
    folders().iter().find_map(|folder| DiskProblem::look(folder))
}

/// A full disk, found by `SQLite`.
pub(crate) fn full() -> DiskProblem {
    let first = || folders().first().cloned();
    diagnose().unwrap_or_else(|| DiskProblem { condition: DiskCondition::Full, path: first() })
}

/// The data folder that a file of ours lies in, or the file itself.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    let known = folders();
    known.iter().find(|folder| path.starts_with(folder)).cloned().unwrap_or_else(|| path.to_owned())
}

fn remember(data: &Path) {
    let mut folders = folders();
    if !folders.iter().any(|known| known == data) {
        if folders.len() >= MAX_FOLDERS {
            folders.remove(0);
        }
        folders.push(data.to_owned());
    }
}

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reserve(data: &Path) -> PathBuf {
    data.join("reserve")
}

/// Makes the reserve whole again. A file system that cannot allocate ahead has none.
fn fill_reserve(data: &Path) -> Result<(), StoreError> {
    let path = reserve(data);
    let allocated = fs::metadata(&path).map_or(0, |found| found.blocks() * 512);
    if allocated >= RESERVE_BYTES {
        return Ok(());
    }
    let file = private_file(&path)?;
    if let Err(errno) = allocate(&file, RESERVE_BYTES) {
        // What was allocated so far is of more use to others.
        let _ = file.set_len(0);
        return Err(StoreError::io(path)(errno.into()));
    }
    Ok(())
}

/// Allocates blocks for the first bytes of a file, where the file system can.
fn allocate(file: &File, bytes: u64) -> Result<(), Errno> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::ROFS)) => Err(errno),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What keeps `bytes` from being stored, if anything does. Tries it, because quotas do not show otherwise.
fn lacks_room(data: &Path, bytes: u64) -> Option<DiskProblem> {
    let full = DiskProblem { condition: DiskCondition::Full, path: Some(data.to_owned()) };
    if let Ok(disk) = statvfs(data) {
        let blocks = if geteuid().is_root() { disk.f_bfree } else { disk.f_bavail };
        if blocks.saturating_mul(disk.f_frsize) < bytes {
            return Some(full);
        }
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let probe = open(data, flags, Mode::RUSR | Mode::WUSR);
    match probe.map(File::from).and_then(|probe| allocate(&probe, bytes)) {
        Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::ROFS)) => {
            DiskProblem::of(&errno.into(), Some(data)).or(Some(full))
        }
        Ok(()) | Err(_) => None,
    }
}
