//! What `exec` returns about a command that goes on.

use schemars::JsonSchema;
use serde::Serialize;
use tool::{Process, ProcessStatus, Redact, ToolOutput};

use super::{
    ansi,
    seen::{Part, TAIL_BYTES},
};

/// Said about what no sandbox keeps apart until the end.
pub(crate) const NOT_UNDOABLE: &str =
    "it runs in the background, where its changes cannot be undone";

/// The command goes on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Running {
    /// `running`.
    status: &'static str,
    /// Names the process for the tool `process`.
    process_id: String,
    /// Its number on the machine.
    pid: u32,
    /// The end of what it wrote so far, both outputs as they came.
    tail: String,
    /// Where its output goes on: the `offset` for the next `poll`.
    next_offset: u64,
    /// The folder it started in.
    cwd: String,
    /// Where it runs.
    place: &'static str,
    /// What else is worth knowing.
    notes: Vec<String>,
}

impl Running {
    pub(crate) fn new(process: &dyn Process, status: ProcessStatus, redact: &dyn Redact) -> Self {
        let part = Part::tail(process, TAIL_BYTES, redact);
        Self {
            status: "running",
            process_id: process.id().to_owned(),
            pid: status.pid,
            tail: part.output,
            next_offset: part.next_offset,
            cwd: status.cwd,
            place: status.place.name(),
            notes: vec![NOT_UNDOABLE.to_owned()],
        }
    }

    /// For a model, with the way to go on.
    pub(crate) fn output(self) -> ToolOutput {
        let Self { process_id, pid, tail, next_offset, .. } = &self;
        let text = format!(
            "[running as process `{process_id}` with pid {pid}; {NOT_UNDOABLE}; to see what it does, \
             use `process` with action `poll`, processId `{process_id}` and offset {next_offset}]\n{}",
            ansi::strip(tail)
        );
        ToolOutput::json(self).with_text(text.trim_end())
    }
}
