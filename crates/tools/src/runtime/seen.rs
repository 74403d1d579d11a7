//! What is known about a process, and what can be seen of its output.

use schemars::JsonSchema;
use serde::Serialize;
use tool::{Process, ProcessStatus, Redact};

use super::{
    ansi,
    ended::End,
    part::{MARGIN, ceil, lossy, whole, within},
};

/// So much of the end of the output is shown where nothing else is asked for.
pub(crate) const TAIL_BYTES: usize = 10_000;

/// Which process, and how it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct State {
    /// Names the process.
    pub(crate) process_id: String,
    /// `running` or `exited`.
    status: &'static str,
    #[serde(flatten)]
    end: Option<End>,
    /// What else is worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl State {
    pub(crate) fn new(process: &dyn Process, status: &ProcessStatus) -> Self {
        Self {
            process_id: process.id().to_owned(),
            status: if status.ended.is_some() { "exited" } else { "running" },
            end: status.ended.as_ref().map(End::from),
            notes: status.notes.clone(),
        }
    }

    /// A sentence without its end.
    pub(crate) fn words(&self) -> String {
        let Self { process_id, status: _, end, notes } = self;
        let mut words = end.as_ref().map_or_else(
            || format!("process `{process_id}` is running"),
            |end| format!("process `{process_id}` has ended: {end}"),
        );
        for note in notes {
            words.push_str("; ");
            words.push_str(note);
        }
        words
    }
}

/// A part of what a process wrote.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Part {
    /// The output, both kinds as they came.
    pub(crate) output: String,
    /// Where it begins, as a count of bytes from the beginning of all output.
    pub(crate) offset: u64,
    /// Where it goes on: give this as `offset` to see what comes next.
    pub(crate) next_offset: u64,
    /// How many bytes the process wrote in all.
    pub(crate) written_bytes: u64,
}

impl Part {
    /// At most `max` bytes from `from` on.
    pub(crate) fn new(process: &dyn Process, from: u64, max: usize, redact: &dyn Redact) -> Self {
        // Looked at first: what it wrote before it ended is then all there.
        let has_ended = process.status().ended.is_some();
        let window = process.output(from.saturating_sub(MARGIN as u64), max + 2 * MARGIN);
        let at = usize::try_from(from.saturating_sub(window.from)).unwrap_or(usize::MAX);
        let start = if from == 0 { 0 } else { ceil(&window.bytes, at) };
        let (before, rest) = window.bytes.split_at(start);
        let end = rest.len().min(max);
        let is_all = end == rest.len() && has_ended;
        let end = if is_all { end } else { rest.get(..end).map_or(end, until_whole) };
        let (bytes, after) = rest.split_at(end);
        let offset = window.from + before.len() as u64;
        Self {
            output: within(&lossy(before), &lossy(bytes), &lossy(after), redact),
            offset,
            next_offset: offset + bytes.len() as u64,
            written_bytes: window.written,
        }
    }

    /// The last `max` bytes.
    pub(crate) fn tail(process: &dyn Process, max: usize, redact: &dyn Redact) -> Self {
        let from = process.status().written.saturating_sub(max as u64);
        Self::new(process, from, max, redact)
    }

    /// Which bytes these are.
    pub(crate) fn range(&self) -> String {
        let Self { output: _, offset, next_offset, written_bytes } = self;
        format!("bytes {offset}-{next_offset} of {written_bytes}")
    }

    /// What a model reads.
    pub(crate) fn text(&self) -> String {
        let text = ansi::strip(&self.output);
        if text.is_empty() { "(no new output)".to_owned() } else { text.into_owned() }
    }
}

/// All of it but a character whose end is not there, unless there is nothing else.
fn until_whole(bytes: &[u8]) -> usize {
    match whole(bytes) {
        0 => bytes.len(),
        end => end,
    }
}
