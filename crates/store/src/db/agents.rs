//! Agents made over the API, besides those of the configuration.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use sqlx::{Row, sqlite::SqliteRow};

use super::{Db, approvals::withdraw_of_agent};
use crate::{
    StoreError,
    time::{from_micros, micros, shown},
};

/// An agent that is not in the configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StoredAgent {
    /// Its name.
    pub id: String,
    /// The user who made it.
    pub owner: String,
    /// What configuration would say about it. Nothing the store understands.
    pub settings: Value,
    /// When it was made.
    #[serde(serialize_with = "shown")]
    pub created_at: SystemTime,
    /// When it was last changed.
    #[serde(serialize_with = "shown")]
    pub changed_at: SystemTime,
}

impl Db {
    /// Adds an agent, unless there is one with this id.
    pub async fn add_agent(
        &self,
        id: &str,
        owner: &str,
        settings: &Value,
        now: SystemTime,
    ) -> Result<StoredAgent, StoreError> {
        let found = sqlx::query(
            "INSERT INTO agents (id, owner, settings, created_at, changed_at)
             VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT (id) DO NOTHING RETURNING *",
        )
        .bind(id)
        .bind(owner)
        .bind(settings.to_string())
        .bind(micros(now))
        .fetch_optional(&self.pool)
        .await?;
        read(&found.ok_or_else(|| StoreError::AgentExists(id.to_owned()))?)
    }

    /// Replaces the settings of an agent. Says what it is now; `None` if there is none.
    pub async fn change_agent(
        &self,
        id: &str,
        settings: &Value,
        now: SystemTime,
    ) -> Result<Option<StoredAgent>, StoreError> {
        let found =
            sqlx::query("UPDATE agents SET settings = ?, changed_at = ? WHERE id = ? RETURNING *")
                .bind(settings.to_string())
                .bind(micros(now))
                .bind(id)
                .fetch_optional(&self.pool)
                .await?;
        found.as_ref().map(read).transpose()
    }

    /// Removes an agent. Says whether it was there.
    pub async fn remove_agent(&self, id: &str) -> Result<bool, StoreError> {
        let mut write = self.begin().await?;
        let done =
            sqlx::query("DELETE FROM agents WHERE id = ?").bind(id).execute(&mut *write).await?;
        withdraw_of_agent(&mut write, id).await?;
        write.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// One agent.
    pub async fn agent(&self, id: &str) -> Result<Option<StoredAgent>, StoreError> {
        let found = sqlx::query("SELECT * FROM agents WHERE id = ?")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        found.as_ref().map(read).transpose()
    }

    /// All agents by id; of one owner, or of all.
    pub async fn agents(&self, owner: Option<&str>) -> Result<Vec<StoredAgent>, StoreError> {
        let rows = sqlx::query("SELECT * FROM agents WHERE ?1 IS NULL OR owner = ?1 ORDER BY id")
            .bind(owner)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &SqliteRow) -> Result<StoredAgent, StoreError> {
    Ok(StoredAgent {
        id: row.try_get("id")?,
        owner: row.try_get("owner")?,
        settings: serde_json::from_str(row.try_get("settings")?)?,
        created_at: from_micros(row.try_get("created_at")?),
        changed_at: from_micros(row.try_get("changed_at")?),
    })
}
