//! Where in a text something stands.

use crate::node::Position;

/// Further to the right nobody looks for a column, and counting them would take a long time.
const MAX_WIDTH: usize = 10_000;

/// Finds lines and columns.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Looks for the lines of `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self { text, starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Where the byte at `offset` stands.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let before = self.text.get(start..offset).filter(|before| before.len() <= MAX_WIDTH);
        Position {
            line: small(line),
            column: before.map_or(0, |text| small(text.chars().count() + 1)),
        }
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
