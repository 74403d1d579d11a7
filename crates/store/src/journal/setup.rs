//! Opens the journal's file.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use crate::{
    StoreError,
    disk::{allocate_index, ensure_room},
    folder::private_file,
};

/// What each format has that the one before it has not; the last is the one this code reads and writes.
const STEPS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("schema_2.sql"), include_str!("schema_3.sql")];
/// A write-ahead log that grew beyond this is cut when it is used anew.
const MAX_LOG_BYTES: i64 = 16 * 1024 * 1024;

/// Where the journal is.
pub(super) fn file(data: &Path) -> PathBuf {
    data.join("journal.db")
}

/// A connection that writes. Makes the file if it is missing; the caller holds the folder lock.
pub(super) fn writer(data: &Path) -> Result<Connection, StoreError> {
    ensure_room(data)?;
    private_file(&file(data))?;
    let conn = Connection::open(file(data))?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    // A checkpoint syncs. It is done by `upkeep`, where nobody waits for it: neither after a commit
    // nor at the end of each short-lived process.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", MAX_LOG_BYTES)?;
    // Erased payloads are overwritten, and pages that are split keep nothing of what moved out of them.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    bring_up_to_date(&conn, data)?;
    allocate_index(&file(data))?;
    conn.busy_timeout(Duration::ZERO)?;
    Ok(conn)
}

/// A connection that reads, so that nobody who looks waits for somebody who writes.
pub(super) fn reader(data: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(file(data), flags)?)
}

/// Everything a journal has, by name and definition.
pub(super) fn schema() -> Result<BTreeSet<(String, String)>, StoreError> {
    let conn = Connection::open_in_memory()?;
    take_steps(&conn, 0)?;
    schema_of(&conn)
}

/// What `conn` has, apart from tables that the database makes for itself.
pub(super) fn schema_of(conn: &Connection) -> Result<BTreeSet<(String, String)>, StoreError> {
    let sql = "SELECT name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'";
    let mut query = conn.prepare(sql)?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn bring_up_to_date(conn: &Connection, data: &Path) -> Result<(), StoreError> {
    let found: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    match usize::try_from(found) {
        Ok(format) if format <= STEPS.len() => take_steps(conn, format),
        Ok(_) | Err(_) => Err(StoreError::Newer { path: file(data), found }),
    }
}

/// Nothing is done to a file that has them all: others may write to it.
fn take_steps(conn: &Connection, format: usize) -> Result<(), StoreError> {
    let steps = STEPS.get(format..).unwrap_or_default().concat();
    if !steps.is_empty() {
        let last = STEPS.len();
        conn.execute_batch(&format!("BEGIN; {steps} PRAGMA user_version = {last}; COMMIT;"))?;
    }
    Ok(())
}
