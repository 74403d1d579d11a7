//! Whether a journal is whole: a short look each time it is opened, because nothing may happen that a damaged
//! file would not record.

use std::{fs, path::Path};

use rusqlite::{Connection, OptionalExtension as _};
use uuid::Uuid;

use super::setup;
use crate::{StoreError, folder::private_file};

/// A file up to this size is looked through as a whole, which takes a few milliseconds.
const WHOLE_BYTES: u64 = 2 * 1024 * 1024;
/// So many records at the end of a larger one are read, and as many in random places.
const SAMPLES: i64 = 32;

/// What to do about a damaged journal.
pub(super) const HINT: &str = "nothing runs until that is mended: `toolgate audit repair` sets the file aside \
                               and begins a new journal that names it";

/// Refuses a journal that is damaged, or was found to be before.
pub(super) fn check(conn: &Connection, data: &Path) -> Result<(), StoreError> {
    if let Ok(problem) = fs::read_to_string(marker(data)) {
        let problem = problem.trim().to_owned();
        return Err(StoreError::Damaged { path: setup::file(data), problem, hint: HINT });
    }
    look(conn, data).map_err(|error| note(data, error))
}

/// Names the file in an error, and remembers for other processes that it is damaged.
pub(super) fn note(data: &Path, error: StoreError) -> StoreError {
    let error = error.in_file(setup::file(data), HINT);
    if let StoreError::Damaged { problem, .. } = &error {
        remember(data, problem);
    }
    error
}

fn remember(data: &Path, problem: &str) {
    let marker = marker(data);
    let written = private_file(&marker).map(|_| fs::write(&marker, problem));
    tracing::error!(problem, ?written, "the journal is damaged");
}

/// There while the journal is known to be damaged.
pub(super) fn marker(data: &Path) -> std::path::PathBuf {
    data.join("journal.damaged")
}

fn look(conn: &Connection, data: &Path) -> Result<(), StoreError> {
    let length = fs::metadata(setup::file(data)).map_or(0, |found| found.len());
    if length <= WHOLE_BYTES {
        let found: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        return if found == "ok" { Ok(()) } else { Err(StoreError::Malformed(found)) };
    }
    is_whole(conn, data, length)?;
    let sql = "SELECT coalesce(min(seq), 1), coalesce(max(seq), 0) FROM records";
    let (first, last): (i64, i64) =
        conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut random = i64::from(Uuid::new_v4().as_fields().0);
    for sample in 0..SAMPLES.min(last - first + 1) {
        read(conn, last - sample)?;
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        read(conn, first + (random >> 16).rem_euclid(last - first + 1))?;
    }
    Ok(())
}

/// Reads every page of one record, and finds it by its call.
fn read(conn: &Connection, seq: i64) -> Result<(), StoreError> {
    let sql = "SELECT call_id, length(content) FROM records WHERE seq = ?";
    let mut query = conn.prepare_cached(sql)?;
    let found: Option<(String, Option<i64>)> =
        query.query_row([seq], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let missing = || StoreError::Malformed(format!("record {seq} is missing"));
    let (call, _) = found.ok_or_else(missing)?;
    let sql =
        "SELECT count(*) FROM records INDEXED BY records_by_call WHERE call_id = ?1 AND seq = ?2";
    let indexed: i64 = conn.prepare_cached(sql)?.query_row((call, seq), |row| row.get(0))?;
    if indexed == 1 { Ok(()) } else { Err(missing()) }
}

/// Whether the file has all its pages, apart from those that are still in the log.
fn is_whole(conn: &Connection, data: &Path, length: u64) -> Result<(), StoreError> {
    let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    let (pages, size) = (number("PRAGMA page_count")?, number("PRAGMA page_size")?);
    let mut log = setup::file(data).into_os_string();
    log.push("-wal");
    let log = fs::metadata(log).map_or(0, |found| found.len());
    let unsigned = |number: i64| u64::try_from(number).unwrap_or_default();
    if unsigned(pages) * unsigned(size) > length + log {
        return Err(StoreError::Malformed("the end of the file is missing".to_owned()));
    }
    Ok(())
}
