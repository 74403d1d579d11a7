//! Whether the owner stopped everything, or lets everything pass for a time.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use crate::{
    StoreError, disk,
    folder::{FolderLock, LockedFile, private_file, sync_folder},
    time::{read_shown, shown},
};

/// The file always has this size, so that a change never cuts or leaves anything.
const SIZE: usize = 4096;
/// How the file begins while there is no emergency; anything else does not begin so.
const NORMAL: &[u8] = b"null";
/// A change that is being written just now is over after so many looks.
const LOOKS: usize = 5;

/// What the owner said last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Emergency {
    /// Nothing runs.
    Stopped(Said),
    /// What people would be asked about runs, for a time.
    Override {
        /// Who, when and why.
        #[serde(flatten)]
        said: Said,
        /// When it ends by itself.
        #[serde(serialize_with = "shown", deserialize_with = "read_shown")]
        until: SystemTime,
    },
}

/// Who said it, when and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who.
    pub by: String,
    /// When.
    #[serde(serialize_with = "shown", deserialize_with = "read_shown")]
    pub at: SystemTime,
    /// Why, if they said so.
    pub reason: Option<String>,
}

/// The file that says so, kept open, so that looking at it costs one system call.
#[derive(Debug)]
pub struct EmergencyFile {
    data: PathBuf,
    /// `None` once it is gone.
    file: RwLock<Option<File>>,
}

impl EmergencyFile {
    /// A look that found no emergency may be relied on for so long by what changes nothing; whoever
    /// says something waits as long.
    pub const FRESH: Duration = Duration::from_millis(1);

    /// Opens the file in the folder `data`, and makes both if they are missing.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        let path = path(data);
        if !path.exists()
            && let Err(error) = make(data)
        {
            if !matches!(error, StoreError::Disk(_)) {
                return Err(error);
            }
            // Without this file nothing can be stopped.
            disk::give_up_reserve(data);
            make(data)?;
        }
        let file = File::open(&path).map_err(StoreError::io(&path))?;
        Ok(Self { data: data.to_owned(), file: RwLock::new(Some(file)) })
    }

    /// What holds at `now`. Cheap while there is no emergency; then `now` is not asked for either.
    pub fn state(&self, now: impl FnOnce() -> SystemTime) -> Result<Option<Emergency>, StoreError> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner);
        let gone = || StoreError::io(path(&self.data))(io::ErrorKind::NotFound.into());
        let file = file.as_ref().ok_or_else(gone)?;
        let mut first = [0; NORMAL.len()];
        if matches!(file.read_at(&mut first, 0), Ok(read) if first.get(..read) == Some(NORMAL)) {
            return Ok(None);
        }
        let found = read_all(file, &self.data)?;
        Ok(found.filter(|found| match found {
            Emergency::Stopped(_) => true,
            Emergency::Override { until, .. } => *until > now(),
        }))
    }

    /// Looks whether the file is still the one in the folder; one that somebody put in its place is
    /// used from now on.
    pub fn refresh(&self) {
        let path = path(&self.data);
        let same = {
            let file = self.file.read().unwrap_or_else(PoisonError::into_inner);
            let known = file.as_ref().and_then(|file| file.metadata().ok());
            let there = path.metadata().ok();
            let identity = |found: &std::fs::Metadata| (found.dev(), found.ino());
            known.as_ref().map(identity) == there.as_ref().map(identity)
        };
        if !same {
            let found = File::open(&path).ok();
            *self.file.write().unwrap_or_else(PoisonError::into_inner) = found;
        }
    }

    /// Says what holds from now on, in every process; `None` ends an emergency. Nothing can pass while
    /// everything is stopped. May block.
    pub fn say(&self, new: Option<&Emergency>) -> Result<(), StoreError> {
        let (path, content) = (path(&self.data), content(new)?);
        // Its own lock: who sets up the data folder must not keep anybody from stopping it.
        let file = LockedFile::lock(private_file(&path)?).map_err(StoreError::io(&path))?;
        if matches!(new, Some(Emergency::Override { .. }))
            && !matches!(read_all(&file, &self.data), Ok(None | Some(Emergency::Override { .. })))
        {
            return Err(StoreError::EverythingStopped);
        }
        file.write_all_at(&content, 0)
            .and_then(|()| file.set_len(SIZE as u64))
            .and_then(|()| file.sync_all())
            .map_err(StoreError::io(&path))?;
        std::thread::sleep(Self::FRESH);
        Ok(())
    }
}

fn path(data: &Path) -> PathBuf {
    data.join("emergency.json")
}

/// Put in place whole: a file that is there but empty would mean that everything is stopped.
fn make(data: &Path) -> Result<(), StoreError> {
    let _lock = FolderLock::take(data)?;
    let (path, temp) = (path(data), data.join("emergency.json.new"));
    if path.exists() {
        return Ok(());
    }
    let file = private_file(&temp)?;
    let made = file
        .set_len(0)
        .and_then(|()| file.write_all_at(&content(None).unwrap_or_default(), 0))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&temp, &path))
        .and_then(|()| sync_folder(data));
    made.map_err(StoreError::io(&path))
}

/// As it is written: JSON, and blanks up to the size.
fn content(state: Option<&Emergency>) -> Result<Vec<u8>, StoreError> {
    let mut content = match state {
        None => NORMAL.to_vec(),
        Some(state) => serde_json::to_vec(state)?,
    };
    if content.len() >= SIZE {
        return Err(StoreError::TooLong);
    }
    content.resize(SIZE - 1, b' ');
    content.push(b'\n');
    Ok(content)
}

/// Somebody may be writing it just now, so what makes no sense is looked at again.
fn read_all(file: &File, data: &Path) -> Result<Option<Emergency>, StoreError> {
    let mut problem = None;
    for _ in 0..LOOKS {
        let mut content = [0; SIZE];
        let read = file.read_at(&mut content, 0).map_err(StoreError::io(path(data)))?;
        match serde_json::from_slice(content.get(..read).unwrap_or_default()) {
            Ok(state) => return Ok(state),
            Err(error) => problem = Some(error),
        }
        std::thread::yield_now();
    }
    Err(problem.map_or(StoreError::Stopped, StoreError::Json))
}
