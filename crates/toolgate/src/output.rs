//! The one door to standard output and standard error.
#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    time::{Duration, SystemTime},
};

use anyhow::Result;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets::NOTHING};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::{changes::Paint, log};

/// Prints a line.
pub(crate) fn line(text: impl std::fmt::Display) {
    // A reader that went away, as `head` does, is not an error.
    let _ = writeln!(io::stdout(), "{text}");
}

/// Prints a part of a line.
pub(crate) fn part(text: impl std::fmt::Display) {
    let mut out = io::stdout();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
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

/// Standard output, for what is written as it comes.
pub(crate) fn stream() -> impl Write {
    BufWriter::new(io::stdout())
}

/// Prints text that is whole already.
pub(crate) fn bytes(text: &[u8]) {
    // A reader that went away, as `head` does, is not an error.
    let mut out = stream();
    let _ = out.write_all(text).and_then(|()| out.flush());
}

/// Columns up to this width, a call id among them, are never broken into lines.
const NARROW: u16 = 36;
/// What must be left for the others.
const ROOM: u16 = 20;

/// Prints rows under a head, in columns as wide as the terminal allows.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(head.iter().map(|name| name.to_uppercase()));
    table.add_rows(rows);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    if let Some(width) = terminal_width() {
        fit(&mut table, width);
    }
    let text = table.trim_fmt();
    let (head, rows) = text.split_once('\n').unwrap_or((&text, ""));
    line(bold(head));
    if !rows.is_empty() {
        line(rows);
    }
}

/// Breaks wide columns into lines, unless the narrow ones alone fill the terminal.
fn fit(table: &mut Table, width: u16) {
    let (mut taken, widths) = (ROOM, table.column_max_content_widths());
    for (column, wide) in table.column_iter_mut().zip(widths) {
        if wide <= NARROW {
            taken = taken.saturating_add(wide + 2);
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    if taken > width {
        // All of them give way: a table that is wider than the terminal cannot be read at all.
        table.column_iter_mut().for_each(|column| {
            column.remove_constraint();
        });
    }
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
}

/// How many characters fit into a line of the terminal, if there is one.
pub(crate) fn terminal_width() -> Option<u16> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok())??;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// Turns on standard error while something takes long; on a terminal only.
pub(crate) fn spinner(what: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    // A template that is wrong costs the count, nothing else.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {human_pos} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// A time as people here read it.
pub(crate) fn time(time: SystemTime) -> String {
    Timestamp::try_from(time).map_or_else(
        |_| "?".to_owned(),
        |time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// Prints what a person should know, apart from the output.
pub(crate) fn note(text: impl std::fmt::Display) {
    eprintln!("{text}");
}

/// Prints why the process ends right now; a panic here would be one too many.
pub(crate) fn last_words(text: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{} {text}", red("error:"));
}

/// Prints an error with everything that led to it.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("{} {}", red("error:"), in_full(error));
}

/// An error with everything that led to it, each once.
pub(crate) fn in_full(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        // Many messages end with what their cause says.
        if !text.ends_with(&cause) {
            text = if text.is_empty() { cause } else { format!("{text}: {cause}") };
        }
    }
    text
}

/// Bold, on a terminal.
pub(crate) fn bold(text: &str) -> String {
    styled(text, "1", &io::stdout())
}

/// Faint, on a terminal.
pub(crate) fn dim(text: &str) -> String {
    styled(text, "2", &io::stdout())
}

/// Green, yellow or red, on a terminal.
pub(crate) fn coloured(text: &str, colour: Colour) -> String {
    styled(text, colour.code(), &io::stdout())
}

/// How good something is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Colour {
    Green,
    Yellow,
    Red,
}

impl Colour {
    const fn code(self) -> &'static str {
        match self {
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Red => "1;31",
        }
    }
}

fn red(text: &str) -> String {
    styled(text, "1;31", &io::stderr())
}

/// Whether standard output has colours.
pub(crate) fn paint() -> Paint {
    if is_coloured(&io::stdout()) { Paint::Coloured } else { Paint::Plain }
}

fn is_coloured(to: &impl IsTerminal) -> bool {
    to.is_terminal() && config::environment("NO_COLOR").is_none()
}

fn styled(text: &str, code: &str, to: &impl IsTerminal) -> String {
    if is_coloured(to) {
        return format!("\x1b[{code}m{text}\x1b[0m");
    }
    text.to_owned()
}

/// Whose diagnostics they are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Log {
    /// A command's, which ends soon: warnings.
    Command,
    /// The server's: one line for each request, with the time.
    Server(LogForm),
}

/// How diagnostics are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogForm {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl LogForm {
    /// As it is given on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Sends diagnostics to standard error: the usual ones, or what `TOOLGATE_LOG` says.
pub(crate) fn start_logging(log: Log) {
    let usual = match log {
        Log::Command => "warn",
        Log::Server(_) => "warn,server=info",
    };
    let filter = config::environment("TOOLGATE_LOG").unwrap_or_else(|| usual.to_owned());
    let filter = tracing_subscriber::EnvFilter::try_new(filter).unwrap_or_default();
    let lines = match log {
        Log::Command => None,
        Log::Server(form) => log::begin(form).ok(),
    };
    let writer = match lines {
        Some(lines) => BoxMakeWriter::new(lines),
        None => BoxMakeWriter::new(io::stderr),
    };
    let logging = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(io::stderr().is_terminal())
        .with_target(false);
    match log {
        Log::Command => logging.without_time().init(),
        Log::Server(LogForm::Text) if io::stderr().is_terminal() => logging.init(),
        Log::Server(LogForm::Text) => logging.event_format(log::Line).init(),
        Log::Server(LogForm::Json) => logging.json().flatten_event(true).init(),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    #[test]
    fn an_error_says_nothing_twice() {
        let error = anyhow!("no such file").context("cannot read `a`: no such file").context("no");
        assert_eq!(super::in_full(&error), "no: cannot read `a`: no such file");
    }
}
