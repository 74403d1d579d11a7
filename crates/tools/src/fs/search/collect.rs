//! Takes what is found in one file.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use tool::{FilePath, Redact};

use super::matcher::StoppableMatcher;
use crate::fs::grep::Mode;

/// Longer lines are cut to this many characters.
const MAX_LINE_CHARS: usize = 500;

/// What was found in one file.
#[derive(Debug)]
pub(super) struct Hits {
    pub(super) path: FilePath,
    /// How many matches.
    pub(super) count: u64,
    pub(super) lines: Vec<HitLine>,
}

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Binary,
}

/// A line to show.
#[derive(Debug)]
pub(super) struct HitLine {
    /// Number of the line.
    pub(super) number: u64,
    pub(super) text: String,
    /// Which match of the file it belongs to, from 1; `None` if it is only near one.
    pub(super) matched: Option<u64>,
}

/// Collects matches of one file.
pub(super) struct Collector<'a> {
    mode: Mode,
    matcher: &'a StoppableMatcher,
    redact: &'a dyn Redact,
    count: u64,
    pub(super) kind: Kind,
    lines: Vec<HitLine>,
}

impl<'a> Collector<'a> {
    pub(super) const fn new(
        mode: Mode,
        matcher: &'a StoppableMatcher,
        redact: &'a dyn Redact,
    ) -> Self {
        Self { mode, matcher, redact, count: 0, kind: Kind::Text, lines: Vec::new() }
    }

    /// What was found, if anything was.
    pub(super) fn hits(self, path: &FilePath) -> Option<Hits> {
        let Self { mode: _, matcher: _, redact: _, kind: _, count, lines } = self;
        (count > 0).then(|| Hits { path: path.clone(), count, lines })
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += 1;
        if self.mode == Mode::Content {
            let first = found.line_number().unwrap_or_default();
            for (number, line) in (first..).zip(found.lines()) {
                let text = show(line, Some(self.matcher), self.redact);
                self.lines.push(HitLine { number, text, matched: Some(self.count) });
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> io::Result<bool> {
        let number = near.line_number().unwrap_or_default();
        self.lines.push(HitLine {
            number,
            text: show(near.bytes(), None, self.redact),
            matched: None,
        });
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        if finish.binary_byte_offset().is_some() {
            self.kind = Kind::Binary;
        }
        Ok(())
    }
}

/// A line as text; of a long one the part around the match.
fn show(line: &[u8], matcher: Option<&StoppableMatcher>, redact: &dyn Redact) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = String::from_utf8_lossy(line);
    if text.len() <= MAX_LINE_CHARS || text.chars().count() <= MAX_LINE_CHARS {
        return text.into_owned();
    }
    // Whoever chooses what matches chooses where the line is cut.
    let text = redact.redact(&text);
    let line = text.as_bytes();
    let found = matcher.and_then(|matcher| matcher.find(line).ok().flatten());
    let before = found.and_then(|found| line.get(..found.start())).unwrap_or_default();
    let skipped = String::from_utf8_lossy(before).chars().count().saturating_sub(100);
    let mut shown = if skipped > 0 { "…".to_owned() } else { String::new() };
    let mut rest = text.chars().skip(skipped);
    shown.extend(rest.by_ref().take(MAX_LINE_CHARS));
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}
