//! Takes back what an earlier call changed. A person's operation: in no model's view.

use serde_json::json;
use tool::{
    BoxFuture, CallId, Capability, Change, Effect, Effects, Expect, FileChange, FileContent,
    FilePath, FileState, Info, Need, Plan, Prepared, Section, ToolContext, ToolInfo, ToolOutput,
    ToolResult,
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

/// The changes that take a call back, one for each file.
#[derive(Debug)]
pub(crate) struct Undo {
    call: CallId,
    files: Vec<Touched>,
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
            expect: Expect::State(self.after.clone()),
            content: FileContent::from(&self.before),
        }
    }
}

impl Undo {
    /// `records` are the call's change records, oldest first.
    pub(crate) fn new(call: CallId, records: &[Vec<Change>]) -> Self {
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
        Self { call, files }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Prepared for Undo {
    fn plan(&self) -> Plan {
        self.files.iter().map(|file| Need::Write(file.path.clone())).collect()
    }

    fn run(self: Box<Self>, ctx: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let changes = self.files.iter().map(Touched::restoring).collect();
            ctx.files().commit(changes).await?;
            let restored: Vec<_> = self.files.iter().map(|file| &file.name).collect();
            Ok(ToolOutput::json(json!({"undone": self.call, "restored": restored})))
        })
    }
}
