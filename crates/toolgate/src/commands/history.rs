//! `toolgate history`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result};
use clap::Args;
use gate::HOOK;
use serde_json::Value;
use store::{Entry, Filter, Journal, Status};
use toolgate::CallId;

use crate::{
    cli::{Global, duration},
    context, output,
    question::{indented, needs_in_words},
    visible::visible,
};

/// Longer ones are cut in the table.
const MAX_WHAT: usize = 100;

/// Show the calls that were made, newest first.
#[derive(Debug, Args)]
pub(crate) struct History {
    /// Show all that is known about this call.
    #[arg(value_name = "CALL_ID")]
    call: Option<CallId>,
    /// Only calls of this tool.
    #[arg(long, value_name = "T")]
    tool: Option<String>,
    /// Only calls that are `success`, `error`, `running` or `interrupted`.
    #[arg(long, value_name = "S")]
    status: Option<Status>,
    /// Only calls that were made within this time.
    #[arg(long, value_name = "1h", value_parser = duration)]
    since: Option<Duration>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Only calls for this user.
    #[arg(long, value_name = "U")]
    user: Option<String>,
    /// Only calls of this conversation.
    #[arg(long, value_name = "S")]
    session: Option<String>,
    /// Print journal entries as JSON.
    #[arg(long)]
    json: bool,
}

impl History {
    pub(crate) fn run(self, global: &Global) -> Result<ExitCode> {
        let journal = context::journal(global)?;
        if let Some(call) = self.call {
            self.one(&journal, call)?;
        } else {
            self.list(&journal)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn one(&self, journal: &Journal, call: CallId) -> Result<()> {
        let entry = journal.entry(call)?;
        let entry = entry
            .with_context(|| format!("there is no call `{call}`; `toolgate history` lists them"))?;
        if self.json {
            return output::json(&entry);
        }
        output::line(whole(&entry)?);
        Ok(())
    }

    fn list(self, journal: &Journal) -> Result<()> {
        let entries = journal.entries(&Filter {
            tool: self.tool,
            status: self.status,
            since: self.since.and_then(|ago| context::now().checked_sub(ago)),
            user: self.user,
            session: self.session,
            limit: self.limit,
            ..Filter::default()
        })?;
        if self.json {
            return output::json(&entries);
        }
        if entries.is_empty() {
            output::note("No calls.");
            return Ok(());
        }
        let head = ["time", "call", "tool", "status", "ms", "effects", "changed", "what"];
        let rows: Vec<_> = entries.iter().map(row).collect();
        match output::terminal_width() {
            Some(width) if width < WIDE => narrow(&rows, usize::from(width)),
            _ => output::table(&head, rows),
        }
        Ok(())
    }
}

/// Terminals from here on have room for every column.
const WIDE: u16 = 150;

/// One line for each call, without effects and counts, cut where the terminal ends.
fn narrow(rows: &[Vec<String>], width: usize) {
    const COLUMNS: [usize; 6] = [0, 1, 2, 3, 4, 7];
    let cells = |row: &[String]| -> Vec<String> {
        COLUMNS.iter().map(|column| row.get(*column).cloned().unwrap_or_default()).collect()
    };
    let head = ["TIME", "CALL", "TOOL", "STATUS", "MS", "WHAT"].map(str::to_owned);
    let all: Vec<_> =
        std::iter::once(head.to_vec()).chain(rows.iter().map(|row| cells(row))).collect();
    let wide = |column: usize| {
        all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<_> = (0..COLUMNS.len()).map(|column| wide(column).unwrap_or(0)).collect();
    for (number, row) in all.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, wide)| format!("{cell:<wide$}"));
        let line: String =
            cells.collect::<Vec<_>>().join("  ").trim_end().chars().take(width).collect();
        output::line(if number == 0 { output::bold(&line) } else { line });
    }
}

fn row(entry: &Entry) -> Vec<String> {
    let changed = entry.changed.as_array().map_or(0, Vec::len);
    vec![
        output::time(entry.started),
        entry.id.to_string(),
        visible(&entry.tool_name),
        entry.error_type.clone().unwrap_or_else(|| entry.status.to_string()),
        entry.execution_time_ms.map(|ms| ms.to_string()).unwrap_or_default(),
        entry.effects.to_string(),
        changed.to_string(),
        short(&what(entry)),
    ]
}

/// Why it failed, or what it did; of another program's call, what that was told.
fn what(entry: &Entry) -> String {
    if let Some(message) = entry.message.as_str() {
        return visible(message);
    }
    let needs = needs_in_words(&entry.plan).join(", ");
    let said = |name: &str| entry.output.get(name).and_then(Value::as_str);
    match (said("told"), said("decision")) {
        (Some(client), Some(decision)) if entry.tool_name == HOOK => {
            let told = format!("{} was told `{}`", visible(client), visible(decision));
            if needs.is_empty() { told } else { format!("{told}: {needs}") }
        }
        _ => needs,
    }
}

/// As much as a table has room for.
pub(super) fn short(text: &str) -> String {
    if text.chars().count() <= MAX_WHAT {
        return text.to_owned();
    }
    text.chars().take(MAX_WHAT).chain(['…']).collect()
}

/// What people look for first; the rest follows by name.
const FIRST: &[&str] =
    &["id", "tool_name", "status", "error_type", "message", "detail", "input", "rewrites"];

/// Every field that is not empty; what is long is indented beneath its name.
fn whole(entry: &Entry) -> Result<String> {
    let mut fields = serde_json::to_value(entry)?;
    // Not for programs that pass it on, but whoever looks here is the operator.
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("detail".to_owned(), entry.detail.clone());
    }
    let mut fields: Vec<_> = fields.as_object().into_iter().flatten().collect();
    let place = |name: &str| FIRST.iter().position(|first| *first == name);
    fields.sort_by_key(|(name, _)| place(name).unwrap_or(FIRST.len()));
    let known = fields.into_iter().filter(|(_, value)| !is_empty(value));
    Ok(known.map(|(name, value)| field(name, value)).collect::<Vec<_>>().join("\n"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn field(name: &str, value: &Value) -> String {
    let shown = match value {
        Value::String(text) if text.contains('\n') => {
            let lines: Vec<_> = text.lines().map(visible).collect();
            format!("\n    {}", lines.join("\n    "))
        }
        Value::String(text) => format!(" {}", visible(text)),
        Value::Array(_) | Value::Object(_) => format!("\n{}", indented(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => format!(" {value}"),
    };
    format!("{}{shown}", output::bold(&format!("{name}:")))
}
