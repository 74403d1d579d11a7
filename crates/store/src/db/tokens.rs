//! Tokens: what clients sign in with. The store never sees one, only its hash.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{Row, sqlite::SqliteRow};
use tool::{Digest, ItemId, Role};

use super::{Db, Scope, approvals::parsed, rows::END};
use crate::{
    StoreError,
    names::{named, of_role},
    time::{from_micros, micros, shown, shown_if_any},
};

/// The last use is noted once in this time.
const USE_NOTED: Duration = Duration::from_mins(1);
/// So long one that no longer works is still listed.
const REMEMBERED: Duration = Duration::from_hours(30 * 24);

/// Who holds a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A program.
    Api,
    /// A browser, after somebody signed in with it.
    Browser,
}

impl TokenKind {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Browser => "browser",
        }
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A token that is to be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NewToken {
    /// Who holds it.
    pub kind: TokenKind,
    /// What it is for, in words.
    pub name: String,
    /// Whoever comes with it is this user,
    pub user: String,
    /// in this role.
    pub role: Role,
    /// Only with these agents; without a list, with all.
    pub agents: Option<Vec<String>>,
    /// Only for this; without a list, for what is usual, as far as the user may.
    pub scopes: Option<Vec<Scope>>,
    /// When it ends, unless it is revoked before.
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub expires_at: Option<SystemTime>,
}

impl NewToken {
    /// Whether it is for this, whatever its user may.
    pub fn is_for(&self, scope: Scope) -> bool {
        let named = match &self.scopes {
            Some(scopes) => scopes.contains(&scope),
            None => Scope::USUAL.contains(&scope),
        };
        named && (self.agents.is_none() || scope.is_for_agents())
    }

    /// Refuses scopes that it could not have, or that are there twice.
    pub fn check_scopes(&self) -> Result<(), String> {
        let named = self.scopes.as_deref().unwrap_or_default();
        if let Some(wrong) = named.iter().find(|scope| !self.is_for(**scope)) {
            return Err(format!(
                "a token that is for certain agents cannot have the scope `{wrong}`; leave one of them out"
            ));
        }
        if self.role != Role::Owner && named.contains(&Scope::Elicit) {
            return Err(
                "questions are put to the person at the client only for the owner; leave the scope `elicit` out"
                    .to_owned(),
            );
        }
        let twice = |scope: &&Scope| named.iter().filter(|other| other == scope).count() > 1;
        match named.iter().find(twice) {
            Some(twice) => Err(format!("the scope `{twice}` is there twice; name it once")),
            None => Ok(()),
        }
    }

    /// What it is for, in order.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(|scope| self.is_for(*scope))
    }
}

/// A token, but for what only its holder knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Token {
    /// Its name.
    pub id: ItemId,
    /// What it is.
    #[serde(flatten)]
    pub new: NewToken,
    /// The token it was made with; none if a person made it, on the command line or in a browser.
    pub made_by: Option<ItemId>,
    /// The first of those that made each other, down to this one; its own id if it is that.
    #[serde(skip)]
    pub family: ItemId,
    /// When it was made.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub created_at: SystemTime,
    /// When it was last used, to the minute.
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub last_used_at: Option<SystemTime>,
    /// Who revoked it.
    pub revoked_by: Option<String>,
    /// When.
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub revoked_at: Option<SystemTime>,
}

impl Db {
    /// Adds the token with this hash, which a person made, for a user there is.
    pub async fn add_token(
        &self,
        new: NewToken,
        hash: &Digest,
        now: SystemTime,
    ) -> Result<Token, StoreError> {
        self.add_token_of(None, new, hash, now).await
    }

    /// The same, made with another token.
    pub async fn add_token_of(
        &self,
        maker: Option<&Token>,
        new: NewToken,
        hash: &Digest,
        now: SystemTime,
    ) -> Result<Token, StoreError> {
        let id = ItemId::random();
        let made_by = maker.map(|maker| maker.id.clone());
        let family = maker.map_or_else(|| id.clone(), |maker| maker.family.clone());
        let agents = new.agents.as_ref().map(serde_json::to_string).transpose()?;
        let scopes = new.scopes.as_ref().map(serde_json::to_string).transpose()?;
        let mut write = self.begin().await?;
        super::users::existing(&mut write, &new.user).await?;
        let long_ago = now.checked_sub(REMEMBERED).unwrap_or(SystemTime::UNIX_EPOCH);
        sqlx::query("DELETE FROM tokens WHERE expires_at < ?1 OR revoked_at < ?1")
            .bind(micros(long_ago))
            .execute(&mut *write)
            .await?;
        sqlx::query("DELETE FROM speakers WHERE token NOT IN (SELECT family FROM tokens)")
            .execute(&mut *write)
            .await?;
        sqlx::query(
            "INSERT INTO tokens (id, hash, kind, name, user, role, agents, created_at, expires_at, made_by,
             family, scopes, has_asked) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
             (SELECT coalesce(max(has_asked), 0) FROM tokens WHERE family = ?11))",
        )
        .bind(id.as_str())
        .bind(hash.to_string())
        .bind(new.kind.name())
        .bind(&new.name)
        .bind(&new.user)
        .bind(of_role(new.role))
        .bind(agents)
        .bind(micros(now))
        .bind(new.expires_at.map(micros))
        .bind(made_by.as_ref().map(ItemId::as_str))
        .bind(family.as_str())
        .bind(scopes)
        .execute(&mut *write)
        .await?;
        write.commit().await?;
        Ok(Token {
            id,
            new,
            made_by,
            family,
            created_at: from_micros(micros(now)),
            last_used_at: None,
            revoked_by: None,
            revoked_at: None,
        })
    }

    /// The token with this hash, if it works at `now`; and notes that it was used.
    pub async fn find_token(
        &self,
        hash: &Digest,
        now: SystemTime,
    ) -> Result<Option<Token>, StoreError> {
        let found = sqlx::query(
            "SELECT * FROM tokens WHERE hash = ?1 AND revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?2)
             AND EXISTS (SELECT 1 FROM users WHERE id = tokens.user AND removed_at IS NULL)",
        )
        .bind(hash.to_string())
        .bind(micros(now))
        .fetch_optional(&self.pool)
        .await?;
        let Some(token) = found.as_ref().map(read).transpose()? else { return Ok(None) };
        let noted = token.last_used_at.and_then(|at| at.checked_add(USE_NOTED));
        if noted.is_none_or(|until| until <= now)
            && let Err(error) = self.note_use(&token.id, now).await
        {
            // Nobody is locked out because of a statistic.
            tracing::warn!(%error, token = token.id.short(), "the use of a token was not noted");
        }
        Ok(Some(token))
    }

    async fn note_use(&self, id: &ItemId, now: SystemTime) -> Result<(), StoreError> {
        sqlx::query("UPDATE tokens SET last_used_at = ? WHERE id = ?")
            .bind(micros(now))
            .bind(id.as_str())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// All tokens, the newest first, those that ended lately too; of one user, or of all.
    pub async fn tokens(&self, user: Option<&str>) -> Result<Vec<Token>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM tokens WHERE ?1 IS NULL OR user = ?1
             ORDER BY created_at DESC, rowid DESC",
        )
        .bind(user)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// At most so many of them, only those that come after one of them in the list.
    pub async fn tokens_before(
        &self,
        before: Option<&ItemId>,
        user: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Token>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM tokens WHERE (?1 IS NULL OR user = ?1)
             AND (?2 IS NULL OR (created_at, rowid) < (SELECT created_at, rowid FROM tokens WHERE id = ?2))
             ORDER BY created_at DESC, rowid DESC LIMIT ?3",
        )
        .bind(user)
        .bind(before.map(ItemId::as_str))
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// One token, by its id or the beginning of it.
    pub async fn token(&self, id: &ItemId) -> Result<Option<Token>, StoreError> {
        let rows = sqlx::query("SELECT * FROM tokens WHERE id >= ?1 AND id < ?1 || ?2 LIMIT 2")
            .bind(id.as_str())
            .bind(END)
            .fetch_all(&self.pool)
            .await?;
        match rows.as_slice() {
            [one] => read(one).map(Some),
            _ => Ok(None),
        }
    }

    /// Those of these that do not work at `now`.
    pub async fn ended_tokens(
        &self,
        ids: &[ItemId],
        now: SystemTime,
    ) -> Result<Vec<ItemId>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ended = sqlx::query_scalar::<_, String>(
            "SELECT value FROM json_each(?1) WHERE NOT EXISTS (SELECT 1 FROM tokens
             WHERE id = value AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)
             AND EXISTS (SELECT 1 FROM users WHERE id = tokens.user AND removed_at IS NULL))",
        )
        .bind(serde_json::to_string(ids)?)
        .bind(micros(now))
        .fetch_all(&self.pool)
        .await?;
        ended.iter().map(|id| id.parse().map_err(StoreError::NotUnderstood)).collect()
    }

    /// Ends a token. Says whether it still worked.
    pub async fn revoke_token(
        &self,
        id: &ItemId,
        by: &str,
        now: SystemTime,
    ) -> Result<bool, StoreError> {
        let Some(token) = self.token(id).await? else { return Ok(false) };
        let done = sqlx::query(
            "UPDATE tokens SET revoked_by = ?1, revoked_at = ?2 WHERE id = ?3
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)",
        )
        .bind(by)
        .bind(micros(now))
        .bind(token.id.as_str())
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

fn read(row: &SqliteRow) -> Result<Token, StoreError> {
    let time = |name| Ok::<_, StoreError>(row.try_get::<Option<i64>, _>(name)?.map(from_micros));
    let [agents, scopes]: [Option<&str>; 2] = [row.try_get("agents")?, row.try_get("scopes")?];
    let new = NewToken {
        kind: named(row.try_get("kind")?)?,
        name: row.try_get("name")?,
        user: row.try_get("user")?,
        role: named(row.try_get("role")?)?,
        agents: agents.map(serde_json::from_str).transpose()?,
        scopes: scopes.map(serde_json::from_str).transpose()?,
        expires_at: time("expires_at")?,
    };
    let made_by: Option<&str> = row.try_get("made_by")?;
    Ok(Token {
        id: parsed(row, "id")?,
        new,
        made_by: made_by.map(|id| id.parse().map_err(StoreError::NotUnderstood)).transpose()?,
        family: parsed(row, "family")?,
        created_at: from_micros(row.try_get("created_at")?),
        last_used_at: time("last_used_at")?,
        revoked_by: row.try_get("revoked_by")?,
        revoked_at: time("revoked_at")?,
    })
}
