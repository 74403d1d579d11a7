//! Where the journal stood at some time, to be kept elsewhere.

use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};
use tool::Digest;

use super::{Inner, row};
use crate::{StoreError, time::rfc3339};

/// Where the journal stood. The hash covers every record up to `seq`, of every chain, so whoever
/// keeps this elsewhere can tell later that none of them was changed or cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The last record; 0 if there was none.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
    /// When, as RFC 3339.
    pub time: String,
}

impl Inner {
    pub(super) fn checkpoint(&self) -> Result<Checkpoint, StoreError> {
        let sql = "SELECT seq, hash FROM records ORDER BY seq DESC LIMIT 1";
        let last = self
            .reader()
            .query_row(sql, [], |row| Ok((row.get::<_, i64>(0)?, row::digest(row, 1)?)))
            .optional()?;
        let (seq, hash) = last.unwrap_or((0, row::nothing()));
        let time = rfc3339(self.clock.now());
        Ok(Checkpoint { seq: u64::try_from(seq).unwrap_or_default(), hash, time })
    }
}
