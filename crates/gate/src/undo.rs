//! Takes back what an earlier call changed. A person's operation: in no model's view.

use std::sync::Arc;

use serde_json::{Value, json};
use tool::{
    AnyTool, BoxFuture, CallId, Capability, Change, Effect, Effects, Expect, FileChange,
    FileContent, FilePath, FileState, Info, Need, Plan, Prepared, Section, ToolContext, ToolError,
    ToolInfo, ToolOutput, ToolResult,
};

/// The tool behind `toolgate undo`.
pub(crate) struct UndoTool(Arc<ToolInfo>);

impl UndoTool {
    pub(crate) fn erased() -> Arc<dyn AnyTool> {
        let info = Info { section: Section::Fs, uses: &[Capability::Files], ..Info::DEFAULT };
        let parameters = json!({"type": "object", "properties": {
            "call_id": {"type": "string", "description": "The call to take back."}
        }});
        let mut info = ToolInfo::with("undo", "Take back what a call changed.", parameters, info);
        info.effects = Effects::of(&[Effect::Write]);
        Arc::new(Self(Arc::new(info)))
    }
}

impl AnyTool for UndoTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }
    fn prepare(&self, _: Value) -> Result<Box<dyn Prepared>, ToolError> {
        Err(ToolError::NotAvailable("undo".to_owned()))
    }
}

/// The changes that take a call back, newest first merged into one for each file.
#[derive(Debug)]
pub(crate) struct Undo {
    call: CallId,
    changes: Vec<(FilePath, FileState, FileState)>,
}

impl Undo {
    /// `records` are the call's change records, oldest first.
    pub(crate) fn new(call: CallId, records: &[Vec<Change>]) -> Self {
        let mut changes: Vec<(FilePath, FileState, FileState)> = Vec::new();
        for change in records.iter().flatten() {
            // A file changed twice goes back to what it was before the first change.
            match changes.iter_mut().find(|(path, ..)| *path == change.path) {
                Some((_, _, after)) => *after = change.after.clone(),
                None => {
                    changes.push((
                        change.path.clone(),
                        change.before.clone(),
                        change.after.clone(),
                    ));
                }
            }
        }
        changes.retain(|(_, before, after)| before != after);
        Self { call, changes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn file_changes(&self) -> Vec<FileChange> {
        let restore = |(path, before, after): &(FilePath, FileState, FileState)| FileChange {
            path: path.clone(),
            expect: Expect::State(after.clone()),
            content: match before {
                FileState::Absent => FileContent::Absent,
                FileState::File { digest, bytes: _, mode } => {
                    FileContent::Kept { digest: *digest, mode: *mode }
                }
                FileState::Link { target } => FileContent::Link(target.clone()),
            },
        };
        self.changes.iter().map(restore).collect()
    }
}

impl Prepared for Undo {
    fn plan(&self) -> Plan {
        self.changes.iter().map(|(path, ..)| Need::Write(path.clone())).collect()
    }

    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let restored = ctx.files().commit(self.file_changes()).await?;
            Ok(ToolOutput::json(json!({"undone": self.call, "restored": restored})))
        })
    }
}
