//! Calls whose process died.

use std::{path::PathBuf, sync::Arc};

use rusqlite::{Connection, Row};
use serde_json::Value;
use tool::{CallId, Caller, Change, Effects, FilePath, Role};

use super::{Inner, entry::parsed, writer::WriterFile};
use crate::{StoreError, folder::FolderLock, names::of_role};

/// A writer that died and left calls open. As long as this value lives, nobody else gets it.
#[derive(Debug)]
pub struct Abandoned {
    file: WriterFile,
    /// Its calls without an outcome, in the order they started.
    pub calls: Vec<OpenCall>,
}

/// A call without an outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub call: CallId,
    /// Its tool.
    pub tool: String,
    /// On whose behalf.
    pub caller: Caller,
    /// The effects of its plan.
    pub effects: Effects,
    /// The root folder it worked in.
    pub workspace: Option<PathBuf>,
    /// What it needed.
    pub plan: Value,
    /// The files, or folders of files, it planned to write.
    pub writes: Vec<FilePath>,
    /// What it was about to change, in order; each list was to change together.
    pub changes: Vec<Vec<Change>>,
}

impl Abandoned {
    /// The id of the dead writer.
    pub fn writer(&self) -> &str {
        self.file.id()
    }

    /// Every call has an outcome now: nobody needs to look again.
    pub fn done(self) {
        self.file.retire();
    }
}

impl Inner {
    pub(super) fn abandoned(&self) -> Result<Vec<Abandoned>, StoreError> {
        // In this order, as for whoever looks at a call and then whether its writer lives.
        let reader = self.reader();
        let lock = FolderLock::take(&self.data)?;
        let mut found = Vec::new();
        for file in WriterFile::claim_dead(&self.data, &lock)? {
            let calls = open_calls(&reader, &file)?;
            if calls.is_empty() {
                file.retire();
            } else {
                found.push(Abandoned { file, calls });
            }
        }
        Ok(found)
    }

    pub(super) fn changes(&self, call: CallId) -> Result<Vec<Vec<Change>>, StoreError> {
        changes(&self.reader(), call)
    }
}

fn open_calls(reader: &Connection, writer: &WriterFile) -> Result<Vec<OpenCall>, StoreError> {
    let mut query = reader.prepare_cached(OPEN)?;
    let mut rows = query.query((writer.id(), writer.after()))?;
    let mut calls = Vec::new();
    while let Some(row) = rows.next()? {
        let call = parsed(row, "call_id")?;
        let content: Option<String> = row.get("content")?;
        let payload: Value = content.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?;
        let plan = payload.get("plan").cloned().unwrap_or_default();
        let workspace = payload.get("workspace").and_then(Value::as_str).map(PathBuf::from);
        let (tool, caller) = (row.get("tool")?, caller(row)?);
        let effects = serde_json::from_str(&row.get::<_, String>("effects")?)?;
        let (writes, changes) = (writes(&plan), changes(reader, call)?);
        calls.push(OpenCall { call, tool, caller, effects, workspace, plan, writes, changes });
    }
    Ok(calls)
}

/// As much of the caller as says which workspace is meant.
fn caller(row: &Row<'_>) -> Result<Caller, StoreError> {
    let text = |name| row.get::<_, String>(name).map(Arc::from);
    let owner = row.get::<_, String>("role")? == of_role(Role::Owner);
    Ok(Caller {
        user: text("user")?,
        session: text("session")?,
        role: if owner { Role::Owner } else { Role::Member },
        ..Caller::owner(&text("agent")?)
    })
}

/// A planned write is `{"write": PATH}`; a command, `{"run": …}`, can write everywhere.
fn writes(plan: &Value) -> Vec<FilePath> {
    let needs = plan.as_array().into_iter().flatten();
    let path = |need: &Value| match need.get("run") {
        Some(_) => Some(FilePath::root()),
        None => need.get("write")?.as_str().map(FilePath::new),
    };
    needs.filter_map(path).collect()
}

fn changes(reader: &Connection, call: CallId) -> Result<Vec<Vec<Change>>, StoreError> {
    #[derive(serde::Deserialize)]
    struct Payload {
        changes: Vec<Change>,
    }
    let mut query = reader.prepare_cached(CHANGES)?;
    let mut rows = query.query([call.to_string()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let content: String = row.get::<_, Option<_>>(0)?.ok_or(StoreError::Erased(call))?;
        found.push(serde_json::from_str::<Payload>(&content)?.changes);
    }
    Ok(found)
}

const OPEN: &str = "SELECT * FROM records AS i
    WHERE i.writer = ? AND i.seq > ? AND i.kind = 'intent' AND NOT EXISTS
        (SELECT 1 FROM records AS o WHERE o.call_id = i.call_id AND o.kind = 'outcome')
    ORDER BY i.seq";

const CHANGES: &str =
    "SELECT content FROM records WHERE call_id = ? AND kind = 'change' ORDER BY seq";
