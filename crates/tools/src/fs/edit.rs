//! `edit`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{TextDiff, TextDiffConfig};
use tool::{
    Digest, Effect, Expect, FileChange, FileContent, FilePath, Info, Need, Plan, Tool, ToolContext,
    ToolError, ToolOutput, ToolResult, schema_of,
};

use super::{
    INFO, MAX_FILE_BYTES,
    replace::{Places, Replacement, replace},
    text::Text,
};

/// Replace exact pieces of text in a file. Give one replacement as `oldText` and `newText`, or
/// several as `edits`; all are looked for in the file as it is now and must not overlap. Line
/// endings of the file are kept. Returns the difference. If a piece is not found or is not unique,
/// nothing is changed.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Edit {
    /// File to change, as a path in the workspace.
    path: FilePath,
    /// Several replacements, made together or not at all. Leave out if `oldText` is given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edits: Vec<Replacement>,
    /// Text to replace, exactly as it is in the file, with enough around it to be there only once.
    old_text: Option<String>,
    /// Text to put in its place; empty removes it.
    new_text: Option<String>,
    /// Replace every place where the text is, instead of requiring that it is there only once.
    #[serde(default)]
    replace_all: bool,
}

/// What was changed.
#[derive(Serialize, JsonSchema)]
struct Edited {
    /// The file.
    path: FilePath,
    /// How many places were replaced.
    replacements: usize,
    /// The change as a unified diff.
    diff: String,
}

impl Tool for Edit {
    const NAME: &'static str = "edit";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info {
        parameter_aliases: &[
            ("file_path", "path"),
            ("old_string", "oldText"),
            ("new_string", "newText"),
        ],
        large: &["edits", "oldText", "newText"],
        ..INFO
    };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Edited>())
    }

    fn plan(&self) -> Plan {
        [Need::Write(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let places = if self.replace_all { Places::All } else { Places::Only };
        let path = self.path.clone();
        let edits = self.replacements()?;
        let (bytes, _) = ctx.files().read(&path, MAX_FILE_BYTES).await?;
        let (change, edited) = ctx
            .blocking(move |live| prepare(&path, bytes, |text| replace(text, &edits, places, live)))
            .await?;
        ctx.files().commit(vec![change]).await?;
        let text = edited.diff.clone();
        Ok(ToolOutput::json(edited).with_text(text))
    }
}

impl Edit {
    /// The replacements, in whichever way they were given.
    fn replacements(self) -> Result<Vec<Replacement>, ToolError> {
        let wrong = |path: &str, message: &str| Err(ToolError::invalid(Self::NAME, path, message));
        let edits = match (self.edits, self.old_text, self.new_text) {
            (edits, None, None) if edits.is_empty() => {
                return wrong("", "give `oldText` and `newText`, or `edits`");
            }
            (edits, None, None) => edits,
            (edits, _, _) if !edits.is_empty() => {
                return wrong("edits", "give either `edits` or `oldText` and `newText`, not both");
            }
            (_, Some(old_text), Some(new_text)) => vec![Replacement { old_text, new_text }],
            (_, Some(_), None) => {
                return wrong("newText", "is missing; give an empty string to remove `oldText`");
            }
            (_, None, _) => return wrong("oldText", "is missing; give the text to replace"),
        };
        for Replacement { old_text, new_text } in &edits {
            if old_text.is_empty() {
                return wrong("oldText", "is empty; to create a file or add to it use `write`");
            }
            if old_text == new_text {
                return wrong("newText", "is the same as `oldText`: nothing would change");
            }
        }
        Ok(edits)
    }
}

/// Everything that can fail, before anything is changed.
fn prepare(
    path: &FilePath,
    bytes: Vec<u8>,
    replaced: impl FnOnce(&str) -> Result<(String, usize), String>,
) -> Result<(FileChange, Edited), ToolError> {
    let expect = Expect::Content(Digest::of_content(&bytes));
    let before = Text::decode(path, bytes)?;
    let (after, replacements) = replaced(before.as_str())
        .map_err(|problem| ToolError::failed(format!("cannot edit `{path}`: {problem}")))?;
    if after == before.as_str() {
        let message = format!("cannot edit `{path}`: the edits change nothing");
        return Err(ToolError::failed(message));
    }
    let diff = unified_diff(path, before.as_str(), &after);
    let content = FileContent::File { bytes: before.encode(after), mode: None };
    let change = FileChange { path: path.clone(), expect, content };
    Ok((change, Edited { path: path.clone(), replacements, diff }))
}

fn unified_diff(path: &FilePath, before: &str, after: &str) -> String {
    // Over time it becomes longer than need be, not wrong.
    let mut config: TextDiffConfig = TextDiff::configure();
    let diff = config.timeout(Duration::from_secs(1)).diff_lines(before, after);
    diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(arguments: Value) -> Result<Vec<Replacement>, ToolError> {
        serde_json::from_value::<Edit>(arguments).unwrap().replacements()
    }

    #[test]
    fn takes_one_replacement_or_several() {
        for (arguments, count) in [
            (json!({"path": "f", "oldText": "a", "newText": ""}), 1),
            (json!({"path": "f", "oldText": "a", "newText": "b", "edits": []}), 1),
            (json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}]}), 1),
        ] {
            assert_eq!(check(arguments).unwrap().len(), count);
        }
    }

    #[test]
    fn refuses_what_cannot_be_meant() {
        let pair = json!([{"oldText": "a", "newText": "b"}]);
        for (arguments, expected) in [
            (json!({"path": "f"}), "give `oldText` and `newText`, or `edits`"),
            (json!({"path": "f", "oldText": "a"}), "`newText`: is missing"),
            (json!({"path": "f", "newText": "a"}), "`oldText`: is missing"),
            (json!({"path": "f", "oldText": "", "newText": "a"}), "`oldText`: is empty"),
            (json!({"path": "f", "oldText": "a", "newText": "a"}), "nothing would change"),
            (json!({"path": "f", "oldText": "a", "newText": "b", "edits": pair}), "not both"),
        ] {
            let error = check(arguments).unwrap_err();
            assert_eq!(error.kind(), "validation_error");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
