//! Contents that changes replaced, by hash, so that equal ones are kept once.

use std::{
    io::{self, Read},
    os::fd::OwnedFd,
    sync::Arc,
};

use rustix::{fs::fsync, io::Errno};
use tool::{Clock, Digest};

use crate::{
    beneath::{Links, open_file, open_folder},
    data::{Data, private_folder, put_whole},
};

/// The store of pre-images.
#[derive(Debug)]
pub(crate) struct Blobs {
    dir: OwnedFd,
    clock: Arc<dyn Clock>,
}

impl Blobs {
    pub(crate) fn open(data: &Data, clock: Arc<dyn Clock>) -> Result<Self, Errno> {
        Ok(Self { dir: data.folder("blobs")?, clock })
    }

    /// Keeps `content`, on the disk when this returns.
    pub(crate) fn put(&self, digest: Digest, content: &[u8]) -> io::Result<()> {
        let (shelf, name) = names(digest);
        let shelf = self.shelf(&shelf)?;
        if let Ok((file, _)) = open_file(&shelf, &name, Links::Refused)
            && read(&file, digest, content.len() as u64).is_some()
        {
            // Needed again, so it is as good as new.
            return file.set_modified(self.clock.now());
        }
        put_whole(&shelf, &name, content, self.clock.now())
    }

    /// Opens a shelf; a new one is on the disk before anything is put there.
    fn shelf(&self, name: &str) -> Result<OwnedFd, Errno> {
        if let Ok(shelf) = open_folder(&self.dir, name, Links::Refused) {
            return Ok(shelf);
        }
        let shelf = private_folder(&self.dir, name)?;
        fsync(&self.dir)?;
        Ok(shelf)
    }

    /// The content with this hash, if it is still kept and intact.
    pub(crate) fn get(&self, digest: Digest) -> Option<Vec<u8>> {
        let (shelf, name) = names(digest);
        let shelf = open_folder(&self.dir, &*shelf, Links::Refused).ok()?;
        let (file, stat) = open_file(&shelf, &name, Links::Refused).ok()?;
        read(&file, digest, u64::try_from(stat.st_size).ok()?)
    }
}

fn names(digest: Digest) -> (String, String) {
    let name = digest.to_string();
    (name.chars().take(2).collect(), name)
}

fn read(mut file: &std::fs::File, digest: Digest, bytes: u64) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    file.by_ref().take(bytes.saturating_add(1)).read_to_end(&mut content).ok()?;
    (Digest::of_content(&content) == digest).then_some(content)
}
