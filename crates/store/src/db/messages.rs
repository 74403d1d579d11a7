//! What is said in sessions.

use std::time::SystemTime;

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{
    Db, Message, NewMessage, SessionKey,
    sessions::{count, stored},
};
use crate::{
    StoreError,
    names::named,
    time::{from_micros, micros},
};

impl Db {
    /// Adds messages to a session, all or none. Returns the number of the first; they are numbered
    /// one by one.
    pub async fn add_messages(
        &self,
        key: &SessionKey,
        messages: &[NewMessage],
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        let mut write = self.begin().await?;
        let (_, first) = add(&mut write, key, messages, now).await?;
        write.commit().await?;
        Ok(first)
    }

    /// Adds messages that stand for all before them: from now on the model gets these. All of it or
    /// nothing; returns the number of the first.
    pub async fn begin_anew(
        &self,
        key: &SessionKey,
        messages: &[NewMessage],
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        let mut write = self.begin().await?;
        let (session, first) = add(&mut write, key, messages, now).await?;
        sqlx::query("UPDATE sessions SET context_from = ? WHERE number = ?")
            .bind(stored(first))
            .bind(session)
            .execute(&mut *write)
            .await?;
        write.commit().await?;
        Ok(first)
    }

    /// Messages of a session in order, beginning with the number `from`.
    pub async fn messages(
        &self,
        key: &SessionKey,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM messages WHERE number >= ?4 AND session =
             (SELECT number FROM sessions WHERE user = ?1 AND agent = ?2 AND name = ?3)
             ORDER BY number LIMIT ?5",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(stored(from))
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// The last messages of a session, in order.
    pub async fn last_messages(
        &self,
        key: &SessionKey,
        limit: u32,
    ) -> Result<Vec<Message>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM messages WHERE session =
             (SELECT number FROM sessions WHERE user = ?1 AND agent = ?2 AND name = ?3)
             ORDER BY number DESC LIMIT ?4",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().rev().map(read).collect()
    }
}

/// Adds messages to a session; gives its number and that of the first of them.
async fn add(
    write: &mut SqliteConnection,
    key: &SessionKey,
    messages: &[NewMessage],
    now: SystemTime,
) -> Result<(i64, u64), StoreError> {
    let found = sqlx::query(
        "UPDATE sessions SET messages = messages + ?4, active_at = max(active_at, ?5)
             WHERE user = ?1 AND agent = ?2 AND name = ?3
             RETURNING number, messages - ?4 AS first",
    )
    .bind(&key.user)
    .bind(&key.agent)
    .bind(&key.name)
    .bind(stored(messages.len() as u64))
    .bind(micros(now))
    .fetch_optional(&mut *write)
    .await?;
    let found = found.ok_or_else(|| StoreError::UnknownSession(key.clone()))?;
    let (session, first): (i64, _) = (found.try_get("number")?, count(&found, "first")?);
    for (number, NewMessage { role, content }) in (first..).zip(messages) {
        sqlx::query(
            "INSERT INTO messages (session, number, role, content, at) VALUES (?, ?, ?, ?, ?)",
        )
        .bind(session)
        .bind(stored(number))
        .bind(role.name())
        .bind(content.to_string())
        .bind(micros(now))
        .execute(&mut *write)
        .await?;
    }
    Ok((session, first))
}

fn read(row: &SqliteRow) -> Result<Message, StoreError> {
    Ok(Message {
        number: count(row, "number")?,
        role: named(row.try_get("role")?)?,
        content: serde_json::from_str(row.try_get("content")?)?,
        at: from_micros(row.try_get("at")?),
    })
}
