//! What the person sees of a run.

use std::{collections::HashMap, io::Write as _};

use agent::Event;

use crate::{
    output,
    visible::{readable, visible},
};

/// What of the arguments of a call is shown.
const MAX_INPUT: usize = 80;

/// What was shown so far.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Whether the cursor is at the end of a text.
    in_text: bool,
    calls: HashMap<String, String>,
}

impl Shown {
    /// Text as it comes, calls as one line each.
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Text { text } => {
                output::part(readable(&text));
                self.in_text = true;
            }
            Event::Call { handle, tool, input } => {
                let input = short(&visible(&input.to_string()));
                self.calls.insert(handle, format!("{} {input}", visible(&tool)));
            }
            Event::Called { handle, note, shown: _ } => {
                self.end();
                let call = self.calls.remove(&handle).unwrap_or(note.tool);
                let status = if note.status == "success" { "ok" } else { &note.status };
                let id = output::dim(&note.id);
                output::note(format_args!("  · {call} → {status}, {} ms  {id}", note.duration_ms));
            }
            Event::Started { .. }
            | Event::Update { .. }
            | Event::Message { .. }
            | Event::Ended { .. } => {}
        }
    }

    /// The next thing begins on a line of its own.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.in_text) {
            output::line("");
        }
        let _ = std::io::stdout().flush();
    }
}

fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_INPUT).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
