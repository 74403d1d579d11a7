//! Questions that wait for a person's answer, or got one.

use std::time::{Duration, SystemTime};

use sqlx::{Row, Sqlite, Transaction, sqlite::SqliteRow};

use tool::{CallId, Need};

use super::{
    Answer, Approval, ApprovalFilter, ApprovalStatus, AskLimits, Db, Decision, EXACT, NewApproval,
    Permission, SessionKey, Wanted, Which,
};
use crate::{
    ApprovalId, StoreError, names,
    time::{from_micros, micros},
};

/// How long a question counts as one of many.
const MINUTE: Duration = Duration::from_mins(1);

impl Db {
    /// Asks, unless the session has asked too much.
    pub async fn request_approval(
        &self,
        new: NewApproval,
        limits: AskLimits,
    ) -> Result<ApprovalId, StoreError> {
        self.expire_approvals(new.asked_at).await?;
        let mut write = self.begin().await?;
        let since = new.asked_at.checked_sub(MINUTE).unwrap_or(SystemTime::UNIX_EPOCH);
        let (open, asked, of_user): (u32, u32, u32) = sqlx::query_as(
            "SELECT count(*) FILTER (WHERE agent = ?2 AND session = ?3 AND status = 'pending'),
                    count(*) FILTER (WHERE agent = ?2 AND session = ?3 AND asked_at > ?4),
                    count(*) FILTER (WHERE status = 'pending') FROM approvals
             WHERE user = ?1 AND (status = 'pending' OR asked_at > ?4)",
        )
        .bind(&new.user)
        .bind(&new.agent)
        .bind(&new.session)
        .bind(micros(since))
        .fetch_one(&mut *write)
        .await?;
        if open >= limits.open {
            return Err(StoreError::TooManyOpen(open));
        }
        if limits.open_of_user.is_some_and(|most| of_user >= most) {
            return Err(StoreError::TooManyOfUser(of_user));
        }
        if asked >= limits.per_minute {
            return Err(StoreError::TooManyAsked(asked));
        }
        let id = insert(&mut write, new).await?;
        write.commit().await?;
        Ok(id)
    }

    /// The whole of an id of which people typed the beginning.
    pub async fn whole_id(&self, typed: &ApprovalId) -> Result<ApprovalId, StoreError> {
        let rows = sqlx::query_scalar::<_, String>(
            "SELECT id FROM approvals WHERE substr(id, 1, length(?1)) = ?1 LIMIT 2",
        )
        .bind(typed.as_str())
        .fetch_all(&self.pool)
        .await?;
        match rows.as_slice() {
            [id] => id.parse().map_err(StoreError::NotUnderstood),
            _ => Err(StoreError::UnknownApproval(typed.clone())),
        }
    }

    /// One approval, as it stands at `now`.
    pub async fn approval(
        &self,
        id: &ApprovalId,
        now: SystemTime,
    ) -> Result<Option<Approval>, StoreError> {
        let found = sqlx::query("SELECT * FROM approvals WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&self.pool)
            .await?;
        found.map(|row| read(&row).map(|approval| at(approval, now))).transpose()
    }

    /// The approvals that pass `filter`, newest first, as they stand at `now`.
    pub async fn approvals(
        &self,
        filter: &ApprovalFilter,
        now: SystemTime,
    ) -> Result<Vec<Approval>, StoreError> {
        self.approvals_of(None, filter, now).await
    }

    /// The same, only about calls of these agents.
    pub async fn approvals_of(
        &self,
        agents: Option<&[String]>,
        filter: &ApprovalFilter,
        now: SystemTime,
    ) -> Result<Vec<Approval>, StoreError> {
        self.approvals_before(None, agents, filter, now).await
    }

    /// The same, only those that come after one of them in the list.
    pub async fn approvals_before(
        &self,
        before: Option<&ApprovalId>,
        agents: Option<&[String]>,
        filter: &ApprovalFilter,
        now: SystemTime,
    ) -> Result<Vec<Approval>, StoreError> {
        let ApprovalFilter { which, user, limit } = filter;
        let pending_after = match which {
            Which::Pending => Some(micros(now)),
            Which::All => None,
        };
        let rows = sqlx::query(
            "SELECT * FROM approvals
             WHERE (?1 IS NULL OR (status = 'pending' AND expires_at > ?1))
             AND (?2 IS NULL OR user = ?2)
             AND (?3 IS NULL OR agent IN (SELECT value FROM json_each(?3)))
             AND (?5 IS NULL OR (asked_at, rowid) < (SELECT asked_at, rowid FROM approvals WHERE id = ?5))
             ORDER BY asked_at DESC, rowid DESC LIMIT ?4",
        )
        .bind(pending_after)
        .bind(user)
        .bind(agents.map(serde_json::to_string).transpose()?)
        .bind(limit)
        .bind(before.map(ApprovalId::as_str))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| read(row).map(|approval| at(approval, now))).collect()
    }

    /// Answers a question that is still open, which can be done once. What the answer is remembered
    /// for becomes a grant with the id of the approval.
    pub async fn answer_approval(
        &self,
        id: &ApprovalId,
        answer: Answer,
        now: SystemTime,
    ) -> Result<Approval, StoreError> {
        self.expire_approvals(now).await?;
        let mut write = self.begin().await?;
        let found = sqlx::query("SELECT * FROM approvals WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&mut *write)
            .await?;
        let approval = read(&found.ok_or_else(|| StoreError::UnknownApproval(id.clone()))?)?;
        if approval.status != ApprovalStatus::Pending {
            return Err(StoreError::NotPending { id: id.clone(), status: approval.status });
        }
        check_scope(&approval, &answer.decision)?;
        record_answer(&mut write, id, &answer, now).await?;
        super::grants::insert(&mut write, &approval, &answer, now).await?;
        write.commit().await?;
        Ok(Approval {
            status: answer.decision.status(),
            decision: Some(answer.decision.name().to_owned()),
            answered_by: Some(answer.by),
            answered_at: Some(from_micros(micros(now))),
            message: answer.message,
            ..approval
        })
    }

    /// Lets `call` wait for the answer to a question about the same call, whose process died.
    pub async fn adopt_approval(
        &self,
        wanted: Wanted<'_>,
        call: CallId,
        now: SystemTime,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let sql =
            "UPDATE approvals SET call_id = ?1, waiting = 1 WHERE id = (SELECT id FROM approvals
             WHERE status = 'pending' AND waiting = 0 AND used_at IS NULL AND fingerprint = ?2 AND
             user = ?3 AND agent = ?4 AND session = ?5 AND tool = ?6 AND rule = ?7 AND expires_at > ?8
             ORDER BY asked_at LIMIT 1) RETURNING id";
        self.taken(sql, wanted, call, now).await
    }

    /// Uses a yes up that nobody waited for any more: for the same call, once, before it expires.
    pub async fn take_approval(
        &self,
        wanted: Wanted<'_>,
        call: CallId,
        now: SystemTime,
    ) -> Result<Option<Approval>, StoreError> {
        let sql =
            "UPDATE approvals SET used_by = ?1, used_at = ?8 WHERE id = (SELECT id FROM approvals
             WHERE status = 'allowed' AND waiting = 0 AND used_at IS NULL AND fingerprint = ?2 AND
             user = ?3 AND agent = ?4 AND session = ?5 AND tool = ?6 AND rule = ?7 AND expires_at > ?8
             ORDER BY asked_at LIMIT 1) RETURNING id";
        match self.taken(sql, wanted, call, now).await? {
            Some(id) => self.approval(&id, now).await,
            None => Ok(None),
        }
    }

    async fn taken(
        &self,
        sql: &'static str,
        wanted: Wanted<'_>,
        call: CallId,
        now: SystemTime,
    ) -> Result<Option<ApprovalId>, StoreError> {
        let Wanted { user, agent, session, tool, rule, fingerprint, scopes: _ } = wanted;
        let taken = sqlx::query_scalar::<_, String>(sql)
            .bind(call.to_string())
            .bind(fingerprint.to_string())
            .bind(user)
            .bind(agent)
            .bind(session)
            .bind(tool)
            .bind(rule)
            .bind(micros(now))
            .fetch_optional(&self.pool)
            .await?;
        taken.map(|id| id.parse().map_err(StoreError::NotUnderstood)).transpose()
    }

    /// Uses the answer that `call` waited for up. Says whether it was still there to be used.
    pub async fn use_approval(
        &self,
        id: &ApprovalId,
        call: CallId,
        now: SystemTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE approvals SET used_by = ?1, used_at = ?2
             WHERE id = ?3 AND status = 'allowed' AND used_at IS NULL AND call_id = ?1",
        )
        .bind(call.to_string())
        .bind(micros(now))
        .bind(id.as_str())
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes a question back: the caller went away, its time is up, its process died. Says whether
    /// it was still open, or answered and not used yet.
    pub async fn withdraw_approval(
        &self,
        id: &ApprovalId,
        why: &str,
        now: SystemTime,
    ) -> Result<bool, StoreError> {
        self.expire_approvals(now).await?;
        let done = sqlx::query(
            "UPDATE approvals SET status = 'withdrawn', message = ?, answered_at = ?
             WHERE id = ? AND (status = 'pending' OR
             (status = 'allowed' AND waiting = 0 AND used_at IS NULL))",
        )
        .bind(why)
        .bind(micros(now))
        .bind(id.as_str())
        .execute(&self.pool)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    async fn expire_approvals(&self, now: SystemTime) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE approvals SET status = 'expired', answered_at = expires_at
             WHERE status = 'pending' AND expires_at <= ?",
        )
        .bind(micros(now))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

/// Takes back what is asked in sessions that are removed, also what was allowed and is not used yet.
pub(super) async fn withdraw_of_sessions(
    write: &mut Transaction<'_, Sqlite>,
    sessions: &[SessionKey],
    now: SystemTime,
) -> Result<(), StoreError> {
    let keys: Vec<_> = sessions.iter().map(|key| (&key.user, &key.agent, &key.name)).collect();
    sqlx::query(
        "UPDATE approvals SET status = 'withdrawn', answered_at = ?1,
         message = 'the session was removed'
         WHERE (status = 'pending' AND expires_at > ?1 OR status = 'allowed' AND used_at IS NULL)
         AND (user, agent, session) IN
            (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2))",
    )
    .bind(micros(now))
    .bind(serde_json::to_string(&keys)?)
    .execute(&mut **write)
    .await?;
    Ok(())
}

/// Takes back what an agent asks that needs a capability it is denied, also what was allowed and is not
/// used yet.
pub(super) async fn withdraw_of_capability(
    write: &mut Transaction<'_, Sqlite>,
    denied: &Permission,
) -> Result<(), StoreError> {
    let Permission { user, agent, capability, state: _, by, at } = denied;
    let open: Vec<(String, String)> = sqlx::query_as(
        "SELECT id, plan FROM approvals WHERE user = ?1 AND agent = ?2 AND
         (status = 'pending' AND expires_at > ?3 OR status = 'allowed' AND used_at IS NULL)",
    )
    .bind(user)
    .bind(agent)
    .bind(micros(*at))
    .fetch_all(&mut **write)
    .await?;
    for (id, plan) in open {
        // A plan of another version is taken to need everything.
        let needs: Result<Vec<Need>, _> = serde_json::from_str(&plan);
        if needs.is_ok_and(|needs| needs.iter().all(|need| need.capability() != Some(*capability)))
        {
            continue;
        }
        withdraw(write, &id, &format!("{by} denied the permission `{capability}`"), *at).await?;
    }
    Ok(())
}

/// Takes back what an agent asks that is removed, also what was allowed and is not used yet.
pub(super) async fn withdraw_of_agent(
    write: &mut Transaction<'_, Sqlite>,
    agent: &str,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE approvals SET status = 'withdrawn', message = 'the agent was removed'
         WHERE agent = ? AND (status = 'pending' OR status = 'allowed' AND used_at IS NULL)",
    )
    .bind(agent)
    .execute(&mut **write)
    .await?;
    Ok(())
}

async fn withdraw(
    write: &mut Transaction<'_, Sqlite>,
    id: &str,
    why: &str,
    now: SystemTime,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE approvals SET status = 'withdrawn', message = ?, answered_at = ? WHERE id = ?",
    )
    .bind(why)
    .bind(micros(now))
    .bind(id)
    .execute(&mut **write)
    .await?;
    Ok(())
}

async fn insert(
    write: &mut Transaction<'_, Sqlite>,
    new: NewApproval,
) -> Result<ApprovalId, StoreError> {
    let id = unused_id(write).await?;
    sqlx::query(
        "INSERT INTO approvals (id, call_id, user, agent, session, tool, input, plan, effects,
         place, reason, rule, fingerprint, scopes, cwd, changes, untrusted, asked_at, expires_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id.as_str())
    .bind(new.call.to_string())
    .bind(new.user)
    .bind(new.agent)
    .bind(new.session)
    .bind(new.tool)
    .bind(new.input.to_string())
    .bind(new.plan.to_string())
    .bind(serde_json::to_string(&new.effects)?)
    .bind(new.place.map(names::of_place))
    .bind(new.reason)
    .bind(new.rule)
    .bind(new.fingerprint.to_string())
    .bind(serde_json::to_string(&new.scopes)?)
    .bind(new.cwd)
    .bind(serde_json::to_string(&new.changes)?)
    .bind(serde_json::to_string(&new.untrusted)?)
    .bind(micros(new.asked_at))
    .bind(micros(new.expires_at))
    .execute(&mut **write)
    .await?;
    Ok(id)
}

pub(super) async fn unused_id(
    write: &mut Transaction<'_, Sqlite>,
) -> Result<ApprovalId, StoreError> {
    loop {
        let id = ApprovalId::random();
        let taken = sqlx::query("SELECT 1 FROM approvals WHERE id = ?")
            .bind(id.as_str())
            .fetch_optional(&mut **write)
            .await?;
        if taken.is_none() {
            return Ok(id);
        }
    }
}

async fn record_answer(
    write: &mut Transaction<'_, Sqlite>,
    id: &ApprovalId,
    answer: &Answer,
    now: SystemTime,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE approvals SET status = ?, decision = ?, answered_by = ?, answered_at = ?,
         message = ? WHERE id = ?",
    )
    .bind(answer.decision.status().name())
    .bind(answer.decision.name())
    .bind(&answer.by)
    .bind(micros(now))
    .bind(&answer.message)
    .bind(id.as_str())
    .execute(&mut **write)
    .await?;
    Ok(())
}

fn check_scope(approval: &Approval, decision: &Decision) -> Result<(), StoreError> {
    let scope = match decision {
        Decision::AllowAlways { scope, expires: _ } => scope.as_str(),
        Decision::AllowSession => EXACT,
        Decision::AllowOnce | Decision::Deny => return Ok(()),
    };
    let offered = &approval.request.scopes;
    if offered.iter().any(|one| one == scope) {
        return Ok(());
    }
    let (id, scope, offered) = (approval.id.clone(), scope.to_owned(), offered.clone());
    Err(StoreError::UnknownScope { id, scope, offered })
}

/// One whose time is up counts as expired also before anybody has written that down.
fn at(mut approval: Approval, now: SystemTime) -> Approval {
    let expires_at = approval.request.expires_at;
    if approval.status == ApprovalStatus::Pending && expires_at <= now {
        approval.status = ApprovalStatus::Expired;
        approval.answered_at = Some(expires_at);
    }
    approval
}

fn read(row: &SqliteRow) -> Result<Approval, StoreError> {
    let request = NewApproval {
        call: parsed(row, "call_id")?,
        user: row.try_get("user")?,
        agent: row.try_get("agent")?,
        session: row.try_get("session")?,
        tool: row.try_get("tool")?,
        input: serde_json::from_str(row.try_get("input")?)?,
        plan: serde_json::from_str(row.try_get("plan")?)?,
        effects: serde_json::from_str(row.try_get("effects")?)?,
        place: row.try_get::<Option<&str>, _>("place")?.and_then(names::place),
        reason: row.try_get("reason")?,
        rule: row.try_get("rule")?,
        fingerprint: parsed(row, "fingerprint")?,
        scopes: serde_json::from_str(row.try_get("scopes")?)?,
        cwd: row.try_get("cwd")?,
        changes: serde_json::from_str(row.try_get("changes")?)?,
        untrusted: serde_json::from_str(row.try_get("untrusted")?)?,
        asked_at: from_micros(row.try_get("asked_at")?),
        expires_at: from_micros(row.try_get("expires_at")?),
    };
    Ok(Approval {
        id: parsed(row, "id")?,
        request,
        status: parsed(row, "status")?,
        decision: row.try_get("decision")?,
        answered_by: row.try_get("answered_by")?,
        answered_at: row.try_get::<Option<i64>, _>("answered_at")?.map(from_micros),
        message: row.try_get("message")?,
        waiting: row.try_get("waiting")?,
        used_by: row.try_get::<Option<&str>, _>("used_by")?.and_then(|id| id.parse().ok()),
    })
}

/// A column that is the text of something of ours.
pub(super) fn parsed<T: std::str::FromStr<Err = String>>(
    row: &SqliteRow,
    name: &str,
) -> Result<T, StoreError> {
    row.try_get::<&str, _>(name)?.parse().map_err(StoreError::NotUnderstood)
}
