//! The data folder: nobody but its owner may look into it.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use crate::StoreError;

/// Held while files of the data folder are set up or claimed, so that processes do it one by one.
#[derive(Debug)]
pub(crate) struct FolderLock {
    // Closing the file ends the lock.
    _file: File,
}

impl FolderLock {
    /// Makes the folder if it is missing, and waits until nobody else holds the lock. May block.
    pub(crate) fn take(data: &Path) -> Result<Self, StoreError> {
        private_folder(data)?;
        let file = private_file(&data.join("setup.lock"))?;
        file.lock().map_err(StoreError::io(data))?;
        Ok(Self { _file: file })
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
