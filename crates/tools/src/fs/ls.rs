//! `ls`.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, FileKind, FilePath, FileStat, Ignored, Info, Need, Plan, Tool, ToolContext, ToolError,
    ToolOutput, ToolResult, Walk, schema_of,
};

use super::{INFO, kind_name, when::iso8601};

/// More entries than this are not listed.
const MAX_ENTRIES: usize = 1_000;

/// List a folder: kind, size, time of the last change (UTC) and path of each entry. Hidden entries
/// and those that `.gitignore` and `.ignore` name are left out unless `all` is set.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ls {
    /// Folder to list; left out, the workspace itself.
    #[serde(default = "FilePath::root")]
    path: FilePath,
    /// How many levels down; 1 lists only what is directly in the folder.
    #[serde(default = "default_depth")]
    #[schemars(range(min = 1))]
    depth: usize,
    /// Also list hidden and ignored entries.
    #[serde(default)]
    all: bool,
}

const fn default_depth() -> usize {
    1
}

/// What is in a folder.
#[derive(Debug, Serialize, JsonSchema)]
struct Listing {
    /// The folder.
    path: FilePath,
    /// What is in it, in name order.
    entries: Vec<Entry>,
    /// Whether there are more entries than are listed.
    truncated: bool,
}

/// One entry of a folder.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// Its name.
    name: String,
    /// Its path.
    path: FilePath,
    /// `file`, `folder`, `link` or `other`.
    kind: String,
    /// Size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    /// Where a link points.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

impl Tool for Ls {
    const NAME: &'static str = "ls";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info { repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Listing>())
    }

    fn plan(&self) -> Plan {
        [Need::Read(self.path.clone())].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let stat = ctx.files().stat(&self.path).await?;
        let itself = |stat: FileStat| vec![Entry::new(&self.path, stat.kind, Some(stat))];
        let mut entries = match stat.kind {
            FileKind::Folder => list(ctx, &self).await?,
            FileKind::Link => list(ctx, &self).await.unwrap_or_else(|_| itself(stat)),
            FileKind::File | FileKind::Other => itself(stat),
        };
        ctx.live().check()?;
        let truncated = entries.len() > MAX_ENTRIES;
        entries.truncate(MAX_ENTRIES);
        let listing = Listing { path: self.path, entries, truncated };
        let text = listing.to_text();
        Ok(ToolOutput::json(listing).with_text(text))
    }
}

/// The entries, up to one more than are shown.
async fn list(ctx: &ToolContext, ls: &Ls) -> Result<Vec<Entry>, ToolError> {
    let entries = Arc::new(Mutex::new(Vec::new()));
    let ignored = if ls.all { Ignored::Shown } else { Ignored::Skipped };
    // One thread, so that a long listing is cut at the same place every time.
    let walk = Walk { depth: ls.depth.max(1), ignored, threads: 1 };
    let visited = entries.clone();
    ctx.files()
        .walk(&ls.path, walk, move |entry| {
            let mut entries = visited.lock().unwrap_or_else(PoisonError::into_inner);
            entries.push(Entry::new(entry.path(), entry.kind(), entry.stat().ok()));
            let full = entries.len() > MAX_ENTRIES;
            if full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .await?;
    let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *entries))
}

impl Entry {
    fn new(path: &FilePath, kind: FileKind, stat: Option<FileStat>) -> Self {
        let bytes = stat.as_ref().filter(|_| kind == FileKind::File).map(|stat| stat.bytes);
        Self {
            name: path.name().unwrap_or_default().to_owned(),
            path: path.clone(),
            kind: kind_name(kind).to_owned(),
            bytes,
            modified: stat.as_ref().and_then(|stat| iso8601(stat.modified)),
            target: stat.and_then(|stat| stat.target),
        }
    }

    fn to_text(&self) -> String {
        let Self { name: _, path, kind, bytes, modified, target } = self;
        let bytes = bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        let modified = modified.as_deref().unwrap_or("-");
        let slash = if kind == kind_name(FileKind::Folder) { "/" } else { "" };
        let target = target.as_ref().map(|target| format!(" -> {target}")).unwrap_or_default();
        format!("{kind:<6} {bytes:>10} {modified:>20} {path}{slash}{target}")
    }
}

impl Listing {
    fn to_text(&self) -> String {
        if self.entries.is_empty() {
            return "[nothing to list; hidden and ignored entries are shown with `all`]".to_owned();
        }
        let mut lines: Vec<String> = self.entries.iter().map(Entry::to_text).collect();
        if self.truncated {
            lines.push(format!(
                "[only the first {MAX_ENTRIES} entries; list a folder further down, or use `glob`]"
            ));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_kind_size_time_and_path() {
        let entry = |kind, bytes| Entry {
            name: "a".into(),
            path: FilePath::new("src/a"),
            kind: kind_name(kind).into(),
            bytes,
            modified: Some("2023-11-14T22:13:20Z".into()),
            target: (kind == FileKind::Link).then(|| "../b".to_owned()),
        };
        for (entry, expected) in [
            (entry(FileKind::File, Some(12)), "file           12 2023-11-14T22:13:20Z src/a"),
            (entry(FileKind::Folder, None), "folder          - 2023-11-14T22:13:20Z src/a/"),
            (entry(FileKind::Link, None), "link            - 2023-11-14T22:13:20Z src/a -> ../b"),
        ] {
            assert_eq!(entry.to_text(), expected);
        }
    }
}
