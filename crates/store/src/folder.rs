//! The data folder: nobody but its owner may look into it.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    ops::Deref,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use crate::StoreError;

/// Held while files of the data folder are set up or claimed, so that processes do it one by one.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: LockedFile,
}

impl FolderLock {
    /// Makes the folder if it is missing, and waits until nobody else holds the lock. May block.
    pub(crate) fn take(data: &Path) -> Result<Self, StoreError> {
        private_folder(data)?;
        let file = private_file(&data.join("setup.lock"))?;
        let file = LockedFile::lock(file).map_err(StoreError::io(data))?;
        Ok(Self { _file: file })
    }
}

/// A file with an exclusive lock, which ends when this is dropped or the process dies.
///
/// Closing the descriptor is not enough: a child that is being started has a copy of it until it executes
/// its program, and the lock would last until then. Unlocking ends it for every copy.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Waits for the lock. May block.
    pub(crate) fn lock(file: File) -> io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_lock(file: File) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file right after this ends the lock too, if later.
        let _ = self.0.unlock();
    }
}

/// Makes a folder for its owner only, unless it is there.
pub(crate) fn private_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.and_then(|()| path.parent().map_or(Ok(()), sync_folder)).map_err(StoreError::io(path))
}

/// Opens a file for its owner only, and makes it if it is missing. A database
/// gives the files it puts beside it the same mode.
pub(crate) fn private_file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(StoreError::io(path))
}

/// Makes what was created in a folder survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // The parent of a relative path of one part.
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}
