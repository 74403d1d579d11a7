//! Finds out whether somebody changed the journal, and where.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use tool::Digest;

use super::{
    Checkpoint, Inner,
    row::{self, Stored},
    setup,
};
use crate::StoreError;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Calls in the journal.
    pub entries: u64,
    /// Records in the journal.
    pub records: u64,
    /// Whether everything is as it was written.
    pub ok: bool,
    /// The first record that is not.
    pub first_bad: Option<FirstBad>,
}

/// The first record that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstBad {
    /// Where it is, or should be.
    pub seq: u64,
    /// Its chain, if it is there.
    pub writer: Option<String>,
    /// Its position in the chain, if it is there.
    pub n: Option<u64>,
    /// The call it is about, if it is there.
    pub call_id: Option<String>,
    /// What is wrong.
    pub problem: String,
}

impl Inner {
    pub(super) fn verify(
        &self,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Verification, StoreError> {
        // Its own connection, because this takes long. Everything is looked at as it stands now,
        // while others go on writing.
        let mut reader = setup::reader(&self.data)?;
        let reader = reader.transaction()?;
        let first_bad = match changed_schema(&reader)?
            .map_or_else(|| first_bad(&reader), |bad| Ok(Some(bad)))?
        {
            Some(bad) => Some(bad),
            None => checkpoint.map_or(Ok(None), |checkpoint| compare(&reader, checkpoint))?,
        };
        let sql =
            "SELECT count(*) FILTER (WHERE kind IN ('intent', 'call')), count(*) FROM records";
        let (entries, records) =
            reader.query_row(sql, [], |row| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))))?;
        Ok(Verification { entries, records, ok: first_bad.is_none(), first_bad })
    }
}

/// A table, view or trigger that is not as we made it can hide records or keep new ones out.
fn changed_schema(reader: &Connection) -> Result<Option<FirstBad>, StoreError> {
    let (found, expected) = (setup::schema_of(reader)?, setup::schema()?);
    let other = found.symmetric_difference(&expected).next();
    Ok(other.map(|(name, _)| FirstBad {
        seq: 0,
        writer: None,
        n: None,
        call_id: None,
        problem: format!("`{name}` in the file is not as it was made"),
    }))
}

fn first_bad(reader: &Connection) -> Result<Option<FirstBad>, StoreError> {
    let mut walk = Walk::new(erasures(reader)?);
    let mut query = reader.prepare(row::select())?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let record = Stored::read(row)?;
        if let Err(problem) = walk.step(&record) {
            return Ok(Some(walk.bad(&record, problem)));
        }
    }
    Ok(None)
}

/// Goes along the file and remembers what the next record has to refer to.
pub(super) struct Walk {
    seq: i64,
    above: Digest,
    heads: HashMap<String, (i64, Digest)>,
    erasures: Vec<(i64, i64)>,
}

impl Walk {
    pub(super) fn new(erasures: Vec<(i64, i64)>) -> Self {
        Self { seq: 1, above: row::nothing(), heads: HashMap::new(), erasures }
    }

    pub(super) fn step(&mut self, record: &Stored) -> Result<(), &'static str> {
        let link = &record.link;
        if link.seq != self.seq {
            return Err("record is missing");
        }
        if record.computed() != record.hash {
            return Err("record was changed");
        }
        if link.above != self.above {
            return Err("record does not follow the one before it in the file");
        }
        let writer = record.text("writer");
        let (n, prev) = self.heads.get(&writer).copied().unwrap_or((0, self.above));
        if (link.n, link.prev) != (n, prev) {
            return Err("record does not follow the one before it in its chain");
        }
        self.payload(record)?;
        self.heads.insert(writer, (n + 1, record.hash));
        self.above = record.hash;
        self.seq += 1;
        Ok(())
    }

    fn payload(&self, record: &Stored) -> Result<(), &'static str> {
        let link = &record.link;
        match &record.content {
            Some(content) if Digest::of(content) == link.payload => Ok(()),
            Some(_) => Err("payload was changed"),
            None if self
                .erasures
                .iter()
                .any(|(seq, before)| *seq > link.seq && *before > link.at) =>
            {
                Ok(())
            }
            None => Err("payload is missing, and no erasure was recorded"),
        }
    }

    fn bad(&self, record: &Stored, problem: &str) -> FirstBad {
        let problem = problem.to_owned();
        if record.link.seq != self.seq {
            let seq = unsigned(self.seq);
            return FirstBad { seq, writer: None, n: None, call_id: None, problem };
        }
        FirstBad {
            seq: unsigned(self.seq),
            writer: Some(record.text("writer")),
            n: Some(unsigned(record.link.n)),
            call_id: Some(record.text("call_id")).filter(|id| !id.is_empty()),
            problem,
        }
    }
}

/// Where erasures are recorded, and from before when each erased.
pub(super) fn erasures(reader: &Connection) -> Result<Vec<(i64, i64)>, StoreError> {
    let mut query = reader.prepare("SELECT seq, time FROM records WHERE kind = 'erasure'")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Compares a journal that agrees with itself with what it was.
fn compare(reader: &Connection, kept: &Checkpoint) -> Result<Option<FirstBad>, StoreError> {
    if kept.seq == 0 {
        return Ok(None);
    }
    let at = i64::try_from(kept.seq).unwrap_or(i64::MAX);
    let sql = "SELECT hash FROM records WHERE seq = ?";
    let found = reader.query_row(sql, [at], |row| row::digest(row, 0)).optional()?;
    Ok(match found {
        Some(hash) if hash == kept.hash => None,
        Some(_) => Some(missing(
            kept.seq,
            "records up to this one are not those of the checkpoint: they were written anew",
        )),
        None => {
            let sql = "SELECT coalesce(max(seq), 0) + 1 FROM records";
            let end = reader.query_row(sql, [], |row| row.get(0))?;
            Some(missing(unsigned(end), "records from here to the checkpoint were cut off"))
        }
    })
}

fn missing(seq: u64, problem: &str) -> FirstBad {
    FirstBad { seq, writer: None, n: None, call_id: None, problem: problem.to_owned() }
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::SystemTime};

    use tempfile::TempDir;
    use tool::{CallIds, Clock};

    use super::*;
    use crate::{Durability, Journal, Record};

    #[derive(Debug)]
    struct Start;

    impl Clock for Start {
        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH
        }
    }

    /// Does to a record what somebody would do who knows how hashes are made.
    fn forge(conn: &Connection, seq: i64, change: &str) {
        conn.execute(&format!("UPDATE records SET {change} WHERE seq = ?"), [seq]).unwrap();
        let mut query = conn.prepare(row::select()).unwrap();
        let records: Vec<_> =
            query.query_map([], Stored::read).unwrap().map(Result::unwrap).collect();
        let record = records.iter().find(|record| record.link.seq == seq).unwrap();
        let sql = "UPDATE records SET hash = ? WHERE seq = ?";
        conn.execute(sql, (record.computed().as_bytes(), seq)).unwrap();
    }

    #[test]
    fn a_record_that_was_hashed_anew_is_found_by_what_refers_to_it() {
        let file = "record does not follow the one before it in the file";
        let chain = "record does not follow the one before it in its chain";
        let above = "above = (SELECT hash FROM records WHERE seq = 2)";
        for (seq, change, expected) in [
            // The last of its chain, in the middle of the file: only the file refers to it.
            (2, "rule = 'none'", Some((3, file))),
            (1, "rule = 'none'", Some((2, file))),
            (3, "prev = x'00'", Some((3, chain))),
            (4, "n = 7", Some((4, chain))),
            (4, above, Some((4, file))),
            // Nothing refers to the last one, unless somebody keeps a checkpoint.
            (4, "rule = 'none'", None),
        ] {
            let (dir, clock) = (TempDir::new().unwrap(), Arc::new(Start));
            let ids = CallIds::new(clock.clone());
            let [a, b] = [(); 2].map(|()| Journal::open(dir.path(), clock.clone()).unwrap());
            for journal in [&a, &a, &b, &b] {
                let record = Record::Change { call: ids.next(), changes: vec![] };
                journal.append_blocking(vec![record], Durability::Process).unwrap();
            }
            forge(&Connection::open(setup::file(dir.path())).unwrap(), seq, change);
            let bad = a.verify(None).unwrap().first_bad;
            let found = bad.as_ref().map(|bad| (bad.seq, bad.problem.as_str()));
            assert_eq!(found, expected, "{seq}: {change}");
        }
    }
}
