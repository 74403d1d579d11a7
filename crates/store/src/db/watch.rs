//! Whether anybody changed the database.

use std::{
    fs::File,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::unix::fs::FileExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

use rusqlite::OpenFlags;

use crate::{
    StoreError,
    disk::{index, index_path},
};

/// The head of `SQLite`'s index of its write-ahead log, which every commit changes: a counter, the number of
/// pages, and sums over them. Part of the file format.
const HEAD: usize = 48;

/// Sees that somebody changed the database, this process or another.
#[derive(Debug)]
pub(super) struct Watch {
    /// The index of the write-ahead log: to look there costs a tenth of asking `SQLite`.
    index: Option<&'static File>,
    conn: Mutex<rusqlite::Connection>,
}

impl Watch {
    /// Watches the database at `path`, which must be there. Blocks.
    pub(super) fn new(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = rusqlite::Connection::open_with_flags(path, flags)?;
        // The index is there once somebody has read, and stays while this connection is open.
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        let index = index(&index_path(path)).ok();
        Ok(Self { index, conn: Mutex::new(conn) })
    }

    /// Another number after every change.
    pub(super) fn version(&self) -> Result<i64, StoreError> {
        let mut head = [0; HEAD];
        let read = self.index.map(|index| index.read_exact_at(&mut head, 0));
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

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::MetadataExt as _};

    use super::*;

    /// How many locks this process has on a file.
    fn locks(path: &Path) -> usize {
        let file = format!(":{} ", fs::metadata(path).unwrap().ino());
        let process = format!(" {} ", std::process::id());
        let locks = fs::read_to_string("/proc/locks").unwrap();
        locks.lines().filter(|lock| lock.contains(&file) && lock.contains(&process)).count()
    }

    #[test]
    fn the_locks_of_a_database_outlive_whoever_looks_at_it() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("a.db");
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE a (b)").unwrap();
        let shared = dir.path().join("a.db-shm");
        let before = locks(&shared);
        assert!(before > 0, "`SQLite` has a lock while the database is open");
        for _ in 0..2 {
            drop(Watch::new(&path).unwrap());
            assert_eq!(locks(&shared), before);
        }
    }

    #[test]
    fn a_file_that_was_made_anew_is_another_one() {
        let dir = tempfile::TempDir::new().unwrap();
        let path = dir.path().join("a");
        let open = |text: &str| {
            fs::write(&path, text).unwrap();
            index(&path).unwrap()
        };
        let first = open("first");
        assert!(std::ptr::eq(first, open("again")));
        fs::remove_file(&path).unwrap();
        let mut found = [0; 6];
        open("second").read_exact_at(&mut found, 0).unwrap();
        assert_eq!(&found, b"second");
    }
}
