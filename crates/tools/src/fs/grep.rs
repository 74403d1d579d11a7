//! `grep`.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, FileKind, FilePath, Ignored, Info, Need, Plan, Tool, ToolContext, ToolError,
    ToolOutput, ToolResult, Walk, schema_of,
};

use super::{
    INFO,
    search::{Query, Report, Search},
    threads,
};

/// Search the content of files with a regular expression and return the lines that match, with
/// their line numbers, ordered by path. Hidden, ignored and binary files are left out. Use it
/// instead of reading files to find something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grep {
    /// Regular expression in Rust syntax; no look-around, no backreferences. Escape characters such
    /// as `(`, `[`, `{`, `.` and `*` with a backslash to search for them as they are.
    pattern: String,
    /// File or folder to search; left out, the whole workspace. `artifact:ID` works too.
    #[serde(default = "FilePath::root")]
    path: FilePath,
    /// Search only files whose name fits this pattern, such as `*.rs` or `*.{ts,tsx}`; with a
    /// slash, whose path below `path` fits, such as `src/**/*.rs`; with a leading `!`, those that
    /// do not.
    glob: Option<String>,
    /// Show this many lines before and after each match.
    #[serde(default)]
    #[schemars(range(max = 20))]
    context: usize,
    /// Whether upper and lower case are different; `smart`: only if the pattern has an upper case
    /// letter.
    #[serde(default)]
    case: Case,
    /// Let a match reach over several lines; the pattern may then contain `\n`.
    #[serde(default)]
    multiline: bool,
    /// `content` returns matching lines, `files` only paths of files that match, `count` the number
    /// of matching lines in each file.
    #[serde(default)]
    mode: Mode,
    /// Return at most this many matches, or this many files if `mode` is `files` or `count`.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Case {
    #[default]
    Sensitive,
    Insensitive,
    Smart,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    #[default]
    Content,
    Files,
    Count,
}

const fn default_limit() -> usize {
    100
}

impl Tool for Grep {
    const NAME: &'static str = "grep";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info { timeout: Duration::from_secs(30), repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Report>())
    }

    fn plan(&self) -> Plan {
        [Need::Read(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let path = self.path.clone();
        let search =
            Arc::new(Search::new(&self.query(), ctx.live().clone(), ctx.redact().clone())?);
        let kind = if path.as_str().starts_with("artifact:") {
            FileKind::File
        } else {
            ctx.files().stat(&path).await?.kind
        };
        match kind {
            FileKind::Folder => walk(ctx, &path, search.clone()).await?,
            FileKind::File | FileKind::Other => file(ctx, &path, search.clone()).await?,
            // What a link leads to shows when it is opened.
            FileKind::Link => {
                if file(ctx, &path, search.clone()).await.is_err() {
                    walk(ctx, &path, search.clone()).await?;
                }
            }
        }
        let report = search.report();
        let text = report.to_text();
        Ok(ToolOutput::json(report).with_text(text))
    }
}

impl Grep {
    fn query(self) -> Query {
        let Self { pattern, path, glob, context, case, multiline, mode, limit } = self;
        Query { pattern, folder: path, glob, context, case, multiline, mode, limit: limit.max(1) }
    }
}

async fn walk(ctx: &ToolContext, path: &FilePath, search: Arc<Search>) -> Result<(), ToolError> {
    let walk = Walk { depth: usize::MAX, ignored: Ignored::Skipped, threads: threads() };
    ctx.files()
        .walk(path, walk, move |entry| {
            search.entry(entry);
            ControlFlow::Continue(())
        })
        .await
}

async fn file(ctx: &ToolContext, path: &FilePath, search: Arc<Search>) -> Result<(), ToolError> {
    let name = path.clone();
    ctx.files()
        .open_with(path, move |file, _| {
            search.file(&name, file);
            Ok(())
        })
        .await
}
