//! The columns of a record, and its hash.

use std::sync::LazyLock;

use rusqlite::{CachedStatement, Connection, Row};
use tool::Digest;

use super::draft::Draft;
use crate::StoreError;

/// The hash before the first record.
pub(super) fn nothing() -> Digest {
    Digest::from([0; 32])
}

/// The columns that are text; empty means absent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Texts<'a> {
    pub(super) writer: &'a str,
    pub(super) kind: &'a str,
    pub(super) call_id: &'a str,
    pub(super) tool: &'a str,
    pub(super) user: &'a str,
    pub(super) agent: &'a str,
    pub(super) session: &'a str,
    pub(super) sender: &'a str,
    pub(super) channel: &'a str,
    pub(super) provider: &'a str,
    pub(super) role: &'a str,
    pub(super) message_id: &'a str,
    pub(super) provider_call_id: &'a str,
    pub(super) effects: &'a str,
    pub(super) decision: &'a str,
    pub(super) rule: &'a str,
    pub(super) status: &'a str,
    pub(super) error_type: &'a str,
    pub(super) approval: &'a str,
    pub(super) place: &'a str,
    pub(super) answered_by: &'a str,
}

const TEXTS: usize = 21;

impl<'a> Texts<'a> {
    /// Names and values in the order they are stored and hashed. One table, so that a new column
    /// is written, hashed, verified and exported.
    pub(super) const fn in_order(&self) -> [(&'static str, &'a str); TEXTS] {
        [
            ("writer", self.writer),
            ("kind", self.kind),
            ("call_id", self.call_id),
            ("tool", self.tool),
            ("user", self.user),
            ("agent", self.agent),
            ("session", self.session),
            ("sender", self.sender),
            ("channel", self.channel),
            ("provider", self.provider),
            ("role", self.role),
            ("message_id", self.message_id),
            ("provider_call_id", self.provider_call_id),
            ("effects", self.effects),
            ("decision", self.decision),
            ("rule", self.rule),
            ("status", self.status),
            ("error_type", self.error_type),
            ("approval", self.approval),
            ("place", self.place),
            ("answered_by", self.answered_by),
        ]
    }
}

/// The other columns: where a record stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) seq: i64,
    pub(super) n: i64,
    pub(super) at: i64,
    pub(super) time: i64,
    pub(super) duration_ms: Option<i64>,
    pub(super) payload: Digest,
    pub(super) prev: Digest,
    pub(super) above: Digest,
}

impl Link {
    /// The hash of a record: over everything but the payload itself, each part with its length.
    pub(super) fn hash<'a>(&self, texts: impl Iterator<Item = &'a [u8]>) -> Digest {
        let Self { seq, n, at, time, duration_ms, payload, prev, above } = self;
        let numbers = [*seq, *n, *at, *time].map(i64::to_le_bytes);
        let duration = duration_ms.map(i64::to_le_bytes);
        let parts = numbers
            .iter()
            .map(<[u8; 8]>::as_slice)
            .chain([duration.as_ref().map_or(&[][..], <[u8; 8]>::as_slice)])
            .chain([payload, prev, above].map(|digest| digest.as_bytes().as_slice()))
            .chain(texts.map(|text| -> &[u8] { text }));
        Digest::of_parts(parts)
    }
}

/// A record as it was found.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) link: Link,
    pub(super) hash: Digest,
    /// As bytes: whoever changed the file may have put anything there.
    pub(super) texts: Vec<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
}

impl Stored {
    /// Reads a row of [`select`].
    pub(super) fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        let link = Link {
            seq: row.get(0)?,
            n: row.get(1)?,
            at: row.get(2)?,
            time: row.get(3)?,
            duration_ms: row.get(4)?,
            payload: digest(row, 5)?,
            prev: digest(row, 6)?,
            above: digest(row, 7)?,
        };
        let texts = (0..TEXTS).map(|index| Ok(bytes(row, 9 + index)?.unwrap_or_default()));
        let texts = texts.collect::<Result<_, rusqlite::Error>>()?;
        Ok(Self { link, hash: digest(row, 8)?, texts, content: bytes(row, 9 + TEXTS)? })
    }

    /// The hash it should have.
    pub(super) fn computed(&self) -> Digest {
        self.link.hash(self.texts.iter().map(Vec::as_slice))
    }

    /// A column by name, made readable.
    pub(super) fn text(&self, name: &str) -> String {
        self.named().find(|(column, _)| *column == name).map(|(_, text)| text).unwrap_or_default()
    }

    /// The text columns, made readable.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, String)> {
        let names = Texts::default().in_order().into_iter().map(|(name, _)| name);
        names.zip(self.texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()))
    }
}

/// Every record with its payload, in order.
pub(super) fn select() -> &'static str {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT {} FROM records ORDER BY seq", columns().join(", ")));
    &SQL
}

/// What writes records.
pub(super) fn inserting(conn: &Connection) -> Result<CachedStatement<'_>, StoreError> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let marks = vec!["?"; columns().len()];
        format!("INSERT INTO records ({}) VALUES ({})", columns().join(", "), marks.join(", "))
    });
    Ok(conn.prepare_cached(&SQL)?)
}

/// Writes a record and its payload, and returns its hash.
pub(super) fn insert(
    row: &mut CachedStatement<'_>,
    draft: &Draft,
    link: &Link,
    writer: &str,
) -> Result<Digest, StoreError> {
    let texts = draft.texts(writer).in_order();
    let hash = link.hash(texts.iter().map(|(_, text)| text.as_bytes()));
    bind(row, link, &hash)?;
    for (index, (_, text)) in texts.iter().enumerate() {
        row.raw_bind_parameter(10 + index, text)?;
    }
    row.raw_bind_parameter(10 + TEXTS, &draft.payload)?;
    // Anything else, such as a trigger that somebody put there, must not pass for a record.
    if row.raw_execute()? != 1 {
        return Err(StoreError::NotUnderstood("the journal did not take the record".to_owned()));
    }
    Ok(hash)
}

fn bind(row: &mut CachedStatement<'_>, link: &Link, hash: &Digest) -> Result<(), StoreError> {
    let Link { seq, n, at, time, duration_ms, payload, prev, above } = link;
    for (index, number) in [seq, n, at, time].into_iter().enumerate() {
        row.raw_bind_parameter(1 + index, number)?;
    }
    row.raw_bind_parameter(5, duration_ms)?;
    for (index, digest) in [payload, prev, above, hash].into_iter().enumerate() {
        row.raw_bind_parameter(6 + index, digest.as_bytes())?;
    }
    Ok(())
}

fn columns() -> Vec<&'static str> {
    let links = ["seq", "n", "at", "time", "duration_ms", "payload", "prev", "above", "hash"];
    let texts = Texts::default().in_order().map(|(name, _)| name);
    links.into_iter().chain(texts).chain(["content"]).collect()
}

/// A digest of any other length cannot be right, and zeros are not either.
pub(super) fn digest(row: &Row<'_>, index: usize) -> Result<Digest, rusqlite::Error> {
    let bytes = row.get_ref(index)?.as_bytes()?;
    Ok(<[u8; 32]>::try_from(bytes).map_or_else(|_| nothing(), Digest::from))
}

fn bytes(row: &Row<'_>, index: usize) -> Result<Option<Vec<u8>>, rusqlite::Error> {
    Ok(row.get_ref(index)?.as_bytes_or_null()?.map(<[u8]>::to_vec))
}
