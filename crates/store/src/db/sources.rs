//! What untrusted content sessions have read, and the files they wrote afterwards.

use std::time::SystemTime;

use sqlx::Row;
use tool::{CallId, Caller};

use super::Db;
use crate::{StoreError, time::micros};

/// So many sources are kept of one session.
const MAX_SOURCES: i64 = 100;
/// Stands for all beyond that.
const MORE: &str = "more than can be listed";
/// So many files are remembered; then the oldest are forgotten.
const MAX_FILES: i64 = 20_000;

/// A file that was written by a session which had read untrusted content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedFile {
    /// Where it is, absolute, links resolved.
    pub path: String,
    /// What its content may come from.
    pub source: String,
}

impl Db {
    /// Remembers that the session of `caller` has read untrusted content of `source`.
    pub async fn remember_source(
        &self,
        caller: &Caller,
        source: &str,
        call: CallId,
        now: SystemTime,
    ) -> Result<(), StoreError> {
        // Which one it is when there are many already does not matter; that there are more does.
        sqlx::query(
            "INSERT INTO sources (user, agent, session, source, call_id, read_at)
             SELECT ?1, ?2, ?3, iif(count(*) < ?7, ?4, ?8), ?5, ?6 FROM sources
             WHERE user = ?1 AND agent = ?2 AND session = ?3 AND source <> ?4
             ON CONFLICT DO NOTHING",
        )
        .bind(&*caller.user)
        .bind(&*caller.agent)
        .bind(&*caller.session)
        .bind(source)
        .bind(call.to_string())
        .bind(micros(now))
        .bind(MAX_SOURCES)
        .bind(MORE)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// The untrusted content that the session of `caller` has read, oldest first.
    pub async fn sources(&self, caller: &Caller) -> Result<Vec<String>, StoreError> {
        let sources = sqlx::query_scalar(
            "SELECT source FROM sources WHERE user = ? AND agent = ? AND session = ?
             ORDER BY read_at, rowid",
        )
        .bind(&*caller.user)
        .bind(&*caller.agent)
        .bind(&*caller.session)
        .fetch_all(&self.pool)
        .await?;
        Ok(sources)
    }

    /// Remembers that the content of these files may come from `source`.
    pub async fn mark_files(
        &self,
        paths: &[String],
        source: &str,
        call: CallId,
        now: SystemTime,
    ) -> Result<(), StoreError> {
        let mut write = self.begin().await?;
        sqlx::query(
            "INSERT OR REPLACE INTO untrusted_files (path, source, call_id, written_at)
             SELECT value, ?2, ?3, ?4 FROM json_each(?1)",
        )
        .bind(serde_json::to_string(paths)?)
        .bind(source)
        .bind(call.to_string())
        .bind(micros(now))
        .execute(&mut *write)
        .await?;
        sqlx::query(
            "DELETE FROM untrusted_files WHERE rowid IN
             (SELECT rowid FROM untrusted_files ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
        )
        .bind(MAX_FILES)
        .execute(&mut *write)
        .await?;
        write.commit().await?;
        Ok(())
    }

    /// Forgets what was remembered about these files.
    pub async fn unmark_files(&self, paths: &[String]) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM untrusted_files WHERE path IN (SELECT value FROM json_each(?))")
            .bind(serde_json::to_string(paths)?)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// All files whose content may not be trusted.
    pub async fn untrusted_files(&self) -> Result<Vec<UntrustedFile>, StoreError> {
        let rows =
            sqlx::query("SELECT path, source FROM untrusted_files").fetch_all(&self.pool).await?;
        let read = |row: &sqlx::sqlite::SqliteRow| {
            Ok(UntrustedFile { path: row.try_get("path")?, source: row.try_get("source")? })
        };
        rows.iter().map(read).collect()
    }
}
