//! Keeps the write-ahead log short, where nobody waits for it.

use std::{path::Path, sync::Arc};

use rusqlite::Connection;

use super::{Inner, setup};
use crate::StoreError;

/// A log this long is emptied when the journal is opened: many processes live too short to do it.
const LONG_LOG_PAGES: i64 = 2_000;

const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";

impl Inner {
    /// Moves the log into the file and starts it anew. May block.
    pub(super) fn upkeep(self: &Arc<Self>) {
        // Most of the work is done while others go on writing, but then there is always something
        // left, and the log would only grow: the rest is done while nobody of us can write.
        let most = checkpoint(&self.data);
        most.and_then(|()| self.chain().checkpoint(PASSIVE)).unwrap_or_else(warn);
    }

    /// Leaves nothing of what was erased in the log. Blocks.
    pub(super) fn upkeep_after_erasure(self: &Arc<Self>) {
        self.chain().checkpoint("PRAGMA wal_checkpoint(TRUNCATE)").unwrap_or_else(warn);
    }

    /// The same on a thread of its own, if much waits there.
    pub(super) fn upkeep_if_long(self: &Arc<Self>) -> Result<(), StoreError> {
        let sql = "PRAGMA wal_checkpoint(NOOP)";
        let waiting: i64 = self
            .chain()
            .conn()
            .query_row(sql, [], |row| Ok(row.get::<_, i64>(1)? - row.get::<_, i64>(2)?))?;
        if waiting > LONG_LOG_PAGES {
            let data = self.data.clone();
            // Not waited for: if the process ends before it, another one will do it.
            drop(std::thread::spawn(move || checkpoint(&data).map_err(warn)));
        }
        Ok(())
    }
}

fn checkpoint(data: &Path) -> Result<(), StoreError> {
    let conn = Connection::open(setup::file(data))?;
    conn.query_row(PASSIVE, [], |_| Ok(()))?;
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn warn(error: StoreError) {
    // The log only stays long; nothing is lost.
    tracing::warn!(?error, "cannot empty the journal's write-ahead log");
}
