//! Keeps what was found: the first of it by path, however many threads find it.

use tool::FilePath;

use super::{
    Query, Report,
    collect::{HitLine, Hits},
};
use crate::fs::grep::Mode;

/// More text than this is not kept, whatever the limit.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) mode: Mode,
    pub(super) limit: usize,
    pub(super) files: Vec<Hits>,
    /// Files that match, kept or not.
    pub(super) total: u64,
    /// Files that turned out to be binary.
    pub(super) binary: u64,
    /// Files that could not be read.
    pub(super) unreadable: u64,
    /// Files with a line, or a whole text, that is too long for a pattern this complex.
    pub(super) too_complex: u64,
    /// Whether something was left out.
    pub(super) cut: bool,
    weight: usize,
    bytes: usize,
    /// Nothing after this path can be among the first.
    last: Option<FilePath>,
}

impl Found {
    pub(super) const fn new(query: &Query) -> Self {
        Self {
            mode: query.mode,
            limit: query.limit,
            files: Vec::new(),
            total: 0,
            binary: 0,
            unreadable: 0,
            too_complex: 0,
            cut: false,
            weight: 0,
            bytes: 0,
            last: None,
        }
    }

    /// Whether a file need not be searched. Where files are counted, every one is.
    pub(super) fn is_beyond(&self, path: &FilePath) -> bool {
        self.mode == Mode::Content && self.last.as_ref().is_some_and(|last| path > last)
    }

    pub(super) fn push(&mut self, hits: Hits) {
        self.total += 1;
        if self.last.as_ref().is_some_and(|last| hits.path > *last) {
            return;
        }
        self.weight += self.weight_of(&hits);
        self.bytes += bytes_of(&hits.lines);
        self.files.push(hits);
        // Twice as much as is kept, so that sorting is rare.
        if self.weight > self.limit.saturating_mul(2) || self.bytes > 2 * MAX_BYTES {
            self.trim();
        }
    }

    pub(super) fn report(&mut self) -> Report {
        self.trim();
        Report::new(self)
    }

    /// Keeps the first of what was found.
    fn trim(&mut self) {
        self.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        (self.weight, self.bytes) = (0, 0);
        let mut kept = Vec::new();
        for mut hits in std::mem::take(&mut self.files) {
            let room = self.limit.saturating_sub(self.weight);
            if room == 0 || self.bytes > MAX_BYTES {
                self.cut = true;
                self.last = kept.last().map(|hits: &Hits| hits.path.clone());
                break;
            }
            if self.mode == Mode::Content {
                self.cut |= hits.shorten(room as u64);
            }
            self.weight += self.weight_of(&hits);
            self.bytes += bytes_of(&hits.lines);
            kept.push(hits);
        }
        self.files = kept;
    }

    fn weight_of(&self, hits: &Hits) -> usize {
        match self.mode {
            Mode::Content => usize::try_from(hits.count).unwrap_or(usize::MAX),
            Mode::Files | Mode::Count => 1,
        }
    }
}

impl Hits {
    /// Keeps the first `max` matches; whether there were more.
    fn shorten(&mut self, max: u64) -> bool {
        let beyond = |line: &HitLine| line.matched.is_some_and(|matched| matched > max);
        let Some(end) = self.lines.iter().position(beyond) else { return false };
        self.lines.truncate(end);
        self.count = max;
        true
    }
}

fn bytes_of(lines: &[HitLine]) -> usize {
    lines.iter().map(|line| line.text.len() + size_of::<HitLine>()).sum()
}
