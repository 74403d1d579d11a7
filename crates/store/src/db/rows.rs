//! What calls changed about notes and tasks, and taking it back.

use std::time::SystemTime;

use sqlx::{Sqlite, Transaction};
use tool::{CallId, Digest, ItemId};

use super::{Db, notes::NoteRow, tasks::TaskRow};
use crate::{StoreError, time::micros};

/// So many changes of one user can be taken back; then the oldest are forgotten.
const MAX_CHANGES: i64 = 1_000;
/// After the last letter of an id.
pub(super) const END: &str = "~";

/// The call that changes something.
#[derive(Debug, Clone, Copy)]
pub struct By<'a> {
    /// The call.
    pub call: CallId,
    /// When.
    pub now: SystemTime,
    /// What untrusted content its session has read: what it writes may come from there.
    pub untrusted: Option<&'a str>,
}

/// A note or a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Note,
    Task,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Task => "task",
        }
    }

    fn named(name: &str) -> Result<Self, StoreError> {
        let found = [Self::Note, Self::Task].into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| StoreError::NotUnderstood(format!("no kind of row `{name}`")))
    }
}

/// One row of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    pub(super) user: String,
    pub(super) id: String,
}

impl Target {
    /// The row of `user` that is meant, if it is the only one.
    pub(super) fn only(kind: Kind, user: &str, ids: Vec<String>) -> Option<Self> {
        let [id] = <[String; 1]>::try_from(ids).ok()?;
        Some(Self { kind, user: user.to_owned(), id })
    }
}

/// What one call did to one row, from first to last.
struct Touched {
    target: Target,
    /// The row as it was.
    before: Option<String>,
    /// The hash of what it became.
    after: Option<String>,
}

impl Db {
    /// What a call changed about notes and tasks, in words; refuses what cannot be taken back, because
    /// it was changed since.
    pub async fn undoable_rows(&self, call: CallId) -> Result<Vec<String>, StoreError> {
        let mut read = self.pool.begin().await?;
        let mut all = Vec::new();
        for touched in touched(&mut read, call).await? {
            all.push(check(&mut read, &touched).await?);
        }
        Ok(all)
    }

    /// Takes back what `undone` did to notes and tasks, all or none of it: refuses if a row was changed
    /// since. Itself it is a change that can be taken back. Says what it took back.
    pub async fn undo_rows(&self, undone: CallId, by: By<'_>) -> Result<Vec<String>, StoreError> {
        let mut write = self.begin().await?;
        let mut all = Vec::new();
        for touched in touched(&mut write, undone).await? {
            all.push(check(&mut write, &touched).await?);
            let now = snapshot(&mut write, &touched.target).await?;
            restore(&mut write, &touched).await?;
            remember(&mut write, &touched.target, now, by).await?;
        }
        write.commit().await?;
        Ok(all)
    }
}

/// Notes that a row is no longer what it was `before`.
pub(super) async fn remember(
    write: &mut Transaction<'_, Sqlite>,
    target: &Target,
    before: Option<String>,
    by: By<'_>,
) -> Result<(), StoreError> {
    let after = snapshot(write, target).await?.map(|row| Digest::of(row).to_string());
    sqlx::query(
        "INSERT INTO row_changes (call_id, user, kind, row_id, before, after, changed_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(by.call.to_string())
    .bind(&target.user)
    .bind(target.kind.name())
    .bind(&target.id)
    .bind(before)
    .bind(after)
    .bind(micros(by.now))
    .execute(&mut **write)
    .await?;
    sqlx::query(
        "DELETE FROM row_changes WHERE number IN (SELECT number FROM row_changes WHERE user = ?
         ORDER BY number DESC LIMIT -1 OFFSET ?)",
    )
    .bind(&target.user)
    .bind(MAX_CHANGES)
    .execute(&mut **write)
    .await?;
    Ok(())
}

/// All of a row, as JSON.
pub(super) async fn snapshot(
    read: &mut Transaction<'_, Sqlite>,
    target: &Target,
) -> Result<Option<String>, StoreError> {
    Ok(match target.kind {
        Kind::Note => NoteRow::find(read, target).await?.map(|row| serde_json::to_string(&row)),
        Kind::Task => TaskRow::find(read, target).await?.map(|row| serde_json::to_string(&row)),
    }
    .transpose()?)
}

/// An id that no row of `kind` has.
pub(super) fn new_target(kind: Kind, user: &str) -> Target {
    // Nobody has ever seen two random ids that are the same; the database would refuse the second.
    Target { kind, user: user.to_owned(), id: ItemId::random_uuid().to_string() }
}

async fn touched(
    read: &mut Transaction<'_, Sqlite>,
    call: CallId,
) -> Result<Vec<Touched>, StoreError> {
    type Row = (String, String, String, Option<String>, Option<String>);
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT kind, user, row_id, before, after FROM row_changes WHERE call_id = ? ORDER BY number",
    )
    .bind(call.to_string())
    .fetch_all(&mut **read)
    .await?;
    let mut all: Vec<Touched> = Vec::new();
    for (kind, user, id, before, after) in rows {
        let target = Target { kind: Kind::named(&kind)?, user, id };
        match all.iter_mut().find(|touched| touched.target == target) {
            Some(touched) => touched.after = after,
            None => all.push(Touched { target, before, after }),
        }
    }
    Ok(all)
}

/// Says what the row is called, if it is still what the call made of it.
async fn check(
    read: &mut Transaction<'_, Sqlite>,
    touched: &Touched,
) -> Result<String, StoreError> {
    let now = snapshot(read, &touched.target).await?;
    let Target { kind, user: _, id } = &touched.target;
    if now.as_ref().map(|row| Digest::of(row).to_string()) != touched.after {
        return Err(StoreError::ChangedSince(format!("{} `{id}`", kind.name())));
    }
    let row = now.as_ref().or(touched.before.as_ref());
    let title = row.map(|row| serde_json::from_str::<Titled>(row)).transpose()?;
    Ok(format!("{} `{}`", kind.name(), title.map_or_else(|| id.clone(), |row| row.title)))
}

#[derive(serde::Deserialize)]
struct Titled {
    title: String,
}

async fn restore(write: &mut Transaction<'_, Sqlite>, touched: &Touched) -> Result<(), StoreError> {
    let Touched { target, before, after: _ } = touched;
    let sql = match target.kind {
        Kind::Note => "DELETE FROM notes WHERE id = ? AND user = ?",
        Kind::Task => "DELETE FROM tasks WHERE id = ? AND user = ?",
    };
    sqlx::query(sql).bind(&target.id).bind(&target.user).execute(&mut **write).await?;
    let Some(before) = before else { return Ok(()) };
    match target.kind {
        Kind::Note => serde_json::from_str::<NoteRow>(before)?.insert(write).await,
        Kind::Task => serde_json::from_str::<TaskRow>(before)?.insert(write).await,
    }
}
