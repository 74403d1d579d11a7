//! The writing end of the journal.

use std::{collections::HashSet, ops::Range, sync::Arc, time::Duration};

use rusqlite::{Connection, OptionalExtension};
use tool::{CallId, Clock, Digest};

use super::{
    Durability, Record,
    draft::{Body, Draft},
    row::{self, Link},
    writer::WriterFile,
};
use crate::{StoreError, time::micros};

/// How long a thread that may block waits for other processes.
const PATIENCE: Duration = Duration::from_secs(5);
/// The write-ahead log is emptied after so many commits, each of which writes whole pages,
const COMMITS_PER_CHECKPOINT: u32 = 1_000;
/// or after so many records, of which one commit can have many.
const RECORDS_PER_CHECKPOINT: usize = 10_000;

/// Whether to wait while another process writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// We are on a thread of the runtime.
    None,
    /// We may block.
    Some,
}

/// One connection, and where the chain of this process stands.
#[derive(Debug)]
pub(super) struct Chain {
    conn: Connection,
    writer: WriterFile,
    clock: Arc<dyn Clock>,
    /// Unknown after an error, and then looked up.
    head: Option<Head>,
    /// Calls with an intent and no outcome.
    open: HashSet<CallId>,
    writer_is_on_disk: bool,
    commits: u32,
    records: usize,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    /// Position of the next record.
    n: i64,
    /// Hash of the last one.
    hash: Digest,
}

impl Chain {
    /// Continues on a connection that is set up.
    pub(super) fn new(conn: Connection, writer: WriterFile, clock: Arc<dyn Clock>) -> Self {
        let head = Some(Head { n: 0, hash: row::nothing() });
        let open = HashSet::new();
        Self { conn, writer, clock, head, open, writer_is_on_disk: false, commits: 0, records: 0 }
    }

    /// For what only looks.
    pub(super) const fn conn(&self) -> &Connection {
        &self.conn
    }

    /// Appends all of `drafts`, or none.
    pub(super) fn append<'a>(
        &mut self,
        drafts: impl Iterator<Item = &'a Draft> + Clone,
        durability: Durability,
        patience: Patience,
    ) -> Result<(), StoreError> {
        self.with(durability, patience, |chain| {
            chain.transact(|chain| chain.write(drafts.clone()))
        })?;
        for draft in drafts {
            self.note(draft);
            self.records += 1;
        }
        Ok(())
    }

    /// Erases the payloads of calls that ended, as far as they are from before `before` and among `range`. The
    /// first time something is erased, that is recorded.
    pub(super) fn erase(
        &mut self,
        before: i64,
        range: Range<i64>,
        recorded: &mut bool,
    ) -> Result<u64, StoreError> {
        let mut erased = 0;
        self.with(Durability::Disk, Patience::Some, |chain| {
            chain.transact(|chain| {
                erased = chain.conn.execute(ERASE, [before, range.start, range.end])?;
                let record = (erased > 0 && !*recorded).then(|| Draft::erasure(before));
                chain.write(record.iter())
            })
        })?;
        *recorded |= erased > 0;
        Ok(erased as u64)
    }

    /// The first of all records, and where the next one will be.
    pub(super) fn extent(&self) -> Result<Range<i64>, StoreError> {
        let sql = "SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) + 1 FROM records";
        Ok(self.conn.query_row(sql, [], |row| Ok(row.get(0)?..row.get(1)?))?)
    }

    /// Whether it is time to empty the write-ahead log; says so once.
    pub(super) fn checkpoint_is_due(&mut self) -> bool {
        let due = self.commits >= COMMITS_PER_CHECKPOINT || self.records >= RECORDS_PER_CHECKPOINT;
        if due {
            (self.commits, self.records) = (0, 0);
        }
        due
    }

    /// Moves the rest of the log into the file, and takes upon itself what the first write after
    /// that costs: a sync.
    pub(super) fn checkpoint(&mut self, sql: &str) -> Result<(), StoreError> {
        self.with(Durability::Process, Patience::Some, |chain| {
            chain.conn.query_row(sql, [], |_| Ok(()))?;
            chain.conn.execute("UPDATE upkeep SET checkpoints = checkpoints + 1", [])?;
            Ok(())
        })
    }

    fn with(
        &mut self,
        durability: Durability,
        patience: Patience,
        work: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if durability == Durability::Disk && !self.writer_is_on_disk {
            self.writer.sync()?;
            self.writer_is_on_disk = true;
        }
        // FULL syncs the write-ahead log at each commit, NORMAL only at checkpoints.
        if durability == Durability::Disk {
            self.conn.pragma_update(None, "synchronous", "FULL")?;
        }
        if patience == Patience::Some {
            self.conn.busy_timeout(PATIENCE)?;
        }
        let result = work(self);
        if patience == Patience::Some {
            self.conn.busy_timeout(Duration::ZERO)?;
        }
        if durability == Durability::Disk {
            self.conn.pragma_update(None, "synchronous", "NORMAL")?;
        }
        result
    }

    fn transact(
        &mut self,
        work: impl FnOnce(&Self) -> Result<Head, StoreError>,
    ) -> Result<(), StoreError> {
        self.run("BEGIN IMMEDIATE")?;
        let head = work(self).and_then(|head| self.run("COMMIT").map(|()| head));
        self.head = head.as_ref().ok().copied();
        self.commits += 1;
        if head.is_err() && !self.conn.is_autocommit() {
            self.conn.execute_batch("ROLLBACK")?;
        }
        head.map(drop)
    }

    fn write<'a>(&self, drafts: impl Iterator<Item = &'a Draft>) -> Result<Head, StoreError> {
        let (mut seq, mut above) = self.last()?;
        let mut head = self.head.map_or_else(|| self.find_head(), Ok)?;
        let at = micros(self.clock.now());
        let mut row = row::inserting(&self.conn)?;
        for draft in drafts {
            seq += 1;
            // A new chain hangs on the file, so that it cannot be taken out as a whole.
            let prev = if head.n == 0 { above } else { head.hash };
            let (time, duration_ms) = draft.times();
            let payload = draft.digest;
            let link = Link { seq, n: head.n, at, time, duration_ms, payload, prev, above };
            above = row::insert(&mut row, draft, &link, self.writer.id())?;
            head = Head { n: head.n + 1, hash: above };
        }
        Ok(head)
    }

    fn last(&self) -> Result<(i64, Digest), StoreError> {
        let sql = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1";
        let mut last = self.conn.prepare_cached(sql)?;
        let found = last.query_row([], |row| Ok((row.get(0)?, row::digest(row, 1)?)));
        Ok(found.optional()?.unwrap_or((0, row::nothing())))
    }

    fn find_head(&self) -> Result<Head, StoreError> {
        let sql = "SELECT n + 1, hash FROM records
            WHERE writer = ? AND seq > ? ORDER BY seq DESC LIMIT 1";
        let mut head = self.conn.prepare_cached(sql)?;
        let found = head.query_row((self.writer.id(), self.writer.after()), |row| {
            Ok(Head { n: row.get(0)?, hash: row::digest(row, 1)? })
        });
        Ok(found.optional()?.unwrap_or(Head { n: 0, hash: row::nothing() }))
    }

    fn run(&self, sql: &str) -> Result<(), StoreError> {
        self.conn.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn note(&mut self, draft: &Draft) {
        match &draft.body {
            Body::Record(Record::Intent(intent)) => drop(self.open.insert(intent.call)),
            Body::Record(Record::Outcome(ending)) => drop(self.open.remove(&ending.call)),
            Body::Record(Record::Call(..) | Record::Change { .. })
            | Body::Erasure { .. }
            | Body::Repair { .. } => {}
        }
    }
}

/// Number and time of the last record; zeros if there is none.
pub(super) fn last_place(conn: &Connection) -> Result<(i64, i64), StoreError> {
    let sql = "SELECT seq, at FROM records ORDER BY seq DESC LIMIT 1";
    let found = conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    Ok(found.optional()?.unwrap_or_default())
}

impl Drop for Chain {
    fn drop(&mut self) {
        // Otherwise somebody will find the file, see that we are gone, and look after the calls.
        if self.open.is_empty() {
            self.writer.retire();
        }
    }
}

// A call without an outcome may still have to be rolled back.
const ERASE: &str = "UPDATE records AS r SET content = NULL
    WHERE r.at < ?1 AND r.seq >= ?2 AND r.seq < ?3 AND r.content IS NOT NULL AND EXISTS
        (SELECT 1 FROM records AS o WHERE o.call_id = r.call_id AND o.kind IN ('outcome', 'call'))";
