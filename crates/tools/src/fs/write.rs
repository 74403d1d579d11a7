//! `write`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, Expect, FileChange, FileContent, FilePath, Info, Need, Plan, Tool, ToolContext,
    ToolOutput, ToolResult, schema_of,
};

use super::INFO;

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
        let content = match mode {
            Mode::Overwrite => FileContent::File { bytes: content.into_bytes(), mode: None },
            Mode::Append => FileContent::Append(content.into_bytes()),
        };
        let expect = Expect::Anything;
        ctx.files().commit(vec![FileChange { path, expect, content }]).await?;
        let Written { path, bytes } = &written;
        let text = format!("wrote {bytes} bytes to `{path}`");
        Ok(ToolOutput::json(&written).with_text(text))
    }
}
