//! Keeps the write-ahead log short, where nobody waits for it.

use std::path::Path;

use rusqlite::Connection;

use super::{Inner, setup};
use crate::StoreError;

/// A log this long is emptied when the journal is opened: many processes live too short to do it.
const LONG_LOG_PAGES: i64 = 1_000;

impl Inner {
    /// Moves the log into the file. Others go on writing meanwhile. May block.
    pub(super) fn upkeep(&self) {
        self.checkpoint_log("PRAGMA wal_checkpoint(PASSIVE)");
    }

    /// Leaves nothing of what was erased in the log. Others wait meanwhile. Blocks.
    pub(super) fn upkeep_after_erasure(&self) {
        self.checkpoint_log("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    fn checkpoint_log(&self, sql: &str) {
        let done = checkpoint(&self.data, sql).and_then(|()| self.chain().touch());
        if let Err(error) = done {
            // The log only stays long; nothing is lost.
            tracing::warn!(?error, "cannot empty the journal's write-ahead log");
        }
    }

    /// The same, if much waits there.
    pub(super) fn upkeep_if_long(&self) -> Result<(), StoreError> {
        let sql = "PRAGMA wal_checkpoint(NOOP)";
        let waiting: i64 = self
            .chain()
            .conn()
            .query_row(sql, [], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))?;
        if waiting > LONG_LOG_PAGES {
            self.upkeep();
        }
        Ok(())
    }
}

fn checkpoint(data: &Path, sql: &str) -> Result<(), StoreError> {
    let conn = Connection::open(setup::file(data))?;
    conn.query_row(sql, [], |_| Ok(()))?;
    Ok(())
}
