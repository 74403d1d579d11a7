//! Takes back what an earlier call changed. A person's operation: in no model's view.

use std::sync::Arc;

use serde_json::json;
use store::{By, LazyDb};
use tool::{
    BoxFuture, CallId, Capability, Change, Effect, Effects, Expect, FileChange, FileContent,
    FilePath, FileState, Info, Need, Plan, Prepared, Section, ToolContext, ToolError, ToolInfo,
    ToolOutput, ToolResult,
};

/// The tool behind `toolgate undo`.
pub(crate) fn undo_tool() -> ToolInfo {
    let info = Info { section: Section::Fs, uses: &[Capability::Files], ..Info::DEFAULT };
    let parameters = json!({"type": "object", "properties": {
        "call_id": {"type": "string", "description": "The call to take back."}
    }});
    let info = ToolInfo::with("undo", "Take back what a call changed.", parameters, info);
    ToolInfo { effects: Effects::of(&[Effect::Write]), ..info }
}

/// The changes that take a call back: one for each file, and those of notes and tasks together.
#[derive(Debug)]
pub(crate) struct Undo {
    call: CallId,
    files: Vec<Touched>,
    /// Notes and tasks, in words.
    rows: Vec<String>,
    db: Arc<LazyDb>,
}

/// A file the call changed, from what to what.
#[derive(Debug)]
struct Touched {
    /// As the call named it.
    name: FilePath,
    /// Where it is, whatever the workspace is now: two clones can look alike.
    path: FilePath,
    before: FileState,
    after: FileState,
}

impl Touched {
    fn new(change: &Change) -> Self {
        let Change { path: name, root, inner, before, after, staged: _, displaced: _ } = change;
        let absolute = FilePath::new(&format!("{root}/{inner}"));
        let path = if name.as_str().starts_with('/') { name.clone() } else { absolute };
        Self { name: name.clone(), path, before: before.clone(), after: after.clone() }
    }

    fn restoring(&self) -> FileChange {
        FileChange {
            path: self.path.clone(),
            expect: Expect::Restorable { from: self.after.clone(), to: self.before.clone() },
            content: FileContent::from(&self.before),
        }
    }
}

impl Undo {
    /// `records` are the call's change records, oldest first; `rows` the notes and tasks it changed.
    pub(crate) fn new(
        call: CallId,
        records: &[Vec<Change>],
        rows: Vec<String>,
        db: Arc<LazyDb>,
    ) -> Self {
        let mut files: Vec<Touched> = Vec::new();
        for change in records.iter().flatten() {
            let touched = Touched::new(change);
            // A file changed twice goes back to what it was before the first change.
            match files.iter_mut().find(|file| file.path == touched.path) {
                Some(file) => file.after = touched.after,
                None => files.push(touched),
            }
        }
        files.retain(|file| file.before != file.after);
        Self { call, files, rows, db }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.rows.is_empty()
    }

    fn row_need(row: &str) -> Need {
        Need::Keep(format!("take back what was done to {row}"))
    }

    /// Takes back what was done to notes and tasks.
    async fn undo_rows(&self, ctx: &ToolContext) -> Result<Vec<String>, ToolError> {
        let Some(first) = self.rows.first() else { return Ok(Vec::new()) };
        let by = By { call: ctx.call(), now: ctx.now(), untrusted: None };
        let (db, undone) = (self.db.clone(), self.call);
        let undo = async move { Ok(db.get().await?.undo_rows(undone, by).await?) };
        ctx.keep(&Self::row_need(first), undo).await
    }
}

impl Prepared for Undo {
    fn plan(&self) -> Plan {
        let files = self.files.iter().map(|file| Need::Write(file.path.clone()));
        files.chain(self.rows.iter().map(|row| Self::row_need(row))).collect()
    }

    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            // What was done to notes and tasks can be brought back if the files refuse.
            let rows = self.undo_rows(ctx).await?;
            let mut changed = Vec::new();
            if !self.files.is_empty() {
                let changes = self.files.iter().map(Touched::restoring).collect();
                changed = ctx.files().commit(changes).await?;
            }
            // Without those that were back already.
            let restored = |file: &&Touched| changed.iter().any(|one| one.path == file.path);
            let files = self.files.iter().filter(restored).map(|file| file.name.to_string());
            let restored: Vec<_> = files.chain(rows).collect();
            Ok(ToolOutput::json(json!({"undone": self.call, "restored": restored})))
        })
    }
}
