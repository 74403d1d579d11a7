//! Links that sign somebody in, once.

use std::time::SystemTime;

use tool::Digest;

use super::Db;
use crate::{StoreError, time::micros};

/// So many can be open; then those that end first are forgotten.
const MAX_LINKS: i64 = 100;

impl Db {
    /// Adds a link, of which the store knows the hash only.
    pub async fn add_link(&self, hash: &Digest, expires_at: SystemTime) -> Result<(), StoreError> {
        let mut write = self.begin().await?;
        sqlx::query("INSERT INTO links (hash, expires_at) VALUES (?, ?)")
            .bind(hash.to_string())
            .bind(micros(expires_at))
            .execute(&mut *write)
            .await?;
        sqlx::query(
            "DELETE FROM links WHERE hash <> ?1 AND hash NOT IN
             (SELECT hash FROM links ORDER BY expires_at DESC LIMIT ?2)",
        )
        .bind(hash.to_string())
        .bind(MAX_LINKS)
        .execute(&mut *write)
        .await?;
        write.commit().await?;
        Ok(())
    }

    /// Uses a link up. Says whether it was there to be used, which is true once.
    pub async fn use_link(&self, hash: &Digest, now: SystemTime) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM links WHERE hash = ? AND expires_at > ?")
            .bind(hash.to_string())
            .bind(micros(now))
            .execute(&self.pool)
            .await?;
        sqlx::query("DELETE FROM links WHERE expires_at <= ?")
            .bind(micros(now))
            .execute(&self.pool)
            .await?;
        Ok(done.rows_affected() == 1)
    }
}
