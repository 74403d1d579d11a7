//! Finds the files of a workspace that may hold credentials, so that they can be hidden.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use policy::{is_credential, is_credential_folder};
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat},
    io::Errno,
};
use tool::ToolError;

use crate::{World, root::Id};

/// A workspace with more in it is not looked through for every harmless line.
const MAX_ENTRIES: usize = 2_000_000;
const MAX_DEPTH: usize = 200;
const SCAN_TIMEOUT: Duration = Duration::from_secs(10);
/// Each of them costs a mount.
const MAX_FOUND: usize = 4_000;
/// Folders whose entries are remembered, all workspaces together.
const MAX_REMEMBERED: usize = 200_000;

/// What was read of folders that have not changed since.
#[derive(Debug, Default)]
pub(crate) struct CredentialCache(Mutex<HashMap<Id, Remembered>>);

/// What is of interest in one folder.
#[derive(Debug, Clone)]
struct Remembered {
    changed: (i64, u64),
    folders: Vec<Vec<u8>>,
    /// Names of files, and of folders that hold nothing else.
    secret: Vec<Vec<u8>>,
}

impl World {
    /// Paths beneath `folder` that may hold credentials: files by their name, whole folders such as
    /// `.aws`, and other names of the same files. Fails if there is too much to look through. May
    /// block.
    ///
    /// A folder is read again only if its entries changed, so that a large workspace costs one look
    /// at each of its folders.
    pub fn credentials(&self, folder: &Path) -> Result<Vec<PathBuf>, ToolError> {
        let mut scan = Scan {
            cache: &self.common.credentials,
            data: self.common.data.path().map_err(ToolError::internal)?,
            top: folder.canonicalize().map_err(ToolError::internal)?,
            entries: 0,
            began: Instant::now(),
            found: BTreeSet::new(),
            linked: BTreeSet::new(),
        };
        let scanned = scan.all(folder).and_then(|()| scan.other_names(folder));
        scanned.map_err(|error| {
            let message = format!(
                "`{}` cannot be looked through for files that may hold credentials, which this line \
                 must not read: {error}; name the files it needs, or run it as a script",
                folder.display()
            );
            ToolError::failed_by(message, error)
        })?;
        Ok(scan.found.into_iter().collect())
    }
}

struct Scan<'a> {
    cache: &'a CredentialCache,
    data: PathBuf,
    top: PathBuf,
    entries: usize,
    began: Instant,
    found: BTreeSet<PathBuf>,
    /// Files that have other names too.
    linked: BTreeSet<Id>,
}

impl Scan<'_> {
    fn all(&mut self, top: &Path) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(top, flags, Mode::empty())?;
        let device = fstat(&folder)?.st_dev;
        let mut levels = vec![self.level(folder, top.to_owned())?];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.rest.pop() else {
                levels.pop();
                continue;
            };
            let path = level.path.join(OsStr::from_bytes(&name));
            if path == self.data {
                continue;
            }
            let flags = flags | OFlags::NOFOLLOW;
            let inner = match openat(&level.folder, name.as_slice(), flags, Mode::empty()) {
                // Gone, or closed to us, and so to the command.
                Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::LOOP) => continue,
                opened => opened?,
            };
            // Another file system is not part of the workspace, and not shown.
            if fstat(&inner)?.st_dev != device {
                continue;
            }
            if levels.len() > MAX_DEPTH {
                return Err(io::Error::other(format!("folders are nested {MAX_DEPTH} deep")));
            }
            let next = self.level(inner, path)?;
            levels.push(next);
        }
        Ok(())
    }

    fn level(&mut self, folder: OwnedFd, path: PathBuf) -> io::Result<Level> {
        let stat = fstat(&folder)?;
        let (id, changed) = (Id::of(&stat), changed(&stat));
        let lock = || self.cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&id).filter(|known| known.changed == changed).cloned();
        let known = if let Some(known) = known {
            known
        } else {
            let read = read(&folder, changed)?;
            let mut cache = lock();
            if cache.len() >= MAX_REMEMBERED {
                cache.clear();
            }
            cache.insert(id, read.clone());
            read
        };
        self.count(1 + known.folders.len())?;
        for name in &known.secret {
            let stat = statat(&folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW);
            let Ok(stat) = stat else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                // A link cannot be hidden, but what it leads to can.
                let target = path.join(OsStr::from_bytes(name)).canonicalize();
                if let Some(target) = target.ok().filter(|target| target.starts_with(&self.top)) {
                    self.add(target)?;
                }
                continue;
            }
            if stat.st_nlink > 1 && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
                self.linked.insert(Id::of(&stat));
            }
            self.add(path.join(OsStr::from_bytes(name)))?;
        }
        Ok(Level { folder, path, rest: known.folders })
    }

    fn count(&mut self, more: usize) -> io::Result<()> {
        self.entries += more;
        if self.entries > MAX_ENTRIES {
            return Err(io::Error::other(format!("it has more than {MAX_ENTRIES} entries")));
        }
        if self.began.elapsed() > SCAN_TIMEOUT {
            return Err(io::Error::other("it takes too long"));
        }
        Ok(())
    }

    fn add(&mut self, path: PathBuf) -> io::Result<()> {
        self.found.insert(path);
        if self.found.len() > MAX_FOUND {
            return Err(io::Error::other(format!("there are more than {MAX_FOUND} of them")));
        }
        Ok(())
    }

    /// Finds hard links of what was found. There are rarely any, so nothing is remembered for it.
    fn other_names(&mut self, top: &Path) -> io::Result<()> {
        if self.linked.is_empty() {
            return Ok(());
        }
        let mut folders = vec![top.to_owned()];
        while let Some(path) = folders.pop() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(folder) = rustix::fs::open(&path, flags, Mode::empty()) else { continue };
            let device = fstat(&folder)?.st_dev;
            for entry in Dir::read_from(&folder)? {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if matches!(name, b"." | b"..") {
                    continue;
                }
                self.count(1)?;
                let inner = path.join(OsStr::from_bytes(name));
                if self.linked.contains(&Id { device, inode: entry.ino() }) {
                    self.add(inner)?;
                } else if entry.file_type() == FileType::Directory && inner != self.data {
                    folders.push(inner);
                }
            }
        }
        Ok(())
    }
}

/// A folder some of whose folders are still to come.
struct Level {
    folder: OwnedFd,
    path: PathBuf,
    rest: Vec<Vec<u8>>,
}

fn changed(stat: &Stat) -> (i64, u64) {
    (stat.st_ctime, stat.st_ctime_nsec)
}

fn read(folder: &OwnedFd, changed: (i64, u64)) -> io::Result<Remembered> {
    let mut remembered = Remembered { changed, folders: Vec::new(), secret: Vec::new() };
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let mut kind = entry.file_type();
        // Not every file system says it with the name.
        if kind == FileType::Unknown {
            let stat = statat(folder.as_fd(), entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            kind = FileType::from_raw_mode(stat.st_mode);
        }
        let text = String::from_utf8_lossy(name);
        match kind {
            FileType::Directory if is_credential_folder(&text) => {
                remembered.secret.push(name.to_vec());
            }
            FileType::Directory => remembered.folders.push(name.to_vec()),
            FileType::RegularFile | FileType::Symlink if is_credential(&text) => {
                remembered.secret.push(name.to_vec());
            }
            FileType::RegularFile
            | FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {}
        }
    }
    // A change in the same instant would not be seen, so what is that new is not remembered.
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    if now.tv_sec.abs_diff(changed.0) < 2 {
        remembered.changed = (0, 0);
    }
    Ok(remembered)
}
