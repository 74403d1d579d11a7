//! What approvals are remembered for.

use std::time::SystemTime;

use serde::Serialize;
use sqlx::{Row, Sqlite, Transaction, sqlite::SqliteRow};
use tool::Digest;

use super::{Answer, Approval, Db, Decision, EXACT, approvals::parsed};
use crate::{
    ApprovalId, StoreError,
    time::{from_micros, micros, shown, shown_if_any},
};

/// Calls that need no new answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
    pub fingerprint: Digest,
    /// or, if there is a scope, that it covers.
    pub scope: Option<String>,
    /// Who answered.
    pub granted_by: String,
    /// When.
    #[serde(serialize_with = "shown")]
    pub granted_at: SystemTime,
    /// When it ends.
    #[serde(serialize_with = "shown_if_any")]
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

impl Wanted<'_> {
    fn is_covered_by(&self, grant: &Grant) -> bool {
        let same_tool = grant.tool == self.tool;
        match &grant.scope {
            Some(scope) if scope.starts_with("permission:") => self.scopes.contains(scope),
            Some(scope) => same_tool && self.scopes.contains(scope),
            None => same_tool && grant.fingerprint == self.fingerprint,
        }
    }
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

/// Remembers what `answer` says is to be remembered.
pub(super) async fn insert(
    write: &mut Transaction<'_, Sqlite>,
    approval: &Approval,
    answer: &Answer,
    now: SystemTime,
) -> Result<(), StoreError> {
    let request = &approval.request;
    let (session, scope, expires) = match &answer.decision {
        Decision::AllowSession => (Some(&request.session), None, None),
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
