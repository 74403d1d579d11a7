//! `apply_patch`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Digest, Effect, Expect, FileChange, FileContent, FilePath, FileState, Info, Need, Plan, Tool,
    ToolContext, ToolError, ToolOutput, ToolResult, schema_of,
};

use super::{
    INFO, MAX_FILE_BYTES, if_there,
    patch::{self, Hunk, Operation, PatchedText},
    text::Text,
};

/// Change several files at once with a patch: all of it is applied, or nothing. The patch is
/// `*** Begin Patch`, then for each file one of `*** Add File: PATH` (each line of the new file
/// after a `+`), `*** Delete File: PATH`, or `*** Update File: PATH` (optionally followed by
/// `*** Move to: PATH`) with hunks, then `*** End Patch`. A hunk begins with `@@`, optionally
/// followed by a line of the file that stands somewhere above it, such as `@@ fn main() {`; its
/// lines begin with a space (kept, about three before and after a change), `-` (removed) or `+`
/// (added). `*** End of File` after a hunk says that it ends where the file ends. There are no line
/// numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApplyPatch {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    input: String,
}

/// The files that changed. A moved file is deleted at one path and added at the other.
#[derive(Default, Serialize, JsonSchema)]
struct Applied {
    /// Files that are new.
    added: Vec<FilePath>,
    /// Files whose content changed.
    modified: Vec<FilePath>,
    /// Files that are gone.
    deleted: Vec<FilePath>,
    /// Anything else worth knowing, such as lines that matched only by their plain characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A file with its hunks applied.
struct Updated {
    /// What the file must still be when it is replaced.
    expect: Expect,
    bytes: Vec<u8>,
    mode: u32,
    typographic: Vec<usize>,
}

impl Tool for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info =
        Info { aliases: &["apply-patch"], parameter_aliases: &[], large: &["input"], ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Applied>())
    }

    /// A patch that cannot be read needs nothing: `run` says what is wrong with it.
    fn plan(&self) -> Plan {
        let operations = patch::parse(&self.input).unwrap_or_default();
        operations.iter().flat_map(Operation::paths).cloned().map(Need::Write).collect()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let operations = patch::parse(&self.input)
            .map_err(|problem| ToolError::invalid(Self::NAME, "input", problem))?;
        let mut changes = Vec::new();
        let mut applied = Applied::default();
        for operation in operations {
            changes.extend(applied.prepare(ctx, operation).await?);
        }
        ctx.files().commit(changes).await?;
        let text = applied.to_text();
        Ok(ToolOutput::json(applied).with_text(text))
    }
}

impl Applied {
    /// The changes one operation makes.
    async fn prepare(
        &mut self,
        ctx: &ToolContext,
        operation: Operation,
    ) -> Result<Vec<FileChange>, ToolError> {
        Ok(match operation {
            Operation::Add { path, content } => {
                must_be_free(ctx, &path, "use `*** Update File` to change it").await?;
                self.added.push(path.clone());
                vec![create(path, content.into_bytes(), None)]
            }
            Operation::Delete { path } => {
                ctx.files().stat(&path).await?;
                self.deleted.push(path.clone());
                vec![FileChange { path, expect: Expect::Anything, content: FileContent::Absent }]
            }
            Operation::Update { path, to: None, hunks } => {
                let updated = update(ctx, &path, hunks).await?;
                self.note(&path, &updated.typographic);
                let Updated { expect, bytes, .. } = updated;
                self.modified.push(path.clone());
                let content = FileContent::File { bytes, mode: None };
                vec![FileChange { path, expect, content }]
            }
            Operation::Update { path, to: Some(to), hunks } => {
                must_be_free(ctx, &to, "move to another path or delete it first").await?;
                let updated = update(ctx, &path, hunks).await?;
                self.note(&path, &updated.typographic);
                let Updated { expect, bytes, mode, .. } = updated;
                self.deleted.push(path.clone());
                self.added.push(to.clone());
                let gone = FileChange { path, expect, content: FileContent::Absent };
                vec![create(to, bytes, Some(mode)), gone]
            }
        })
    }

    fn note(&mut self, path: &FilePath, typographic: &[usize]) {
        if !typographic.is_empty() {
            let lines = typographic.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            self.notes.push(format!(
                "`{path}`: hunk at patch line {lines}: found by taking typographic dashes, quotes and \
                 spaces for their plain forms; kept lines stay as they are in the file"
            ));
        }
    }

    fn to_text(&self) -> String {
        let Self { added, modified, deleted, notes } = self;
        let lists = [("added", added), ("modified", modified), ("deleted", deleted)];
        let lines = lists
            .into_iter()
            .flat_map(|(what, paths)| paths.iter().map(move |path| format!("{what} `{path}`")));
        let notes = notes.iter().map(|note| format!("[{note}]"));
        lines.chain(notes).collect::<Vec<_>>().join("\n")
    }
}

fn create(path: FilePath, bytes: Vec<u8>, mode: Option<u32>) -> FileChange {
    let expect = Expect::State(FileState::Absent);
    FileChange { path, expect, content: FileContent::File { bytes, mode } }
}

async fn must_be_free(ctx: &ToolContext, path: &FilePath, hint: &str) -> Result<(), ToolError> {
    match if_there(ctx.files().stat(path).await)? {
        None => Ok(()),
        Some(_) => Err(ToolError::failed(format!("`{path}` already exists; {hint}"))),
    }
}

/// Applies hunks to a file.
async fn update(
    ctx: &ToolContext,
    path: &FilePath,
    hunks: Vec<Hunk>,
) -> Result<Updated, ToolError> {
    let (bytes, stat) = ctx.files().read(path, MAX_FILE_BYTES).await?;
    let path = path.clone();
    ctx.blocking(move |live| {
        let expect = Expect::Content(Digest::of_content(&bytes));
        let mode = stat.mode & 0o777;
        if hunks.is_empty() {
            return Ok(Updated { expect, bytes, mode, typographic: Vec::new() });
        }
        let before = Text::decode(&path, bytes)?;
        let wrong = |problem| ToolError::failed(format!("cannot patch `{path}`: {problem}"));
        let patched = patch::apply(before.as_str(), &hunks, live);
        // A stopped call failed because it was stopped.
        live.check()?;
        let PatchedText { text, typographic } = patched.map_err(wrong)?;
        if text == before.as_str() {
            return Err(wrong("its hunks change nothing".to_owned()));
        }
        Ok(Updated { expect, bytes: before.encode(text), mode, typographic })
    })
    .await
}
