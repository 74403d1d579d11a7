//! The part of a text that one call shows.

use tool::Redact;

use crate::runtime::part::{MARGIN, within};

/// Collects some lines of a text that comes in pieces, and counts the rest. Holds no more than it
/// shows, and a little around it, so that a secret at an edge is recognised.
#[derive(Debug)]
pub(crate) struct Page {
    /// First line wanted, from 1.
    first: u64,
    /// Bytes of that line to leave out; once the line has come that far, where the page begins in it.
    skipped: u64,
    /// Lines wanted at most.
    limit: u64,
    /// Bytes wanted at most.
    max_bytes: usize,
    /// The end of what comes before the page.
    before: String,
    text: String,
    /// The beginning of what comes after the page.
    after: String,
    /// How much of `text` is whole lines.
    whole: usize,
    /// Whole lines in `text`.
    shown: u64,
    /// Lines that have ended.
    ended: u64,
    /// Whether a line has begun and not ended.
    open: bool,
    full: bool,
    /// How long line `first` is, as far as it has come.
    first_bytes: u64,
    /// Whether the page ends within line `first`.
    cut: bool,
    /// The first line shown that has a NUL in it.
    nul: Option<u64>,
}

/// What is wrong with what was wanted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageError {
    pub(crate) argument: &'static str,
    pub(crate) message: String,
}

impl Page {
    /// Wants `limit` lines from `first` on, in at most `max_bytes`.
    pub(crate) fn new(first: u64, limit: u64, max_bytes: usize) -> Self {
        Self {
            first: first.max(1),
            skipped: 0,
            limit: limit.max(1),
            max_bytes,
            before: String::new(),
            text: String::new(),
            after: String::new(),
            whole: 0,
            shown: 0,
            ended: 0,
            open: false,
            full: false,
            first_bytes: 0,
            cut: false,
            nul: None,
        }
    }

    /// Begins after so many bytes of the first line.
    pub(crate) fn starting_at_byte(self, bytes: u64) -> Self {
        Self { skipped: bytes, ..self }
    }

    /// The line that comes next, if it will be shown.
    pub(crate) fn wanted_line(&self) -> Option<u64> {
        let line = self.ended + 1;
        (line >= self.first && !self.full).then_some(line)
    }

    /// The first line shown that no text has: it contains NUL.
    pub(crate) const fn nul_line(&self) -> Option<u64> {
        self.nul
    }

    /// Takes the next piece.
    pub(crate) fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while !rest.is_empty() {
            if self.full && self.ended + 1 > self.first {
                self.follow(rest);
                self.count(rest);
                return;
            }
            let end = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.line(line);
            self.count(line);
            rest = after;
        }
    }

    /// Takes a line, or a part of one.
    fn line(&mut self, line: &str) {
        let number = self.ended + 1;
        if number < self.first {
            return self.precede(line);
        }
        let mut wanted = line;
        if number == self.first {
            let begun = self.first_bytes;
            self.first_bytes += line.trim_end_matches(['\n', '\r']).len() as u64;
            if begun < self.skipped {
                let skip = usize::try_from(self.skipped - begun).unwrap_or(usize::MAX);
                let (skip, is_last) = (line.floor_char_boundary(skip), skip <= line.len());
                let (skipped, rest) = line.split_at(skip);
                self.precede(skipped);
                if is_last {
                    // At the beginning of a character.
                    self.skipped = begun + skip as u64;
                }
                wanted = rest;
            }
        }
        if wanted.is_empty() {
            return;
        }
        if self.full {
            return self.follow(wanted);
        }
        self.nul = self.nul.or_else(|| wanted.contains('\0').then_some(number));
        self.take(wanted);
    }

    /// What to show, or what is wrong with what was wanted. Of a secret at an edge, no half is shown.
    pub(crate) fn finish(mut self, redact: &dyn Redact) -> Result<String, PageError> {
        if self.open && !self.full && self.text.len() > self.whole {
            self.shown += 1;
        }
        let total = self.ended + u64::from(self.open);
        let wrong = |argument, message| Err(PageError { argument, message });
        match (total, self.shown) {
            (0, _) => Ok("[the file is empty]".to_owned()),
            (_, 0) if self.first <= total => {
                let (line, bytes) = (self.first, self.first_bytes);
                wrong(
                    "fromByte",
                    format!("line {line} has {bytes} bytes; continue with the next line"),
                )
            }
            (1, 0) => wrong("offset", "the file has 1 line; leave `offset` out".to_owned()),
            (_, 0) => {
                let message =
                    format!("the file has {total} lines; give an offset of at most {total}");
                wrong("offset", message)
            }
            _ => {
                if !self.before.is_empty() || !self.after.is_empty() {
                    self.text = within(&self.before, &self.text, &self.after, redact);
                }
                Ok(self.with_notice(total))
            }
        }
    }

    fn with_notice(self, total: u64) -> String {
        let Self { first, skipped, mut text, shown, cut, first_bytes, whole, .. } = self;
        let last = first + shown - 1;
        let mut notices = Vec::new();
        if cut {
            let end = skipped + whole as u64;
            notices.push(format!(
                "bytes {skipped}-{end} of the {first_bytes} of line {first}; continue with offset \
                 {first} and fromByte {end}"
            ));
            if last < total {
                notices.push(format!("line {} of {total} comes after that", last + 1));
            }
        } else if last < total {
            let next = last + 1;
            notices.push(format!("lines {first}-{last} of {total}; continue with offset {next}"));
        } else if first > 1 {
            notices.push(format!("lines {first}-{last} of {total}, the end of the file"));
        } else if skipped > 0 {
            notices.push("the end of the file".to_owned());
        }
        if !notices.is_empty() {
            let gap = if text.ends_with('\n') { "" } else { "\n" };
            text = format!("{text}{gap}[{}]", notices.join("; "));
        }
        text
    }

    /// Takes a wanted line, or a part of one.
    fn take(&mut self, line: &str) {
        let room = self.max_bytes.saturating_sub(self.text.len());
        if line.len() <= room {
            self.text.push_str(line);
        } else if self.shown == 0 {
            let (line, after) = line.split_at(line.floor_char_boundary(room));
            self.text.push_str(line);
            self.follow(after);
            (self.shown, self.cut, self.full) = (1, true, true);
            self.whole = self.text.len();
            return;
        } else {
            let after = self.text.split_off(self.whole);
            self.full = true;
            self.follow(&after);
            self.follow(line);
            return;
        }
        if line.ends_with('\n') {
            self.whole = self.text.len();
            self.shown += 1;
            self.full = self.shown == self.limit;
        }
    }

    /// Remembers the end of what comes before the page.
    fn precede(&mut self, text: &str) {
        let start = text.ceil_char_boundary(text.len().saturating_sub(MARGIN));
        self.before.push_str(text.get(start..).unwrap_or_default());
        if self.before.len() > 4 * MARGIN {
            let keep = self.before.ceil_char_boundary(self.before.len() - MARGIN);
            self.before.drain(..keep);
        }
    }

    /// Remembers the beginning of what comes after the page.
    fn follow(&mut self, text: &str) {
        let room = MARGIN.saturating_sub(self.after.len());
        self.after.push_str(text.get(..text.floor_char_boundary(room)).unwrap_or_default());
    }

    fn count(&mut self, text: &str) {
        self.ended += text.matches('\n').count() as u64;
        if !text.is_empty() {
            self.open = !text.ends_with('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug)]
    struct Secret;

    impl Redact for Secret {
        fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
            text.replace("hunter2", "⟦x⟧").into()
        }
    }

    fn show(text: &str, first: u64, limit: u64) -> Result<String, String> {
        show_from(text, first, limit, 0)
    }

    fn show_from(text: &str, first: u64, limit: u64, byte: u64) -> Result<String, String> {
        // In pieces of three bytes or so, to cross every boundary.
        let mut page = Page::new(first, limit, 20).starting_at_byte(byte);
        for piece in text.chars().collect::<Vec<_>>().chunks(3) {
            page.push(&piece.iter().collect::<String>());
        }
        page.finish(&Secret).map_err(|error| error.message)
    }

    #[test]
    fn a_long_line_is_read_in_parts() {
        let text = "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd\nnext\n";
        for (byte, expected) in [
            (
                0,
                "aaaaaaaaaabbbbbbbbbb\n[bytes 0-20 of the 40 of line 1; continue with offset 1 and \
                 fromByte 20; line 2 of 2 comes after that]",
            ),
            (
                20,
                "ccccccccccdddddddddd\n[bytes 20-40 of the 40 of line 1; continue with offset 1 and \
                  fromByte 40; line 2 of 2 comes after that]",
            ),
            (25, "cccccdddddddddd\n[lines 1-1 of 2; continue with offset 2]"),
            (39, "d\nnext\n[the end of the file]"),
            (40, "\nnext\n[the end of the file]"),
        ] {
            let shown = show_from(text, 1, 9, byte).unwrap();
            assert_eq!(shown, expected, "{byte}");
        }
        assert_eq!(
            show_from("abc", 1, 9, 9),
            Err("line 1 has 3 bytes; continue with the next line".to_owned())
        );
        // In the middle of a character, its beginning counts.
        assert_eq!(show_from("äöü", 1, 9, 3).unwrap(), "öü\n[the end of the file]");
    }

    #[test]
    fn a_secret_at_an_edge_is_not_shown_by_half() {
        let text = format!("{}hunter2{}", "a".repeat(15), "b".repeat(20));
        for byte in 0..22 {
            let shown = show_from(&text, 1, 1, byte).unwrap();
            for half in ["hun", "ter2", "er2"] {
                assert!(!shown.contains(half), "{byte}: {shown}");
            }
        }
    }

    #[test]
    fn says_what_was_cut_and_how_to_go_on() {
        for (text, first, limit, expected) in [
            ("a\nb\n", 1, 9, Ok("a\nb\n")),
            ("a\nb", 1, 9, Ok("a\nb")),
            ("a\r\nb\r\n", 1, 9, Ok("a\r\nb\r\n")),
            ("a\nb\nc\n", 1, 2, Ok("a\nb\n[lines 1-2 of 3; continue with offset 3]")),
            ("a\nb\nc", 2, 1, Ok("b\n[lines 2-2 of 3; continue with offset 3]")),
            ("a\nb\nc", 2, 9, Ok("b\nc\n[lines 2-3 of 3, the end of the file]")),
            ("a\nb\n", 1, 2, Ok("a\nb\n")),
            ("", 1, 9, Ok("[the file is empty]")),
            ("\n", 1, 9, Ok("\n")),
            ("a\n", 2, 9, Err("the file has 1 line; leave `offset` out")),
            ("a\nb\nc", 4, 9, Err("the file has 3 lines; give an offset of at most 3")),
            // Whole lines only: `0123456789` twice with its ends is 22 bytes.
            (
                "0123456789\n0123456789\nx\n",
                1,
                9,
                Ok("0123456789\n[lines 1-1 of 3; continue with offset 2]"),
            ),
            (
                "aaaaaaaaaabbbbbbbbbbcccccccccc\nx\n",
                1,
                9,
                Ok(
                    "aaaaaaaaaabbbbbbbbbb\n[bytes 0-20 of the 30 of line 1; continue with offset 1 and fromByte 20; line 2 of 2 comes after that]",
                ),
            ),
            (
                "ääääääääääb",
                1,
                9,
                Ok(
                    "ääääääääää\n[bytes 0-20 of the 21 of line 1; continue with offset 1 and fromByte 20]",
                ),
            ),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(show(text, first, limit), expected, "{text:?} {first} {limit}");
        }
    }

    proptest! {
        #[test]
        fn pages_together_are_the_text(text in "[a-zä\r\n]{0,60}", limit in 1_u64..5) {
            let total = text.lines().count() as u64;
            let mut all = String::new();
            for first in (1..=total).step_by(usize::try_from(limit).unwrap()) {
                let mut page = Page::new(first, limit, 1000);
                page.push(&text);
                let shown = page.finish(&Secret).unwrap();
                all.push_str(shown.split('[').next().unwrap());
            }
            if !text.is_empty() {
                // A notice needs a line of its own, which a text without a final newline gets.
                prop_assert_eq!(all.trim_end_matches('\n'), text.trim_end_matches('\n'));
            }
        }
    }
}
