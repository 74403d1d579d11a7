//! Shows what a program changed, and asks what stays.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Write},
};

use rustix::termios::tcgetwinsize;
use tool::{ChangeKind, Keep, Proposed, Review};
use toolgate::{BoxFuture, FilePath, ToolError};

use crate::{output, terminal::visible};

/// The person at the terminal, or what they said beforehand.
#[derive(Debug)]
pub(super) enum AtTerminal {
    Asks,
    KeepsAll,
    DropsAll,
}

impl Review for AtTerminal {
    fn judge<'a>(&'a self, proposed: &'a [Proposed]) -> BoxFuture<'a, Result<Keep, ToolError>> {
        Box::pin(async move {
            match self {
                Self::KeepsAll => Ok(Keep::All),
                Self::DropsAll => Ok(Keep::Nothing),
                Self::Asks => {
                    let proposed = proposed.to_vec();
                    let asked = tokio::task::spawn_blocking(move || ask(&proposed)).await;
                    Ok(asked.map_err(ToolError::internal)?.unwrap_or_else(|_| {
                        output::note(
                            "toolgate: there is no terminal to ask at, so all changes were dropped; \
                             `--keep` keeps them",
                        );
                        Keep::Nothing
                    }))
                }
            }
        })
    }
}

fn ask(proposed: &[Proposed]) -> io::Result<Keep> {
    let mut tty = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    writeln!(tty, "\nThe program changed:")?;
    for (number, one) in proposed.iter().enumerate() {
        writeln!(tty, "{}", summary(number + 1, one))?;
    }
    loop {
        write!(tty, "[v] view  [k] keep all  [p] pick  [d] drop all (default): ")?;
        tty.flush()?;
        match answer(&tty)?.as_deref() {
            Some("v" | "view") => {
                let all: String = proposed.iter().map(shown).collect();
                page(&mut tty, &all)?;
            }
            Some("k" | "keep") => return Ok(Keep::All),
            Some("p" | "pick") => return pick(&mut tty, proposed),
            None | Some("" | "d" | "drop") => return Ok(Keep::Nothing),
            Some(other) => writeln!(tty, "`{}` is none of these.", visible(other))?,
        }
    }
}

/// One after the other; what is not kept is dropped.
fn pick(tty: &mut File, proposed: &[Proposed]) -> io::Result<Keep> {
    let mut kept: Vec<FilePath> = Vec::new();
    for (number, one) in proposed.iter().enumerate() {
        loop {
            writeln!(tty, "{}", summary(number + 1, one))?;
            write!(tty, "[y] keep  [v] view  [n] drop (default): ")?;
            tty.flush()?;
            match answer(tty)?.as_deref() {
                Some("y" | "yes") => kept.push(one.path.clone()),
                Some("v" | "view") => {
                    page(tty, &shown(one))?;
                    continue;
                }
                None | Some(_) => {}
            }
            break;
        }
    }
    Ok(Keep::Only(kept))
}

fn answer(tty: &File) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = BufReader::new(tty).read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_lowercase()))
}

fn summary(number: usize, one: &Proposed) -> String {
    let Proposed { path, change, what, diff: _ } = one;
    let word = match change {
        ChangeKind::Created => "new",
        ChangeKind::Modified => "changed",
        ChangeKind::Deleted => "deleted",
    };
    format!("  {number:>3}  {word:<8} {}  ({})", visible(path.as_str()), visible(what))
}

/// One change, line by line where it is text.
fn shown(one: &Proposed) -> String {
    let Some(diff) = &one.diff else {
        return format!("\n{}\n", summary(0, one).trim_start_matches([' ', '0']));
    };
    let colour = |line: &str| match line.chars().next() {
        Some('+') => "32",
        Some('-') => "31",
        Some('@') => "36",
        _ => "0",
    };
    let lines =
        diff.lines().map(|line| format!("\x1b[{}m{}\x1b[0m\n", colour(line), visible(line)));
    format!("\n{}", lines.collect::<String>())
}

/// A screenful at a time.
fn page(tty: &mut File, text: &str) -> io::Result<()> {
    let rows = tcgetwinsize(&*tty).map_or(24, |size| usize::from(size.ws_row.max(5)));
    let lines: Vec<_> = text.lines().collect();
    let mut pages = lines.chunks(rows - 2).peekable();
    while let Some(lines) = pages.next() {
        for line in lines {
            writeln!(tty, "{line}")?;
        }
        if pages.peek().is_some() {
            write!(tty, "[Enter] more  [q] enough: ")?;
            tty.flush()?;
            if answer(tty)?.is_none_or(|answer| answer.starts_with('q')) {
                return Ok(());
            }
        }
    }
    Ok(())
}
