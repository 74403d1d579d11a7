//! Which tokens made calls or spoke in which sessions: who asks with one does not answer with it.

use sqlx::{Sqlite, Transaction};
use tool::ItemId;

use super::{Db, SessionKey};
use crate::StoreError;

/// So many sessions are known of each; who has more is assumed to have spoken everywhere.
const MOST: u32 = 16_384;

impl Db {
    /// Notes that somebody with a token of this family spoke in a session, or made a call there. Writes
    /// nothing if that is known.
    pub async fn note_speaker(
        &self,
        session: &SessionKey,
        family: &ItemId,
    ) -> Result<(), StoreError> {
        if self.is_noted(session, family).await? {
            return Ok(());
        }
        let mut write = self.begin().await?;
        let known: u32 = sqlx::query_scalar("SELECT count(*) FROM speakers WHERE token = ?")
            .bind(family.as_str())
            .fetch_one(&mut *write)
            .await?;
        let SessionKey { user, agent, name } = session;
        let place = (user.as_str(), agent.as_str(), name.as_str());
        let (user, agent, name) = if known < MOST { place } else { ("", "", "") };
        sqlx::query(
            "INSERT OR IGNORE INTO speakers (user, agent, session, token) VALUES (?, ?, ?, ?)",
        )
        .bind(user)
        .bind(agent)
        .bind(name)
        .bind(family.as_str())
        .execute(&mut *write)
        .await?;
        sqlx::query("UPDATE tokens SET has_asked = 1 WHERE family = ? AND has_asked = 0")
            .bind(family.as_str())
            .execute(&mut *write)
            .await?;
        write.commit().await?;
        Ok(())
    }

    async fn is_noted(&self, session: &SessionKey, family: &ItemId) -> Result<bool, StoreError> {
        let found = sqlx::query(
            "SELECT 1 FROM speakers WHERE token = ?4 AND (user, agent, session) IN (VALUES (?1, ?2, ?3), ('', '', ''))",
        )
        .bind(&session.user)
        .bind(&session.agent)
        .bind(&session.name)
        .bind(family.as_str())
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.is_some())
    }

    /// Whether somebody with a token of this family spoke in a session, or in one above it.
    pub async fn has_spoken(
        &self,
        session: &SessionKey,
        family: &ItemId,
    ) -> Result<bool, StoreError> {
        let found = sqlx::query(
            "WITH RECURSIVE above (user, agent, name) AS (
                VALUES (?1, ?2, ?3), ('', '', '')
                UNION SELECT parent_user, parent_agent, parent_name FROM sessions
                JOIN above USING (user, agent, name) WHERE parent_name IS NOT NULL)
             SELECT 1 FROM speakers JOIN above ON speakers.user = above.user
             AND speakers.agent = above.agent AND speakers.session = above.name
             WHERE speakers.token = ?4 LIMIT 1",
        )
        .bind(&session.user)
        .bind(&session.agent)
        .bind(&session.name)
        .bind(family.as_str())
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.is_some())
    }

    /// Whether a token of this family was ever used to make a call or to speak to an agent.
    pub async fn has_asked(&self, family: &ItemId) -> Result<bool, StoreError> {
        let found = sqlx::query("SELECT 1 FROM tokens WHERE family = ? AND has_asked <> 0 LIMIT 1")
            .bind(family.as_str())
            .fetch_optional(&self.pool)
            .await?;
        Ok(found.is_some())
    }
}

/// Whoever spoke in a session that is removed, or above it, spoke in those right below: nothing leads from them
/// to it any more.
pub(super) async fn hand_down_speakers(
    write: &mut Transaction<'_, Sqlite>,
    session: &SessionKey,
) -> Result<(), StoreError> {
    sqlx::query(
        "WITH RECURSIVE above (user, agent, name) AS (
            VALUES (?1, ?2, ?3)
            UNION SELECT parent_user, parent_agent, parent_name FROM sessions
            JOIN above USING (user, agent, name) WHERE parent_name IS NOT NULL)
         INSERT OR IGNORE INTO speakers (user, agent, session, token)
         SELECT below.user, below.agent, below.name, speakers.token FROM sessions below, speakers
         JOIN above ON speakers.user = above.user AND speakers.agent = above.agent
         AND speakers.session = above.name
         WHERE below.parent_user = ?1 AND below.parent_agent = ?2 AND below.parent_name = ?3",
    )
    .bind(&session.user)
    .bind(&session.agent)
    .bind(&session.name)
    .execute(&mut **write)
    .await?;
    Ok(())
}

/// Forgets who spoke in a session that is removed.
pub(super) async fn forget_speakers(
    write: &mut Transaction<'_, Sqlite>,
    session: &SessionKey,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM speakers WHERE user = ? AND agent = ? AND session = ?")
        .bind(&session.user)
        .bind(&session.agent)
        .bind(&session.name)
        .execute(&mut **write)
        .await?;
    Ok(())
}
