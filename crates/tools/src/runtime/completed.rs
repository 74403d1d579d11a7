//! What `exec` returns.

use std::fmt::{self, Write as _};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tool::{
    ChangeKind, Changed, Ended, FilePath, Place, Redact, ToolError, ToolOutput, ToolResult,
};

use super::{
    ansi,
    ended::{End, usage},
    output::{Apart, Output},
    part::{MARGIN, within},
};

/// A little less than the 50 KB a model gets of any result. Of what is longer it gets the beginning.
const MODEL_BYTES: usize = 50_000 - 300;
/// So much of the end is then shown first: it is where a command says what went wrong.
const END_BYTES: usize = 15_000;
/// Beyond this, output is not repeated as `aggregated` where it came from one stream only.
const MAX_DOUBLED_BYTES: usize = 1_000_000;
/// More files than this are only counted in the text.
const MAX_FILES: usize = 20;

/// The command ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Completed {
    /// `completed`; `ended` if it was ended before its own end; `running` if it goes on as a process.
    status: &'static str,
    #[serde(flatten)]
    end: End,
    /// What it wrote to its standard output. Left out if both outputs came as one, as they do from a
    /// command that could have gone on as a process.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    /// What it wrote to its error output; left out where `stdout` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<String>,
    /// Both outputs, in the order they came. Left out if it is longer than 1 MB and the same as
    /// `stdout` or `stderr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregated: Option<String>,
    /// How many bytes of the output are missing; where, is marked in it.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: u64,
    /// The folder it started in.
    cwd: String,
    /// Where it ran: `sandbox`, `container`, `host` or `node`.
    place: &'static str,
    /// The files of the workspace that it changed.
    changed: Vec<ChangedFile>,
    /// What else is worth knowing.
    notes: Vec<String>,
}

/// A changed file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedFile {
    /// The file.
    path: FilePath,
    /// `created`, `modified` or `deleted`.
    change: &'static str,
}

/// Where a command ran, and what came of that.
#[derive(Debug)]
pub(crate) struct Where {
    pub(crate) cwd: String,
    pub(crate) place: Place,
    pub(crate) changed: Vec<Changed>,
    pub(crate) notes: Vec<String>,
}

impl Completed {
    pub(crate) fn new(ended: &Ended, output: Output, at: Where) -> Self {
        let Output { all, apart, left_out } = output;
        let Where { cwd, place, changed, notes } = at;
        let (stdout, stderr) = apart.map(|Apart { stdout, stderr }| (stdout, stderr)).unzip();
        Self {
            status: if ended.killed_for.is_some() { "ended" } else { "completed" },
            end: End::from(ended),
            stdout,
            stderr,
            aggregated: Some(all),
            left_out,
            cwd,
            place: place.name(),
            changed: changed.into_iter().map(ChangedFile::from).collect(),
            notes,
        }
    }

    /// The result: an error if the command was ended before its own end, with what it cost.
    pub(crate) fn result(mut self, ended: &Ended, redact: &dyn Redact) -> ToolResult {
        let text = self.text(redact);
        let message = format!("the command was {}", self.end);
        // There may be megabytes of it: moved, where everything else is copied.
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        let aggregated = self.aggregated.take();
        let is_double = |of: &Option<String>| of.as_ref().is_some_and(String::is_empty);
        let aggregated = aggregated.filter(|all| {
            all.len() <= MAX_DOUBLED_BYTES || !is_double(&stdout) && !is_double(&stderr)
        });
        let written = [("stdout", stdout), ("stderr", stderr), ("aggregated", aggregated)];
        let mut output = ToolOutput::json(self).with_text(text);
        if let Some(Value::Object(fields)) = &mut output.value {
            let written = written.into_iter().filter_map(|(name, text)| Some((name, text?)));
            fields.extend(written.map(|(name, text)| (name.to_owned(), Value::String(text))));
        }
        let output = ToolOutput { usage: usage(ended), ..output };
        if ended.killed_for.is_none() {
            return Ok(output);
        }
        Err(ToolError::unfinished(ended.timed_out.then_some(ended.took), message, output))
    }

    /// What a model reads: first what the output does not say, then the output.
    fn text(&self, redact: &dyn Redact) -> String {
        let mut text = self.facts();
        let output = ansi::strip(self.aggregated.as_deref().unwrap_or_default());
        if output.len() > MODEL_BYTES {
            let start = output.floor_char_boundary(output.len() - END_BYTES);
            let (before, end) = output.split_at(start);
            let near = before.floor_char_boundary(before.len().saturating_sub(MARGIN));
            let end = within(before.get(near..).unwrap_or_default(), end, "", redact);
            let bytes = output.len();
            let _ = write!(text, "[the end of {bytes} bytes of output]\n{end}\n[all of it]\n");
        }
        text.push_str(if output.is_empty() { "(no output)" } else { &output });
        text
    }

    fn facts(&self) -> String {
        let mut facts = String::new();
        let mut say = |what: &dyn fmt::Display| {
            let _ = writeln!(facts, "[{what}]");
        };
        if !self.end.is_success() {
            say(&self.end);
        }
        if !self.changed.is_empty() {
            say(&files(&self.changed));
        }
        self.notes.iter().for_each(|note| say(note));
        facts
    }
}

impl From<Changed> for ChangedFile {
    fn from(Changed { path, change }: Changed) -> Self {
        let change = match change {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
        };
        Self { path, change }
    }
}

/// The files as one line.
fn files(changed: &[ChangedFile]) -> String {
    let shown = changed.iter().take(MAX_FILES);
    let mut words: Vec<_> =
        shown.map(|ChangedFile { path, change }| format!("{change} `{path}`")).collect();
    if let Some(more) = changed.len().checked_sub(MAX_FILES).filter(|more| *more > 0) {
        words.push(format!("and {more} more"));
    }
    words.join(", ")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}
