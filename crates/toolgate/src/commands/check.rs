//! `toolgate check`.

mod answer;
mod call;
mod command;
mod path;
mod schema;
mod url;

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use serde_json::Value;

use self::{
    call::CheckCall, command::CheckCommand, path::CheckPath, schema::CheckSchema, url::CheckUrl,
};
use crate::{cli::Global, output};

/// The longest line that is read.
const MAX_LINE: u64 = 32 * 1024 * 1024;

/// Say what would happen, and why. Runs nothing and records nothing.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    Call(CheckCall),
    Command(CheckCommand),
    Path(CheckPath),
    Url(CheckUrl),
    Schema(CheckSchema),
}

#[derive(Debug, Args)]
struct Input {
    /// What to check.
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin", allow_hyphen_values = true)]
    value: Option<String>,
    /// Check each line of standard input and print one JSON object per line, in order.
    ///
    /// A line that starts with `"` is a JSON string.
    #[arg(long)]
    stdin: bool,
    /// Print the answer as JSON.
    #[arg(long)]
    json: bool,
}

/// What there is to say about one value.
struct Shown {
    /// For programs.
    json: Value,
    /// For people.
    words: String,
}

/// Looks at one value after the other.
trait Checker {
    async fn one(&self, text: &str) -> Result<Shown>;

    /// What only people want to know besides.
    fn more(&self, _: &str) -> String {
        String::new()
    }

    /// About a line that is no text.
    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown>;
}

impl Check {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        match self.kind {
            Kind::Call(kind) => all(&kind.checker(global).await?, &kind.input).await,
            Kind::Command(kind) => all(&kind.checker(global)?, &kind.input).await,
            Kind::Path(kind) => all(&kind.checker(global).await?, &kind.input).await,
            Kind::Url(kind) => all(&kind.checker(global)?, &kind.input).await,
            Kind::Schema(kind) => all(&kind.checker(global)?, &kind.input).await,
        }
    }
}

async fn all(checker: &impl Checker, input: &Input) -> Result<ExitCode> {
    match input {
        Input { value: Some(value), json, stdin: _ } => {
            let Shown { json: answer, words } = checker.one(value).await?;
            if *json {
                output::json(&answer)?;
            } else {
                output::line(words + &checker.more(value));
            }
        }
        Input { value: None, .. } => every_line(checker).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// One answer for each line, as soon as nothing more is there to be read.
async fn every_line(checker: &impl Checker) -> Result<()> {
    let (mut input, mut output) = (BufReader::new(io::stdin()), output::stream());
    while let Some(line) = next_line(&mut input)? {
        let shown = match text_of(&line) {
            Ok(text) => checker.one(&text).await,
            Err(problem) => checker.unreadable(String::from_utf8_lossy(&line).into(), &problem),
        };
        let answer = serde_json::to_string(&shown?.json)?;
        let mut written = writeln!(output, "{answer}");
        if input.buffer().is_empty() {
            written = written.and_then(|()| output.flush());
        }
        if written.is_err() {
            // A reader that went away, as `head` does, is not an error.
            return Ok(());
        }
    }
    Ok(())
}

/// The next line without its end; `None` after the last.
fn next_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = input.take(MAX_LINE + 1).read_until(b'\n', &mut line);
    if read.context("cannot read standard input")? == 0 {
        return Ok(None);
    }
    if line.len() as u64 > MAX_LINE {
        bail!("a line of standard input is longer than {MAX_LINE} bytes");
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(Some(line))
}

/// A line that starts with `"` is a JSON string; any other is what it says.
fn text_of(line: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    if !text.starts_with('"') {
        return Ok(text.to_owned());
    }
    serde_json::from_str(text).map_err(|error| format!("the line is no JSON string: {error}"))
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn a_line_is_text_or_a_json_string() {
        for (line, expected) in [
            ("a b", Some("a b")),
            (r#""a\nb""#, Some("a\nb")),
            ("", Some("")),
            (r#""half"#, None),
            (r#""a" b"#, None),
        ] {
            assert_eq!(text_of(line.as_bytes()).ok().as_deref(), expected, "{line}");
        }
        assert!(text_of(b"\xff").is_err());
    }
}
