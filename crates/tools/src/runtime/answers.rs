//! What `process` answers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tool::{Process, ProcessStatus, Redact, Terminal, ToolOutput};

use super::{
    input::Input,
    millis,
    part::within,
    seen::{Part, State},
};

/// So much of a command is shown where it is one of many.
const COMMAND_BYTES: usize = 200;

/// The answer to `list`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// The processes, oldest first.
    processes: Vec<Entry>,
}

/// One process.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    #[serde(flatten)]
    state: State,
    /// The command.
    command: String,
    /// The folder it started in.
    cwd: String,
    /// Where it runs: `sandbox`, `container`, `host` or `node`.
    place: &'static str,
    /// Its number on the machine.
    pid: u32,
    /// How long it runs or ran, in milliseconds.
    age_ms: u64,
    /// How many bytes it wrote.
    written_bytes: u64,
    /// Whether it has a terminal.
    terminal: bool,
}

/// The answer to `poll` and `log`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Looked {
    #[serde(flatten)]
    pub(crate) state: State,
    #[serde(flatten)]
    pub(crate) part: Part,
}

/// The answer to what sends something.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delivered {
    #[serde(flatten)]
    pub(crate) state: State,
    /// How many bytes were sent.
    pub(crate) sent_bytes: usize,
    /// Where the output was when they were sent: the `offset` for the next `poll`.
    pub(crate) next_offset: u64,
}

/// The answer to `clear` and `remove`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Forgotten {
    /// The processes that are no longer known.
    forgotten: Vec<String>,
}

impl Listed {
    pub(crate) fn output(all: &[Arc<dyn Process>], redact: &dyn Redact) -> ToolOutput {
        let processes: Vec<_> = all.iter().map(|process| Entry::new(&**process)).collect();
        let lines: Vec<_> = processes.iter().map(|entry| entry.line(redact)).collect();
        let text = if lines.is_empty() { "(no processes)".to_owned() } else { lines.join("\n") };
        ToolOutput::json(Self { processes }).with_text(text)
    }
}

impl Entry {
    fn new(process: &dyn Process) -> Self {
        let status = process.status();
        let state = State::new(process, &status);
        let ProcessStatus { command, cwd, place, pid, age, ended: _, written, terminal, notes: _ } =
            status;
        Self {
            state,
            command,
            cwd,
            place: place.name(),
            pid,
            age_ms: millis(age),
            written_bytes: written,
            terminal: terminal == Terminal::Yes,
        }
    }

    fn line(&self, redact: &dyn Redact) -> String {
        let Self { state, command, pid, age_ms, written_bytes, .. } = self;
        let (head, rest) = command.split_at(command.floor_char_boundary(COMMAND_BYTES));
        let shown = within("", head, rest, redact);
        let more = if rest.is_empty() { "" } else { "…" };
        let seconds = age_ms / 1000;
        format!(
            "{}; {seconds} s, pid {pid}, {written_bytes} bytes of output; `{shown}{more}`",
            state.words()
        )
    }
}

impl Looked {
    /// For a model that asked for what is at `asked`.
    pub(crate) fn output(self, asked: Option<u64>) -> ToolOutput {
        let text = self.text(asked);
        ToolOutput::json(self).with_text(text)
    }

    fn text(&self, asked: Option<u64>) -> String {
        let Self { state, part } = self;
        let Part { output: _, offset, next_offset, written_bytes } = part;
        let lost = match asked {
            // A character that would have been cut is not lost.
            Some(asked) if offset.saturating_sub(asked) > 3 => {
                format!("; what was before byte {offset} is no longer kept")
            }
            _ => String::new(),
        };
        let more = if next_offset < written_bytes { "there is more, " } else { "" };
        let (state, range, output) = (state.words(), part.range(), part.text());
        format!("[{state}; {range}{lost}; {more}go on with offset {next_offset}]\n{output}")
    }
}

impl Delivered {
    /// For a model that sent `input`.
    pub(crate) fn output(self, input: &Input, terminal: Terminal) -> ToolOutput {
        let text = self.text(input, terminal);
        ToolOutput::json(self).with_text(text)
    }

    fn text(&self, input: &Input, terminal: Terminal) -> String {
        let Self { state, sent_bytes, next_offset } = self;
        let ended = if input.is_last() { " and ended its input" } else { "" };
        let hint = match (input, terminal) {
            (Input::Keys { .. }, Terminal::No) => {
                "; it has no terminal, so keys such as `C-c` are only bytes to it: start it with `pty`"
            }
            _ => "",
        };
        let id = &state.process_id;
        format!(
            "sent {sent_bytes} bytes to process `{id}`{ended}{hint}; see what it does with `poll` \
             and offset {next_offset}"
        )
    }
}

impl Forgotten {
    pub(crate) fn output(ids: Vec<String>) -> ToolOutput {
        let text = match ids.as_slice() {
            [] => "nothing to forget: no process has ended".to_owned(),
            ids => format!("forgot `{}`", ids.join("`, `")),
        };
        ToolOutput::json(Self { forgotten: ids }).with_text(text)
    }
}
