//! `write`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Digest, Effect, Expect, FileChange, FileContent, FilePath, FileState, Info, Need, Plan, Tool,
    ToolContext, ToolError, ToolOutput, ToolResult, schema_of,
};

use super::{INFO, MAX_FILE_BYTES, if_there};

/// Write a text file: create it, replace all of it, or add to its end. Missing folders are created.
/// To change a part of a file, use `edit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// File to write, as a path in the workspace.
    path: FilePath,
    /// The text, exactly as it shall be in the file; end the last line with a newline.
    content: String,
    /// `overwrite` makes `content` all there is in the file; `append` puts it at the end.
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    Overwrite,
    Append,
}

/// What was written.
#[derive(Serialize, JsonSchema)]
struct Written {
    /// The file.
    path: FilePath,
    /// How many bytes were written.
    bytes: usize,
}

impl Tool for Write {
    const NAME: &'static str = "write";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info { aliases: &["write_file"], large: &["content"], ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Written>())
    }

    fn plan(&self) -> Plan {
        [Need::Write(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let Self { path, content, mode } = self;
        let written = Written { path: path.clone(), bytes: content.len() };
        let (expect, bytes) = match mode {
            Mode::Overwrite => (Expect::Anything, content.into_bytes()),
            Mode::Append => appended(ctx, &path, content).await?,
        };
        let content = FileContent::File { bytes, mode: None };
        ctx.files().commit(vec![FileChange { path, expect, content }]).await?;
        let Written { path, bytes } = &written;
        let text = format!("wrote {bytes} bytes to `{path}`");
        Ok(ToolOutput::json(&written).with_text(text))
    }
}

/// The whole new file, and what it relies on: a change by somebody else must not get lost.
async fn appended(
    ctx: &ToolContext,
    path: &FilePath,
    content: String,
) -> Result<(Expect, Vec<u8>), ToolError> {
    let before = if_there(ctx.files().read(path, MAX_FILE_BYTES).await)?;
    let Some((mut bytes, _)) = before else {
        return Ok((Expect::State(FileState::Absent), content.into_bytes()));
    };
    ctx.blocking(move |_| {
        let expect = Expect::Content(Digest::of(&bytes));
        bytes.extend_from_slice(content.as_bytes());
        Ok((expect, bytes))
    })
    .await
}
