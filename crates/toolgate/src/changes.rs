//! Changes of a command, for people to look at.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write},
};

use rustix::termios::tcgetwinsize;
use tool::{ChangeKind, Proposed};

use crate::visible::{visible, visible_code};

/// One change in a line.
pub(crate) fn summary(number: usize, one: &Proposed) -> String {
    let Proposed { path, change, what, diff: _, after: _ } = one;
    let word = match change {
        ChangeKind::Created => "new",
        ChangeKind::Modified => "changed",
        ChangeKind::Deleted => "deleted",
    };
    format!("  {number:>3}  {word:<8} {}  ({})", visible(path.as_str()), visible(what))
}

/// One change, line by line where it is text.
pub(crate) fn whole(one: &Proposed, paint: Paint) -> String {
    let Some(diff) = &one.diff else {
        return format!("\n{}\n", summary(0, one).trim_start_matches([' ', '0']));
    };
    let lines = diff.lines().map(|line| {
        let (sign, code) = line.split_at_checked(1).unwrap_or((line, ""));
        let text = format!("{}{}", visible(sign), visible_code(code));
        match (paint, colour(sign)) {
            (Paint::Coloured, Some(colour)) => format!("\x1b[{colour}m{text}\x1b[0m\n"),
            (Paint::Coloured, None) | (Paint::Plain, _) => format!("{text}\n"),
        }
    });
    format!("\n{}", lines.collect::<String>())
}

/// Whether the lines of a change have colours.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Paint {
    Coloured,
    Plain,
}

fn colour(sign: &str) -> Option<&'static str> {
    match sign {
        "+" => Some("32"),
        "-" => Some("31"),
        "@" => Some("36"),
        _ => None,
    }
}

/// A screenful at a time.
pub(crate) fn page(tty: &mut File, text: &str) -> io::Result<()> {
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
            if answer(tty)?.is_none_or(|answer| answer.to_lowercase().starts_with('q')) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// What the person typed, without spaces around it; `None` if the terminal was closed.
pub(crate) fn answer(tty: &File) -> io::Result<Option<String>> {
    let mut line = String::new();
    let read = BufReader::new(tty).read_line(&mut line)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
