//! Whether anybody changed the database.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use rusqlite::OpenFlags;

use crate::StoreError;

/// The head of `SQLite`'s index of its write-ahead log, which every commit changes: a counter, the number of
/// pages, and sums over them. Part of the file format.
const HEAD: usize = 48;

/// Sees that somebody changed the database, this process or another.
#[derive(Debug)]
pub(super) struct Watch {
    /// The index of the write-ahead log: to look there costs a tenth of asking `SQLite`.
    index: Option<File>,
    conn: Mutex<rusqlite::Connection>,
}

impl Watch {
    /// Watches the database at `path`, which must be there. Blocks.
    pub(super) fn new(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = rusqlite::Connection::open_with_flags(path, flags)?;
        // The index is there once somebody has read, and stays while this connection is open.
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let mut name = path.as_os_str().to_owned();
        name.push("-shm");
        let index = File::open(PathBuf::from(name)).ok();
        Ok(Self { index, conn: Mutex::new(conn) })
    }

    /// Another number after every change.
    pub(super) fn version(&self) -> Result<i64, StoreError> {
        let mut head = [0; HEAD];
        let read = self.index.as_ref().map(|index| index.read_exact_at(&mut head, 0));
        if read.is_some_and(|read| read.is_ok()) {
            let mut hasher = DefaultHasher::new();
            head.hash(&mut hasher);
            return Ok(i64::from_ne_bytes(hasher.finish().to_ne_bytes()));
        }
        let conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut query = conn.prepare_cached("PRAGMA data_version")?;
        Ok(query.query_row([], |row| row.get(0))?)
    }
}
