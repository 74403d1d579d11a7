//! `glob`.

use std::{
    cmp::Reverse,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, FileKind, FilePath, Ignored, Info, Need, Plan, Tool, ToolContext, ToolError,
    ToolOutput, ToolResult, Walk, WalkEntry, schema_of,
};

use super::{INFO, glob_filter::GlobFilter, threads};

/// Find files by a pattern on their path, the most recently changed first. Hidden files and files
/// that `.gitignore` and `.ignore` name are left out. To search the content of files, use `grep`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// Pattern, relative to `path`: `*` is anything within one folder, `**` any number of folders,
    /// `?` one character, `[ab]` either, `{a,b}` either. `**/*.rs` finds Rust files anywhere.
    pattern: String,
    /// Folder to look in; left out, the whole workspace.
    #[serde(default = "FilePath::root")]
    path: FilePath,
    /// Return at most this many paths.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: usize,
}

const fn default_limit() -> usize {
    100
}

/// The files found.
#[derive(Serialize, JsonSchema)]
struct Found {
    /// Their paths, the most recently changed first.
    paths: Vec<FilePath>,
    /// How many fit the pattern, also those that are not in the list.
    total: u64,
}

impl Tool for Glob {
    const NAME: &'static str = "glob";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info { repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Found>())
    }

    fn plan(&self) -> Plan {
        [Need::Read(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let filter = GlobFilter::new(&self.pattern, &self.path)
            .map_err(|problem| ToolError::invalid(Self::NAME, "pattern", problem))?;
        let newest = Arc::new(Mutex::new(Newest::new(self.limit)));
        let walk = Walk { depth: usize::MAX, ignored: Ignored::Skipped, threads: threads() };
        let visited = newest.clone();
        ctx.files()
            .walk(&self.path, walk, move |entry| {
                if is_file(entry) && filter.fits(entry.path()) {
                    let modified =
                        entry.stat().map_or(SystemTime::UNIX_EPOCH, |stat| stat.modified);
                    let mut newest = visited.lock().unwrap_or_else(PoisonError::into_inner);
                    newest.push(modified, entry.path());
                }
                ControlFlow::Continue(())
            })
            .await?;
        let found = newest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let text = found.to_text();
        Ok(ToolOutput::json(found).with_text(text))
    }
}

fn is_file(entry: &dyn WalkEntry) -> bool {
    matches!(entry.kind(), FileKind::File | FileKind::Link)
}

impl Found {
    fn to_text(&self) -> String {
        if self.paths.is_empty() {
            return "[no file fits the pattern]".to_owned();
        }
        let mut lines: Vec<String> = self.paths.iter().map(ToString::to_string).collect();
        if self.total > self.paths.len() as u64 {
            let (shown, total) = (self.paths.len(), self.total);
            lines.push(format!("[{shown} of {total} shown; narrow the pattern or raise `limit`]"));
        }
        lines.join("\n")
    }
}

/// The most recently changed files of many, without keeping all of them.
struct Newest {
    limit: usize,
    files: Vec<(Reverse<SystemTime>, FilePath)>,
    total: u64,
}

impl Newest {
    const fn new(limit: usize) -> Self {
        Self { limit, files: Vec::new(), total: 0 }
    }

    fn push(&mut self, modified: SystemTime, path: &FilePath) {
        self.files.push((Reverse(modified), path.clone()));
        self.total += 1;
        if self.files.len() > self.limit.saturating_mul(2) + 1_000 {
            self.trim();
        }
    }

    fn trim(&mut self) {
        self.files.sort_unstable();
        self.files.truncate(self.limit);
    }

    fn take(&mut self) -> Found {
        self.trim();
        let paths = self.files.drain(..).map(|(_, path)| path).collect();
        Found { paths, total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn newest_first_then_by_name() {
        let mut newest = Newest::new(3);
        for (seconds, path) in [(1, "old"), (9, "b"), (9, "a"), (5, "middle")] {
            newest
                .push(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds), &FilePath::new(path));
        }
        let found = newest.take();
        let expected = "a\nb\nmiddle\n[3 of 4 shown; narrow the pattern or raise `limit`]";
        assert_eq!(found.to_text(), expected);
    }

    #[test]
    fn keeps_the_newest_of_very_many() {
        let mut newest = Newest::new(2);
        for index in 0..5_000_u64 {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(index * 7919 % 5_000);
            newest.push(time, &FilePath::new(&format!("{}", index * 7919 % 5_000)));
        }
        let found = newest.take();
        assert_eq!(found.paths, [FilePath::new("4999"), FilePath::new("4998")]);
        assert_eq!(found.total, 5_000);
    }
}
