//! Sessions: made, changed, listed, removed.

use std::time::SystemTime;

use serde_json::Value;
use sqlx::{Row, Sqlite, Transaction, sqlite::SqliteRow};

use super::{
    Db, NewSession, Session, SessionChange, SessionCursor, SessionFilter, SessionKey, SessionKind,
    SessionState, Spent,
    approvals::withdraw_of_sessions,
    speakers::{forget_speakers, hand_down_speakers},
};
use crate::{
    StoreError,
    names::{list, named},
    time::{from_micros, micros},
};

/// So many are removed at once, so that nobody waits long to write.
const BATCH: u32 = 200;

impl Db {
    /// One session.
    pub async fn session(&self, key: &SessionKey) -> Result<Option<Session>, StoreError> {
        let found = sqlx::query("SELECT * FROM sessions WHERE user = ? AND agent = ? AND name = ?")
            .bind(&key.user)
            .bind(&key.agent)
            .bind(&key.name)
            .fetch_optional(&self.pool)
            .await?;
        found.as_ref().map(read).transpose()
    }

    /// The session with this name; it is made if there is none, and once if many ask for it.
    pub async fn open_session(
        &self,
        new: NewSession,
        now: SystemTime,
    ) -> Result<Session, StoreError> {
        if let Some(found) = self.session(&new.key).await? {
            return Ok(found);
        }
        let NewSession { key, kind, parent, label, model, metadata, rights } = new;
        let parent = parent.as_ref();
        sqlx::query(
            "INSERT INTO sessions (user, agent, name, kind, state, parent_user, parent_agent,
             parent_name, label, model, metadata, rights, created_at, active_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13)
             ON CONFLICT (user, agent, name) DO NOTHING",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(kind.name())
        .bind(SessionState::Idle.name())
        .bind(parent.map(|parent| &parent.user))
        .bind(parent.map(|parent| &parent.agent))
        .bind(parent.map(|parent| &parent.name))
        .bind(label.unwrap_or_default())
        .bind(model.unwrap_or_default())
        .bind(metadata.to_string())
        .bind(rights.to_string())
        .bind(micros(now))
        .execute(&self.pool)
        .await?;
        self.known_session(&key).await
    }

    /// Changes what is given, and notes that something happened. One that has ended stays ended.
    pub async fn change_session(
        &self,
        key: &SessionKey,
        change: SessionChange,
        now: SystemTime,
    ) -> Result<Session, StoreError> {
        let SessionChange { state, label, model, metadata, rights, run, context_from } = change;
        let json = |value: Option<Value>| value.map(|value| value.to_string());
        // JSON `null` is a text too, so that it is told from what is not given.
        let found = sqlx::query(
            "UPDATE sessions SET state = iif(state = ?12, state, coalesce(?4, state)), label = coalesce(?5, label),
             model = coalesce(?6, model), metadata = coalesce(?7, metadata),
             rights = coalesce(?8, rights), run = nullif(coalesce(?9, run), 'null'),
             context_from = coalesce(?10, context_from), active_at = max(active_at, ?11)
             WHERE user = ?1 AND agent = ?2 AND name = ?3 RETURNING *",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(state.map(SessionState::name))
        .bind(label)
        .bind(model)
        .bind(json(metadata))
        .bind(json(rights))
        .bind(json(run))
        .bind(context_from.map(stored))
        .bind(micros(now))
        .bind(SessionState::Ended.name())
        .fetch_optional(&self.pool)
        .await?;
        read(&found.ok_or_else(|| StoreError::UnknownSession(key.clone()))?)
    }

    /// Adds to the account of a session.
    pub async fn spend(&self, key: &SessionKey, spent: Spent) -> Result<(), StoreError> {
        let Spent { input_tokens, output_tokens, cost_micros, calls } = spent;
        let done = sqlx::query(
            "UPDATE sessions SET input_tokens = input_tokens + ?4, output_tokens = output_tokens + ?5,
             cost_micros = cost_micros + ?6, calls = calls + ?7
             WHERE user = ?1 AND agent = ?2 AND name = ?3",
        )
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .bind(stored(input_tokens))
        .bind(stored(output_tokens))
        .bind(stored(cost_micros))
        .bind(stored(calls))
        .execute(&self.pool)
        .await?;
        if done.rows_affected() == 1 {
            return Ok(());
        }
        Err(StoreError::UnknownSession(key.clone()))
    }

    /// The sessions that pass `filter`, those first in which something happened last.
    pub async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, StoreError> {
        let SessionFilter {
            user,
            agents,
            kinds,
            states,
            active_since,
            label,
            search,
            parent,
            before,
            limit,
        } = filter;
        let (parent, before) = (parent.as_ref(), before.as_ref());
        let after = |part: fn(&SessionKey) -> &String| before.map(|at| part(&at.key));
        let rows = sqlx::query(
            "SELECT * FROM sessions WHERE (?1 IS NULL OR user = ?1)
             AND (?2 IS NULL OR agent IN (SELECT value FROM json_each(?2)))
             AND (?3 IS NULL OR kind IN (SELECT value FROM json_each(?3)))
             AND (?4 IS NULL OR state IN (SELECT value FROM json_each(?4)))
             AND (?5 IS NULL OR active_at >= ?5) AND (?6 IS NULL OR label = ?6)
             AND (?7 IS NULL OR instr(lower(name), lower(?7)) > 0
                  OR instr(lower(label), lower(?7)) > 0)
             AND (?8 IS NULL OR (parent_user = ?8 AND parent_agent = ?9 AND parent_name = ?10))
             AND (?11 IS NULL OR (active_at, user, agent, name) < (?11, ?12, ?13, ?14))
             ORDER BY active_at DESC, user DESC, agent DESC, name DESC LIMIT ?15",
        )
        .bind(user)
        .bind(list(agents)?)
        .bind(list(kinds)?)
        .bind(list(states)?)
        .bind(active_since.map(micros))
        .bind(label)
        .bind(search)
        .bind(parent.map(|parent| &parent.user))
        .bind(parent.map(|parent| &parent.agent))
        .bind(parent.map(|parent| &parent.name))
        .bind(before.map(|SessionCursor { active_at, key: _ }| micros(*active_at)))
        .bind(after(|key| &key.user))
        .bind(after(|key| &key.agent))
        .bind(after(|key| &key.name))
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Removes a session with its messages, and takes back what is asked there. Says whether it was there.
    pub async fn remove_session(
        &self,
        key: &SessionKey,
        now: SystemTime,
    ) -> Result<bool, StoreError> {
        let mut write = self.begin().await?;
        let was_there = remove(&mut write, key).await?;
        withdraw_of_sessions(&mut write, std::slice::from_ref(key), now).await?;
        write.commit().await?;
        Ok(was_there)
    }

    /// Removes sessions of single requests, and of agents that other agents started, that do nothing any
    /// more: those in which nothing happened since `older_than`, and of the others the oldest beyond
    /// `keep_at_most`. Says how many.
    pub async fn prune_sessions(
        &self,
        older_than: SystemTime,
        keep_at_most: u32,
        now: SystemTime,
    ) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            let mut write = self.begin().await?;
            let rows = sqlx::query(
                "SELECT user, agent, name FROM sessions
                 WHERE kind IN (?1, ?2) AND state <> ?3 AND (active_at < ?4 OR number IN
                    (SELECT number FROM sessions WHERE kind IN (?1, ?2)
                     ORDER BY active_at DESC, number DESC LIMIT -1 OFFSET ?5))
                 ORDER BY active_at LIMIT ?6",
            )
            .bind(SessionKind::Request.name())
            .bind(SessionKind::Child.name())
            .bind(SessionState::Running.name())
            .bind(micros(older_than))
            .bind(keep_at_most)
            .bind(BATCH)
            .fetch_all(&mut *write)
            .await?;
            let gone = rows.iter().map(read_key).collect::<Result<Vec<_>, _>>()?;
            for key in &gone {
                // Nothing of the conversation is left, so nothing of what it read.
                sqlx::query("DELETE FROM sources WHERE user = ? AND agent = ? AND session = ?")
                    .bind(&key.user)
                    .bind(&key.agent)
                    .bind(&key.name)
                    .execute(&mut *write)
                    .await?;
                remove(&mut write, key).await?;
            }
            withdraw_of_sessions(&mut write, &gone, now).await?;
            write.commit().await?;
            removed += gone.len() as u64;
            if gone.len() < BATCH as usize {
                return Ok(removed);
            }
        }
    }

    async fn known_session(&self, key: &SessionKey) -> Result<Session, StoreError> {
        let found = self.session(key).await?;
        found.ok_or_else(|| StoreError::UnknownSession(key.clone()))
    }
}

/// Removes a session. Who spoke there is forgotten with it, so that what is asked there must be taken back, too:
/// they could answer it.
async fn remove(write: &mut Transaction<'_, Sqlite>, key: &SessionKey) -> Result<bool, StoreError> {
    hand_down_speakers(write, key).await?;
    let done = sqlx::query("DELETE FROM sessions WHERE user = ? AND agent = ? AND name = ?")
        .bind(&key.user)
        .bind(&key.agent)
        .bind(&key.name)
        .execute(&mut **write)
        .await?;
    forget_speakers(write, key).await?;
    Ok(done.rows_affected() == 1)
}

/// A number as the database has it; one beyond its range is the largest it has.
pub(super) fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Back from what is stored.
pub(super) fn count(row: &SqliteRow, name: &str) -> Result<u64, StoreError> {
    let number: i64 = row.try_get(name)?;
    u64::try_from(number).map_err(|_| StoreError::NotUnderstood(format!("{name} is {number}")))
}

fn read_key(row: &SqliteRow) -> Result<SessionKey, StoreError> {
    Ok(SessionKey {
        user: row.try_get("user")?,
        agent: row.try_get("agent")?,
        name: row.try_get("name")?,
    })
}

pub(super) fn read(row: &SqliteRow) -> Result<Session, StoreError> {
    let parent = match row.try_get::<Option<String>, _>("parent_user")? {
        Some(user) => Some(SessionKey {
            user,
            agent: row.try_get("parent_agent")?,
            name: row.try_get("parent_name")?,
        }),
        None => None,
    };
    let json = |name| Ok::<_, StoreError>(serde_json::from_str(row.try_get(name)?)?);
    let some =
        |name| Ok::<_, StoreError>(Some(row.try_get(name)?).filter(|s: &String| !s.is_empty()));
    let run: Option<&str> = row.try_get("run")?;
    Ok(Session {
        key: read_key(row)?,
        kind: named(row.try_get("kind")?)?,
        state: named(row.try_get("state")?)?,
        parent,
        label: some("label")?,
        model: some("model")?,
        metadata: json("metadata")?,
        rights: json("rights")?,
        run: run.map(serde_json::from_str).transpose()?,
        context_from: count(row, "context_from")?,
        input_tokens: count(row, "input_tokens")?,
        output_tokens: count(row, "output_tokens")?,
        cost_micros: count(row, "cost_micros")?,
        calls: count(row, "calls")?,
        created_at: from_micros(row.try_get("created_at")?),
        active_at: from_micros(row.try_get("active_at")?),
        messages: count(row, "messages")?,
    })
}
