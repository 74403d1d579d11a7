//! Which processes write to the journal, and which of them live.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    StoreError,
    folder::{FolderLock, LockedFile, private_file, private_folder, sync_folder},
};

/// The file of one writer. It stays locked as long as the writer lives.
#[derive(Debug)]
pub(super) struct WriterFile {
    id: String,
    path: PathBuf,
    /// The last record before this writer came; its own are after it.
    after: i64,
    _file: LockedFile,
}

impl WriterFile {
    /// A new writer, whose records will come after the record `after`. The folder lock makes sure
    /// that nobody sees the file before it is locked.
    pub(super) fn create(
        data: &Path,
        id: String,
        after: i64,
        _: &FolderLock,
    ) -> Result<Self, StoreError> {
        private_folder(&writers(data))?;
        let path = writers(data).join(format!("{id}.lock"));
        let file = LockedFile::lock(private_file(&path)?).map_err(StoreError::io(&path))?;
        write!(&*file, "{after}").map_err(StoreError::io(&path))?;
        Ok(Self { id, path, after, _file: file })
    }

    /// Every writer that is dead; from now on they are ours.
    pub(super) fn claim_dead(data: &Path, _: &FolderLock) -> Result<Vec<Self>, StoreError> {
        let mut dead = Vec::new();
        if !writers(data).exists() {
            return Ok(dead);
        }
        for file in fs::read_dir(writers(data)).map_err(StoreError::io(writers(data)))? {
            let path = file.map_err(StoreError::io(writers(data)))?.path();
            if path.extension() == Some(OsStr::new("lock")) {
                dead.extend(Self::claim(path)?);
            }
        }
        dead.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(dead)
    }

    /// Whether any process uses the journal. The folder must be locked.
    pub(super) fn is_any_alive(data: &Path) -> Result<bool, StoreError> {
        let folder = writers(data);
        if !folder.exists() {
            return Ok(false);
        }
        for file in fs::read_dir(&folder).map_err(StoreError::io(&folder))? {
            let path = file.map_err(StoreError::io(&folder))?.path();
            let file = File::open(&path).map_err(StoreError::io(&path))?;
            if LockedFile::try_lock(file).map_err(StoreError::io(&path))?.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn claim(path: PathBuf) -> Result<Option<Self>, StoreError> {
        let id = path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_owned();
        let Some(file) =
            LockedFile::try_lock(private_file(&path)?).map_err(StoreError::io(&path))?
        else {
            return Ok(None);
        };
        // If a power cut took the number, all records are looked at.
        let after = fs::read_to_string(&path).ok().and_then(|text| text.parse().ok());
        Ok(Some(Self { id, path, after: after.unwrap_or(0), _file: file }))
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) const fn after(&self) -> i64 {
        self.after
    }

    /// Makes sure that the file is there after a power cut: without it nobody would look for the
    /// calls of this writer.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        sync_folder(folder).map_err(StoreError::io(folder))
    }

    /// Removes the file of a writer that left nothing open.
    pub(super) fn retire(&self) {
        // Gone already, perhaps with the whole folder: nobody will look for it.
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        if let Err(error) = fs::remove_file(&self.path)
            && !gone(&error)
        {
            tracing::warn!(%error, path = %self.path.display(), "cannot remove a writer's file");
        }
    }
}

/// Whether the writer `id` still runs. One without a file left nothing open, or lost it.
pub(super) fn lives(data: &Path, id: &str) -> Result<bool, StoreError> {
    // Nobody may take our look at the lock for a writer that lives.
    let _lock = FolderLock::take(data)?;
    let path = writers(data).join(format!("{id}.lock"));
    let Ok(file) = File::open(&path) else { return Ok(false) };
    Ok(LockedFile::try_lock(file).map_err(StoreError::io(path))?.is_none())
}

fn writers(data: &Path) -> PathBuf {
    data.join("writers")
}
