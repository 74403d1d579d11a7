//! The patch format of `apply_patch`.

mod apply;
mod find;
mod parse;

pub(crate) use apply::{PatchedText, apply};
pub(crate) use parse::{Operation, parse};

/// A group of changed lines, with lines around them that say where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Its first line in the patch.
    line: usize,
    /// Lines after `@@`: the hunk is somewhere after them.
    context: Vec<String>,
    lines: Vec<Line>,
    /// Whether the hunk must end where the file ends.
    at_end: bool,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Keep(String),
    Add(String),
    Remove(String),
}

impl Hunk {
    /// The lines that must be in the file.
    fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter_map(|line| match line {
            Line::Keep(text) | Line::Remove(text) => Some(text.as_str()),
            Line::Add(_) => None,
        });
        old.collect()
    }
}
