//! The key behind the marks that stand for secrets.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

const BYTES: usize = 32;

/// Reads the key of this data folder, or makes one.
pub(crate) fn redaction_key(data: &Path) -> io::Result<Vec<u8>> {
    let path = data.join("redaction.key");
    match read(&path)? {
        Some(key) => Ok(key),
        None => make(&path),
    }
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(key) if key.len() == BYTES => Ok(Some(key)),
        // A key is put in place whole, so this one was damaged.
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Written beside and linked: of two processes that start at once, the first one's key stays.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = vec![0; BYTES];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let temp = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temp)?;
    file.write_all(&key)?;
    file.sync_all()?;
    // A link fails if the key is there already, and then that one counts.
    let linked = std::fs::hard_link(&temp, path);
    std::fs::remove_file(&temp)?;
    match linked {
        Ok(()) => Ok(key),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| io::Error::other("`redaction.key` is damaged; remove it"))
        }
        Err(error) => Err(error),
    }
}
