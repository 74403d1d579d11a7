//! Changes of a command, for people to look at.

use tool::{ChangeKind, Proposed};

use crate::visible::{visible, visible_code};

/// One change in a line.
pub(crate) fn summary(number: usize, one: &Proposed) -> String {
    let Proposed { path, change, what, diff: _, after: _, ask_rule } = one;
    let word = match change {
        ChangeKind::Created => "new",
        ChangeKind::Modified => "changed",
        ChangeKind::Deleted => "deleted",
    };
    let mark = ask_rule
        .as_ref()
        .map(|rule| format!("  ! other programs or agents obey this (rule `{}`)", visible(rule)));
    let mark = mark.unwrap_or_default();
    format!("  {number:>3}  {word:<8} {}  ({}){mark}", visible(path.as_str()), visible(what))
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
