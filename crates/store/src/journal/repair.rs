//! Sets a damaged journal aside and begins a new one.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::Connection;
use serde::Serialize;
use tool::{Clock, Digest};

use super::{
    Durability, Journal, health,
    row::{self, Stored},
    setup,
    verify::Walk,
    writer::WriterFile,
};
use crate::{
    StoreError,
    folder::{FolderLock, sync_folder},
    time::micros,
};

/// What became of a damaged journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalRepair {
    /// Where the old journal is now.
    pub set_aside: PathBuf,
    /// The last record of it that is as it was written, counted from the first; 0 if none is.
    pub last_good_seq: u64,
    /// The hash of that record, which the first record of the new journal names.
    pub last_good_hash: Digest,
}

impl Journal {
    /// Sets the journal in `data` aside, whole or not, and begins a new one, whose first record names the old file
    /// and the last record in it that is as it was written. Fails while another process uses the journal. Blocks.
    pub fn repair(data: &Path, clock: Arc<dyn Clock>) -> Result<JournalRepair, StoreError> {
        let lock = FolderLock::take(data)?;
        if WriterFile::is_any_alive(data)? {
            return Err(StoreError::JournalInUse);
        }
        let file = setup::file(data);
        let (seq, last_good_hash) = last_good(&file);
        let set_aside = data.join(format!("journal-set-aside-{}.db", micros(clock.now())));
        for suffix in ["-shm", "-wal", ""] {
            let named = |path: &Path| {
                let mut name = path.as_os_str().to_owned();
                name.push(suffix);
                PathBuf::from(name)
            };
            let (from, to) = (named(&file), named(&set_aside));
            if from.exists() {
                fs::rename(&from, &to).map_err(StoreError::io(&from))?;
            }
        }
        // The calls of dead writers are in the file that was set aside.
        for writer in WriterFile::claim_dead(data, &lock)? {
            writer.retire();
        }
        let marker = health::marker(data);
        if marker.exists() {
            fs::remove_file(&marker).map_err(StoreError::io(&marker))?;
        }
        sync_folder(data).map_err(StoreError::io(data))?;
        drop(lock);
        let last_good_seq = u64::try_from(seq).unwrap_or_default();
        let repair = JournalRepair { set_aside, last_good_seq, last_good_hash };
        let journal = Self::open(data, clock)?;
        journal.append_repair(&repair, Durability::Disk)?;
        Ok(repair)
    }
}

/// The last record up to which the file is as it was written, however much of it can be read.
fn last_good(file: &Path) -> (i64, Digest) {
    let mut last = (0, row::nothing());
    // What cannot be read ends the walk; that is what is to be found out.
    let _ = Connection::open(file).map_err(StoreError::from).and_then(|conn| {
        let mut walk = Walk::new(super::verify::erasures(&conn).unwrap_or_default());
        let mut query = conn.prepare(row::select())?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let record = Stored::read(row)?;
            if walk.step(&record).is_err() {
                break;
            }
            last = (record.link.seq, record.hash);
        }
        Ok(())
    });
    last
}
