//! The one door to standard output and standard error.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the one place that prints")]

use std::io::{self, IsTerminal, Write};

use anyhow::Result;
use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use serde::Serialize;

/// Prints a line.
pub(crate) fn line(text: impl std::fmt::Display) {
    // A reader that went away, as `head` does, is not an error.
    let _ = writeln!(io::stdout(), "{text}");
}

/// Prints JSON: in one line for programs, over several for a person at a terminal.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let text = if io::stdout().is_terminal() {
        serde_json::to_string_pretty(value)?
    } else {
        serde_json::to_string(value)?
    };
    line(text);
    Ok(())
}

/// Prints rows under a head, in columns.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(head.iter().map(|name| bold(&name.to_uppercase())));
    for row in rows {
        table.add_row(row);
    }
    line(table.trim_fmt());
}

/// Prints what a person should know, apart from the output.
pub(crate) fn note(text: impl std::fmt::Display) {
    eprintln!("{text}");
}

/// Prints an error with everything that led to it.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("{} {error:#}", red("error:"));
}

/// Bold, on a terminal.
pub(crate) fn bold(text: &str) -> String {
    styled(text, "1", io::stdout().is_terminal())
}

fn red(text: &str) -> String {
    styled(text, "1;31", io::stderr().is_terminal())
}

fn styled(text: &str, code: &str, terminal: bool) -> String {
    if terminal && config::environment("NO_COLOR").is_none() {
        return format!("\x1b[{code}m{text}\x1b[0m");
    }
    text.to_owned()
}

/// Sends diagnostics to standard error: warnings, or what `TOOLGATE_LOG` says.
pub(crate) fn start_logging() {
    let filter = config::environment("TOOLGATE_LOG").unwrap_or_else(|| "warn".to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(filter).unwrap_or_default();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .without_time()
        .with_target(false)
        .init();
}
