//! Users: who may come, and who may come no more.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::{Row, Sqlite, Transaction, sqlite::SqliteRow};
use tool::{Role, nearest};

use super::Db;
use crate::{
    StoreError, UserError,
    names::{named, of_role},
    time::{from_micros, micros, shown, shown_if_any},
};

/// The user who is always there.
pub const OWNER: &str = "owner";

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct User {
    /// What they are called in tokens, configuration and the journal. It is nobody else's, also when they
    /// are removed.
    pub id: String,
    /// For people.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When they were added.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub created_at: SystemTime,
    /// Who removed them.
    pub removed_by: Option<String>,
    /// When.
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub removed_at: Option<SystemTime>,
}

impl User {
    /// Whether they may come.
    pub const fn is_there(&self) -> bool {
        self.removed_at.is_none()
    }
}

/// What ended with a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RemovedUser {
    /// Tokens that worked.
    pub tokens: u64,
    /// Questions that waited for an answer.
    pub questions: u64,
}

impl Db {
    /// Adds a member, unless somebody has or had the id, or one that differs by case only.
    pub async fn add_user(
        &self,
        id: &str,
        name: &str,
        now: SystemTime,
    ) -> Result<User, StoreError> {
        let mut write = self.begin().await?;
        let found = sqlx::query("SELECT * FROM users WHERE id = ? COLLATE NOCASE LIMIT 1")
            .bind(id)
            .fetch_optional(&mut *write)
            .await?;
        if let Some(other) = found.as_ref().map(read).transpose()? {
            let known = if other.is_there() { UserError::Exists } else { UserError::Removed };
            return Err(known(other.id).into());
        }
        sqlx::query("INSERT INTO users (id, name, role, created_at) VALUES (?, ?, ?, ?)")
            .bind(id)
            .bind(name)
            .bind(of_role(Role::Member))
            .bind(micros(now))
            .execute(&mut *write)
            .await?;
        write.commit().await?;
        Ok(User {
            id: id.to_owned(),
            name: name.to_owned(),
            role: Role::Member,
            created_at: from_micros(micros(now)),
            removed_by: None,
            removed_at: None,
        })
    }

    /// The user with this id, also one who was removed.
    pub async fn user(&self, id: &str) -> Result<Option<User>, StoreError> {
        let found = sqlx::query("SELECT * FROM users WHERE id = ?")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        found.as_ref().map(read).transpose()
    }

    /// All users, the owner first, then by id; those who were removed too.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query("SELECT * FROM users ORDER BY role <> 'owner', id")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read).collect()
    }

    /// At most so many of them, only those after the one with this id.
    pub async fn users_after(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM users WHERE ?1 IS NULL OR
             (role <> 'owner', id) > (SELECT role <> 'owner', id FROM users WHERE id = ?1)
             ORDER BY role <> 'owner', id LIMIT ?2",
        )
        .bind(after)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// The ids of those who were removed.
    pub async fn removed_users(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT id FROM users WHERE removed_at IS NOT NULL ORDER BY id";
        Ok(sqlx::query_scalar(sql).fetch_all(&self.pool).await?)
    }

    /// Gives a user another name. Says what they are now.
    pub async fn rename_user(&self, id: &str, name: &str) -> Result<User, StoreError> {
        let mut write = self.begin().await?;
        existing(&mut write, id).await?;
        let row = sqlx::query("UPDATE users SET name = ? WHERE id = ? RETURNING *")
            .bind(name)
            .bind(id)
            .fetch_one(&mut *write)
            .await?;
        write.commit().await?;
        read(&row)
    }

    /// Removes a user: none of their tokens works any more, nobody is asked about their calls any more, and
    /// no new token is made for them. What is theirs stays, and so does the journal.
    pub async fn remove_user(
        &self,
        id: &str,
        by: &str,
        now: SystemTime,
    ) -> Result<RemovedUser, StoreError> {
        if id == OWNER {
            return Err(UserError::OwnerStays.into());
        }
        let mut write = self.begin().await?;
        existing(&mut write, id).await?;
        sqlx::query("UPDATE users SET removed_by = ?, removed_at = ? WHERE id = ?")
            .bind(by)
            .bind(micros(now))
            .bind(id)
            .execute(&mut *write)
            .await?;
        let tokens = sqlx::query(
            "UPDATE tokens SET revoked_by = ?1, revoked_at = ?2 WHERE user = ?3
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)",
        )
        .bind(by)
        .bind(micros(now))
        .bind(id)
        .execute(&mut *write)
        .await?;
        // Also what was allowed and is not used yet.
        let questions = sqlx::query(
            "UPDATE approvals SET status = 'withdrawn', answered_at = ?1,
             message = 'the user was removed' WHERE user = ?2 AND
             (status = 'pending' AND expires_at > ?1 OR status = 'allowed' AND used_at IS NULL)",
        )
        .bind(micros(now))
        .bind(id)
        .execute(&mut *write)
        .await?;
        write.commit().await?;
        let (tokens, questions) = (tokens.rows_affected(), questions.rows_affected());
        Ok(RemovedUser { tokens, questions })
    }

    /// Lets a user come back who was removed. Their tokens do not.
    pub async fn restore_user(&self, id: &str) -> Result<User, StoreError> {
        let row = sqlx::query(
            "UPDATE users SET removed_by = NULL, removed_at = NULL
             WHERE id = ? AND removed_at IS NOT NULL RETURNING *",
        )
        .bind(id)
        .fetch_optional(&self.pool)
        .await?;
        match row {
            Some(row) => read(&row),
            None if self.user(id).await?.is_some() => Err(UserError::Exists(id.to_owned()).into()),
            None => {
                let mut write = self.begin().await?;
                Err(unknown(&mut write, id).await?)
            }
        }
    }
}

/// The user with this id, unless they were removed.
pub(super) async fn existing(
    write: &mut Transaction<'_, Sqlite>,
    id: &str,
) -> Result<User, StoreError> {
    let found = sqlx::query("SELECT * FROM users WHERE id = ?")
        .bind(id)
        .fetch_optional(&mut **write)
        .await?;
    match found.as_ref().map(read).transpose()? {
        Some(user) if user.is_there() => Ok(user),
        Some(user) => Err(UserError::Removed(user.id).into()),
        None => Err(unknown(write, id).await?),
    }
}

async fn unknown(write: &mut Transaction<'_, Sqlite>, id: &str) -> Result<StoreError, StoreError> {
    let known = sqlx::query_scalar::<_, String>("SELECT id FROM users WHERE removed_at IS NULL")
        .fetch_all(&mut **write)
        .await?;
    let near = nearest(id, known.iter().map(String::as_str)).map(str::to_owned);
    let id: String = id.chars().take(128).collect();
    Ok(UserError::Unknown { id: id.escape_debug().to_string(), near }.into())
}

fn read(row: &SqliteRow) -> Result<User, StoreError> {
    Ok(User {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: named(row.try_get("role")?)?,
        created_at: from_micros(row.try_get("created_at")?),
        removed_by: row.try_get("removed_by")?,
        removed_at: row.try_get::<Option<i64>, _>("removed_at")?.map(from_micros),
    })
}
