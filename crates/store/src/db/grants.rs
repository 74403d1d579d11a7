//! What approvals are remembered for.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;
use sqlx::{Row, Sqlite, Transaction, sqlite::SqliteRow};
use tool::Digest;

use super::{
    Answer, Approval, Db, Decision, EXACT, Permission,
    approvals::{parsed, unused_id},
};
use crate::{
    ApprovalId, StoreError,
    time::{from_micros, micros, shown, shown_if_any},
};

/// Calls that need no new answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Grant {
    /// The approval it comes from.
    pub id: ApprovalId,
    /// For calls on behalf of this user,
    pub user: String,
    /// by this agent,
    pub agent: String,
    /// in this session; without one, in any,
    pub session: Option<String>,
    /// of this tool; a scope that is a whole permission is for every tool,
    pub tool: String,
    /// that are asked about by this rule,
    pub rule: String,
    /// that are exactly this,
    #[schemars(with = "String")]
    pub fingerprint: Digest,
    /// or, if there is a scope, that it covers.
    pub scope: Option<String>,
    /// Who answered.
    pub granted_by: String,
    /// When.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub granted_at: SystemTime,
    /// When it ends.
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub expires_at: Option<SystemTime>,
}

/// The call a grant is wanted for.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "`NewApproval` describes them")]
pub struct Wanted<'a> {
    pub user: &'a str,
    pub agent: &'a str,
    pub session: &'a str,
    pub tool: &'a str,
    pub rule: &'a str,
    pub fingerprint: Digest,
    /// Every scope that would cover it.
    pub scopes: &'a [String],
}

impl Grant {
    /// Whether it is for a call like this, in any session.
    pub fn covers_always(&self, wanted: Wanted<'_>) -> bool {
        let same = |own: &str, wanted: &str| own == wanted;
        self.session.is_none()
            && same(&self.user, wanted.user)
            && same(&self.agent, wanted.agent)
            && same(&self.rule, wanted.rule)
            && wanted.is_covered_by(self)
    }
}

/// Whether a scope is a whole permission, whatever the tool.
fn is_permission(scope: &str) -> bool {
    scope.starts_with("permission:")
}

impl Wanted<'_> {
    fn is_covered_by(&self, grant: &Grant) -> bool {
        let same_tool = grant.tool == self.tool;
        match &grant.scope {
            Some(scope) if is_permission(scope) => self.scopes.contains(scope),
            Some(scope) => same_tool && self.scopes.contains(scope),
            None => same_tool && grant.fingerprint == self.fingerprint,
        }
    }
}

/// An answer for always that a person gives about questions of the past.
#[derive(Debug, Clone)]
pub struct LateGrant {
    /// The questions it rests on, the first being the one whose call it is for.
    pub approvals: Vec<ApprovalId>,
    /// One of the scopes they all offered; without one, exactly the same call.
    pub scope: Option<String>,
    /// Who gives it.
    pub by: String,
    /// When it ends, unless it is revoked before.
    pub expires: Option<SystemTime>,
}

impl Db {
    /// The grants that hold at `now`, newest first; of one user, or of all.
    pub async fn grants(
        &self,
        user: Option<&str>,
        now: SystemTime,
    ) -> Result<Vec<Grant>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM grants WHERE revoked_at IS NULL
             AND (expires_at IS NULL OR expires_at > ?1) AND (?2 IS NULL OR user = ?2)
             ORDER BY granted_at DESC, rowid DESC",
        )
        .bind(micros(now))
        .bind(user)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// A grant that covers a call at `now`.
    pub async fn find_grant(
        &self,
        wanted: Wanted<'_>,
        now: SystemTime,
    ) -> Result<Option<Grant>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM grants WHERE revoked_at IS NULL AND user = ?1 AND agent = ?2 AND rule = ?3
             AND (session IS NULL OR session = ?4) AND (expires_at IS NULL OR expires_at > ?5)
             AND (fingerprint = ?6 OR scope IN (SELECT value FROM json_each(?7)))
             ORDER BY granted_at",
        )
        .bind(wanted.user)
        .bind(wanted.agent)
        .bind(wanted.rule)
        .bind(wanted.session)
        .bind(micros(now))
        .bind(wanted.fingerprint.to_string())
        .bind(serde_json::to_string(wanted.scopes)?)
        .fetch_all(&self.pool)
        .await?;
        let grants: Vec<_> = rows.iter().map(read).collect::<Result<_, _>>()?;
        Ok(grants.into_iter().find(|grant| wanted.is_covered_by(grant)))
    }

    /// Remembers an answer that was found in the past. It gets the id of the first of its questions
    /// that has led to no grant; if all have, of a question of its own.
    pub async fn add_grant(
        &self,
        late: LateGrant,
        now: SystemTime,
    ) -> Result<ApprovalId, StoreError> {
        let LateGrant { approvals, scope, by, expires } = late;
        let mut write = self.begin().await?;
        let found = sqlx::query(
            "SELECT value AS id FROM json_each(?1) WHERE value NOT IN (SELECT id FROM grants)
             AND value IN (SELECT id FROM approvals WHERE status = 'allowed') ORDER BY key",
        )
        .bind(serde_json::to_string(&approvals)?)
        .fetch_optional(&mut *write)
        .await?;
        let id = match (found, approvals.first()) {
            (Some(row), _) => parsed(&row, "id")?,
            (None, Some(first)) => copy(&mut write, first, &by, now).await?,
            (None, None) => {
                return Err(StoreError::NotUnderstood("a grant rests on nothing".to_owned()));
            }
        };
        let done = sqlx::query(
            "INSERT INTO grants (id, user, agent, tool, rule, fingerprint, scope, granted_by,
             granted_at, expires_at)
             SELECT id, user, agent, tool, rule, fingerprint, ?2, ?3, ?4, ?5 FROM approvals
             WHERE id = ?1 AND coalesce(?2, ?6) IN (SELECT value FROM json_each(scopes))",
        )
        .bind(id.as_str())
        .bind(&scope)
        .bind(by)
        .bind(micros(now))
        .bind(expires.map(micros))
        .bind(EXACT)
        .execute(&mut *write)
        .await?;
        if done.rows_affected() != 1 {
            return Err(StoreError::UnknownApproval(id));
        }
        write.commit().await?;
        Ok(id)
    }

    /// Ends a grant. Says whether it still held.
    pub async fn revoke_grant(
        &self,
        id: &ApprovalId,
        by: &str,
        now: SystemTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE grants SET revoked_by = ?1, revoked_at = ?2 WHERE id = ?3
             AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)",
        )
        .bind(by)
        .bind(micros(now))
        .bind(id.as_str())
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}

/// Ends the grants that cover all of a permission which is denied.
pub(super) async fn revoke_of_permission(
    write: &mut Transaction<'_, Sqlite>,
    denied: &Permission,
) -> Result<(), StoreError> {
    let Permission { user, agent, capability, state: _, by, at } = denied;
    sqlx::query(
        "UPDATE grants SET revoked_by = ?1, revoked_at = ?2 WHERE user = ?3 AND agent = ?4
         AND scope = ?5 AND revoked_at IS NULL",
    )
    .bind(by)
    .bind(micros(*at))
    .bind(user)
    .bind(agent)
    .bind(format!("permission:{capability}"))
    .execute(&mut **write)
    .await?;
    Ok(())
}

/// A question like `id`, answered now.
async fn copy(
    write: &mut Transaction<'_, Sqlite>,
    id: &ApprovalId,
    by: &str,
    now: SystemTime,
) -> Result<ApprovalId, StoreError> {
    let new = unused_id(write).await?;
    sqlx::query(
        "INSERT INTO approvals (id, call_id, user, agent, session, tool, input, plan, effects,
         place, reason, rule, fingerprint, scopes, asked_at, expires_at, status, decision,
         answered_by, answered_at, used_at)
         SELECT ?1, call_id, user, agent, session, tool, input, plan, effects, place, reason, rule,
         fingerprint, scopes, ?2, ?2, 'allowed', 'allow_always', ?3, ?2, ?2
         FROM approvals WHERE id = ?4",
    )
    .bind(new.as_str())
    .bind(micros(now))
    .bind(by)
    .bind(id.as_str())
    .execute(&mut **write)
    .await?;
    Ok(new)
}

/// Remembers what `answer` says is to be remembered.
pub(super) async fn insert(
    write: &mut Transaction<'_, Sqlite>,
    approval: &Approval,
    answer: &Answer,
    now: SystemTime,
) -> Result<(), StoreError> {
    let request = &approval.request;
    let (session, scope, expires) = match &answer.decision {
        // Where a permission is in question, it is given for the session: the next call needs it again.
        Decision::AllowSession => {
            let permission = request.scopes.iter().find(|scope| is_permission(scope));
            (Some(&request.session), permission, None)
        }
        Decision::AllowAlways { scope, expires } => {
            (None, Some(scope).filter(|scope| *scope != EXACT), *expires)
        }
        Decision::AllowOnce | Decision::Deny => return Ok(()),
    };
    sqlx::query(
        "INSERT INTO grants (id, user, agent, session, tool, rule, fingerprint, scope, granted_by,
         granted_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(approval.id.as_str())
    .bind(&request.user)
    .bind(&request.agent)
    .bind(session)
    .bind(&request.tool)
    .bind(&request.rule)
    .bind(request.fingerprint.to_string())
    .bind(scope)
    .bind(&answer.by)
    .bind(micros(now))
    .bind(expires.map(micros))
    .execute(&mut **write)
    .await?;
    Ok(())
}

fn read(row: &SqliteRow) -> Result<Grant, StoreError> {
    Ok(Grant {
        id: parsed(row, "id")?,
        user: row.try_get("user")?,
        agent: row.try_get("agent")?,
        session: row.try_get("session")?,
        tool: row.try_get("tool")?,
        rule: row.try_get("rule")?,
        fingerprint: parsed(row, "fingerprint")?,
        scope: row.try_get("scope")?,
        granted_by: row.try_get("granted_by")?,
        granted_at: from_micros(row.try_get("granted_at")?),
        expires_at: row.try_get::<Option<i64>, _>("expires_at")?.map(from_micros),
    })
}
