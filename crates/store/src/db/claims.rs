//! Which process runs a session.

use std::time::SystemTime;

use sqlx::Row;
use tokio::task::spawn_blocking;

use super::{Db, Session, SessionKey, SessionState, sessions::read};
use crate::{Journal, StoreError, time::micros};

impl Db {
    /// Lets the process of `journal` run a session, unless another one that lives does. Says whether
    /// it is ours now. Claim a session before its state says that it runs.
    pub async fn claim_session(
        &self,
        key: &SessionKey,
        journal: &Journal,
        now: SystemTime,
    ) -> Result<bool, StoreError> {
        let holder = self.claimer(key).await?;
        let dead = match &holder {
            Some(other) if other != journal.writer_id() => {
                if lives(journal, other.clone()).await? {
                    return Ok(false);
                }
                Some(other)
            }
            Some(_) | None => None,
        };
        // If somebody else took it since we looked, it is neither free nor the dead one's.
        let done = sqlx::query(
            "UPDATE sessions SET writer = ?4, active_at = max(active_at, ?6)
             WHERE user = ?1 AND agent = ?2 AND name = ?3
             AND (writer IS NULL OR writer = ?4 OR writer = ?5)",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(journal.writer_id())
        .bind(dead)
        .bind(micros(now))
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives a session back that the process of `journal` ran.
    pub async fn release_session(
        &self,
        key: &SessionKey,
        journal: &Journal,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE sessions SET writer = NULL
             WHERE user = ? AND agent = ? AND name = ? AND writer = ?",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(journal.writer_id())
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The sessions that were running or waiting when their process died, those first in which
    /// something happened longest ago. Claim one before you go on with it: others look too.
    pub async fn abandoned_sessions(&self, journal: &Journal) -> Result<Vec<Session>, StoreError> {
        // One that waits and is nobody's was left so; a process is needed only for the others.
        let rows = sqlx::query(
            "SELECT * FROM sessions WHERE state = ? OR (state = ? AND writer IS NOT NULL)
             ORDER BY active_at",
        )
        .bind(SessionState::Running.name())
        .bind(SessionState::Waiting.name())
        .fetch_all(&self.pool)
        .await?;
        let mut abandoned = Vec::new();
        for row in &rows {
            let held = match row.try_get::<Option<String>, _>("writer")? {
                Some(writer) => lives(journal, writer).await?,
                None => false,
            };
            // One that cannot be read is no reason to leave the others alone.
            if !held && let Ok(session) = read(row) {
                abandoned.push(session);
            }
        }
        Ok(abandoned)
    }

    async fn claimer(&self, key: &SessionKey) -> Result<Option<String>, StoreError> {
        let found = sqlx::query_scalar::<_, Option<String>>(
            "SELECT writer FROM sessions WHERE user = ? AND agent = ? AND name = ?",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .fetch_optional(&self.pool)
        .await?;
        found.ok_or_else(|| StoreError::UnknownSession(key.clone()))
    }
}

/// A look at a lock may block.
async fn lives(journal: &Journal, writer: String) -> Result<bool, StoreError> {
    let journal = journal.clone();
    spawn_blocking(move || journal.is_alive(&writer)).await.map_err(|_| StoreError::Stopped)?
}
