//! What the records of a call say together.

use std::{collections::HashMap, fmt, str::FromStr, time::SystemTime};

use rusqlite::{Row, types::FromSql};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{CallId, Effects};

use super::{Inner, writer};
use crate::{
    OWNER, StoreError,
    time::{from_micros, micros, shown, shown_if_any},
};

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ended well.
    Success,
    /// It was refused, or it failed.
    Error,
    /// It has no outcome yet.
    Running,
    /// The process that ran it died.
    Interrupted,
}

impl Status {
    const ALL: [Self; 4] = [Self::Success, Self::Error, Self::Running, Self::Interrupted];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Status {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join("`, `");
        let found = Self::ALL.into_iter().find(|status| status.name() == text);
        found.ok_or_else(|| format!("no status `{text}`, only `{names}`"))
    }
}

/// One call. What retention erased is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "`Intent` and `Ending` describe them")]
pub struct Entry {
    pub id: CallId,
    pub message_id: Option<String>,
    pub user_id: String,
    pub tool_name: String,
    pub input: Value,
    /// The arguments before each rewrite by a hook, oldest first: `{"by": "hook:NAME", "before": …}`.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub rewrites: Value,
    pub output: Value,
    pub status: Status,
    pub execution_time_ms: Option<u64>,
    /// When the journal recorded the intent.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub created_at: SystemTime,
    pub agent: String,
    pub session: String,
    pub sender: Option<String>,
    pub channel: Option<String>,
    pub provider: Option<String>,
    pub role: String,
    pub provider_call_id: Option<String>,
    pub plan: Value,
    pub effects: Effects,
    pub decision: String,
    pub rule: String,
    pub reason: Option<String>,
    pub approval: Option<String>,
    pub place: Option<String>,
    pub error_type: Option<String>,
    pub message: Value,
    /// For operators only, so it is not part of what is shown.
    #[serde(skip)]
    pub detail: Value,
    pub changed: Value,
    pub answered_by: Option<String>,
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub started: SystemTime,
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub finished: Option<SystemTime>,
}

/// Which entries are wanted.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls that stand so.
    pub status: Option<Status>,
    /// Only calls recorded then or later.
    pub since: Option<SystemTime>,
    /// Only calls of this user.
    pub user: Option<String>,
    /// Only calls of this session.
    pub session: Option<String>,
    /// Only calls of one of these agents.
    pub agents: Option<Vec<String>>,
    /// Only calls that stand before this one in the journal: the next page of a list.
    pub before: Option<CallId>,
    /// At most so many.
    pub limit: usize,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            tool: None,
            status: None,
            since: None,
            user: None,
            session: None,
            agents: None,
            before: None,
            limit: 100,
        }
    }
}

/// Remembers for the length of one query which writers live.
type Living = HashMap<String, bool>;

impl Inner {
    pub(super) fn entry(&self, call: CallId) -> Result<Option<Entry>, StoreError> {
        let reader = self.reader();
        let mut query = reader.prepare_cached(ENTRY)?;
        let mut rows = query.query([call.to_string()])?;
        rows.next()?.map(|row| self.read(row, &mut Living::new())).transpose()
    }

    pub(super) fn entries(&self, filter: &Filter) -> Result<Vec<Entry>, StoreError> {
        let Filter { tool, status, since, user, session, agents, before, limit } = filter;
        let (reader, mut living, mut found) = (self.reader(), Living::new(), Vec::new());
        let mut query = reader.prepare_cached(&of(user.as_deref(), ENTRIES))?;
        let recorded = status.map(Status::name);
        // Nobody has recorded yet that a call was interrupted if its writer has just died.
        let also = status.map(|status| match status {
            Status::Interrupted => Status::Running.name(),
            Status::Success | Status::Error | Status::Running => status.name(),
        });
        let since = since.map_or(i64::MIN, micros);
        let before = before.map(|call| call.to_string());
        let agents = names(agents.as_deref())?;
        let mut rows = query.query((user, tool, session, since, recorded, also, agents, before))?;
        while found.len() < *limit
            && let Some(row) = rows.next()?
        {
            let entry = self.read(row, &mut living)?;
            if status.is_none_or(|status| status == entry.status) {
                found.push(entry);
            }
        }
        Ok(found)
    }

    pub(super) fn counts(
        &self,
        since: SystemTime,
        (user, agents): (Option<&str>, Option<&[String]>),
    ) -> Result<Vec<(Status, u64)>, StoreError> {
        let (reader, mut living, since) = (self.reader(), Living::new(), micros(since));
        let mut counts = Status::ALL.map(|status| (status, 0));
        let mut query = reader.prepare_cached(&of(user, RECENT))?;
        let mut rows = query.query((user, names(agents)?))?;
        let mut left = MOST_COUNTED;
        // From the end, and no further than needed: a journal is long, and a day of it is not.
        while left > 0
            && let Some(row) = rows.next()?
            && row.get::<_, i64>("created_us")? >= since
        {
            let status = self.status(row, &mut living)?;
            if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == status) {
                *count += 1;
            }
            left -= 1;
        }
        Ok(counts.into())
    }

    fn read(&self, row: &Row<'_>, living: &mut Living) -> Result<Entry, StoreError> {
        Ok(Entry {
            id: parsed(row, "id")?,
            message_id: row.get("message_id")?,
            user_id: row.get("user_id")?,
            tool_name: row.get("tool_name")?,
            input: json(row, "input")?,
            rewrites: json(row, "rewrites")?,
            output: json(row, "output")?,
            status: self.status(row, living)?,
            execution_time_ms: number(row, "execution_time_ms")?,
            created_at: from_micros(row.get("created_us")?),
            agent: row.get("agent")?,
            session: row.get("session")?,
            sender: row.get("sender")?,
            channel: row.get("channel")?,
            provider: row.get("provider")?,
            role: row.get("role")?,
            provider_call_id: row.get("provider_call_id")?,
            plan: json(row, "plan")?,
            effects: serde_json::from_value(json(row, "effects")?)?,
            decision: row.get("decision")?,
            rule: row.get("rule")?,
            reason: row.get("reason")?,
            approval: row.get("approval")?,
            place: row.get("place")?,
            error_type: row.get("error_type")?,
            message: json(row, "message")?,
            detail: json(row, "detail")?,
            changed: json(row, "changed")?,
            answered_by: row.get("answered_by")?,
            started: from_micros(row.get("started_us")?),
            finished: optional(row, "finished_us")?.map(from_micros),
        })
    }

    fn status(&self, row: &Row<'_>, living: &mut Living) -> Result<Status, StoreError> {
        let recorded = parsed(row, "status")?;
        if recorded != Status::Running {
            return Ok(recorded);
        }
        let id: String = row.get("writer")?;
        let lives = match living.get(&id) {
            Some(lives) => *lives,
            None => writer::lives(&self.data, &id)?,
        };
        living.insert(id, lives);
        Ok(if lives { Status::Running } else { Status::Interrupted })
    }
}

/// More than this are not counted one by one.
const MOST_COUNTED: u64 = 200_000;

const RECENT: &str = "SELECT status, writer, created_us FROM tool_calls
    WHERE {whose}
    AND (?2 IS NULL OR agent IN (SELECT value FROM json_each(?2))) ORDER BY seq DESC";

const ENTRY: &str = "SELECT *,
    (SELECT content -> '$.rewrites' FROM records AS r WHERE r.seq = tool_calls.seq) AS rewrites
    FROM tool_calls WHERE id = ? LIMIT 1";

const ENTRIES: &str = "SELECT *,
    (SELECT content -> '$.rewrites' FROM records AS r WHERE r.seq = tool_calls.seq) AS rewrites
    FROM tool_calls
    WHERE {whose} AND (?2 IS NULL OR tool_name = ?2)
    AND (?3 IS NULL OR session = ?3) AND created_us >= ?4
    AND (?5 IS NULL OR status IN (?5, ?6))
    AND (?7 IS NULL OR agent IN (SELECT value FROM json_each(?7)))
    AND (?8 IS NULL OR seq < (SELECT min(seq) FROM records WHERE call_id = ?8))
    ORDER BY seq DESC";

/// A query for the calls of one user, or of all. Those of members are found by their index.
fn of(user: Option<&str>, query: &str) -> String {
    let whose = match user {
        Some(user) if user != OWNER => "user_id = ?1 AND user_id <> 'owner'",
        Some(_) => "user_id = ?1",
        None => "?1 IS NULL",
    };
    query.replace("{whose}", whose)
}

/// A list for a query.
fn names(all: Option<&[String]>) -> Result<Option<String>, StoreError> {
    Ok(all.map(serde_json::to_string).transpose()?)
}

fn optional<T: FromSql>(row: &Row<'_>, name: &str) -> Result<Option<T>, StoreError> {
    Ok(row.get(name)?)
}

fn number(row: &Row<'_>, name: &str) -> Result<Option<u64>, StoreError> {
    Ok(optional::<i64>(row, name)?.map(|number| u64::try_from(number).unwrap_or_default()))
}

fn json(row: &Row<'_>, name: &str) -> Result<Value, StoreError> {
    let text = optional::<String>(row, name)?;
    Ok(text.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?)
}

/// A column that is the text of something of ours.
pub(super) fn parsed<T: FromStr<Err = String>>(row: &Row<'_>, name: &str) -> Result<T, StoreError> {
    row.get::<_, String>(name)?.parse().map_err(StoreError::NotUnderstood)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{super::setup, *};

    #[test]
    fn a_members_calls_are_found_without_a_look_at_those_of_others() {
        let dir = tempfile::TempDir::new().unwrap();
        let conn: Connection = setup::writer(dir.path()).unwrap();
        let plan = |user: Option<&str>, query: &str| {
            let sql = format!("EXPLAIN QUERY PLAN {}", of(user, query));
            let mut query = conn.prepare(&sql).unwrap();
            let mut rows = query.raw_query();
            let mut plan = String::new();
            while let Some(row) = rows.next().unwrap() {
                plan += &row.get::<_, String>(3).unwrap();
                plan += "\n";
            }
            plan
        };
        for query in [ENTRIES, RECENT] {
            let members = plan(Some("ada"), query);
            assert!(members.contains("records_by_user"), "{members}");
            for all in [plan(None, query), plan(Some(OWNER), query)] {
                assert!(!all.contains("records_by_user"), "{all}");
            }
            for plan in [&members, &plan(None, query)] {
                assert!(!plan.contains("TEMP B-TREE"), "newest first without sorting: {plan}");
            }
        }
    }
}
