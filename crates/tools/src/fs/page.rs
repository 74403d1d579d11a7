//! The part of a text that one call shows.

/// Collects some lines of a text that comes in pieces, and counts the rest. Holds no more than it
/// shows.
#[derive(Debug)]
pub(crate) struct Page {
    /// First line wanted, from 1.
    first: u64,
    /// Lines wanted at most.
    limit: u64,
    /// Bytes wanted at most.
    max_bytes: usize,
    text: String,
    /// How much of `text` is whole lines.
    whole: usize,
    /// Whole lines in `text`.
    shown: u64,
    /// Lines that have ended.
    ended: u64,
    /// Whether a line has begun and not ended.
    open: bool,
    full: bool,
    /// Whether the only line shown was too long.
    cut: bool,
    /// The first line shown that has a NUL in it.
    nul: Option<u64>,
}

impl Page {
    /// Wants `limit` lines from `first` on, in at most `max_bytes`.
    pub(crate) fn new(first: u64, limit: u64, max_bytes: usize) -> Self {
        Self {
            first: first.max(1),
            limit: limit.max(1),
            max_bytes,
            text: String::new(),
            whole: 0,
            shown: 0,
            ended: 0,
            open: false,
            full: false,
            cut: false,
            nul: None,
        }
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
        while !rest.is_empty() && !self.full {
            let end = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
            let (line, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if let Some(number) = self.wanted_line() {
                self.nul = self.nul.or_else(|| line.contains('\0').then_some(number));
                self.take(line);
            }
            self.count(line);
            rest = after;
        }
        self.count(rest);
    }

    /// What to show, or what is wrong with what was wanted.
    pub(crate) fn finish(mut self) -> Result<String, String> {
        if self.open && !self.full && self.text.len() > self.whole {
            self.shown += 1;
        }
        let total = self.ended + u64::from(self.open);
        match (total, self.shown) {
            (0, _) => Ok("[the file is empty]".to_owned()),
            (1, 0) => Err("the file has 1 line; leave `offset` out".to_owned()),
            (_, 0) => Err(format!("the file has {total} lines; give an offset of at most {total}")),
            _ => Ok(self.with_notice(total)),
        }
    }

    fn with_notice(self, total: u64) -> String {
        let Self { first, mut text, shown, cut, .. } = self;
        let last = first + shown - 1;
        let mut notices = Vec::new();
        if cut {
            let max = self.max_bytes;
            notices.push(format!("line {first} is long: only its first {max} bytes are shown"));
        }
        if last < total {
            let next = last + 1;
            notices.push(format!("lines {first}-{last} of {total}; continue with offset {next}"));
        } else if first > 1 {
            notices.push(format!("lines {first}-{last} of {total}, the end of the file"));
        }
        if !notices.is_empty() {
            let gap = if text.ends_with('\n') { "" } else { "\n" };
            text = format!("{text}{gap}[{}]", notices.join("; "));
        }
        text
    }

    /// Takes a line, or a part of one.
    fn take(&mut self, line: &str) {
        let room = self.max_bytes.saturating_sub(self.text.len());
        if line.len() <= room {
            self.text.push_str(line);
        } else if self.shown == 0 {
            let end = line.floor_char_boundary(room);
            self.text.push_str(line.get(..end).unwrap_or_default());
            (self.shown, self.cut, self.full) = (1, true, true);
            return;
        } else {
            self.text.truncate(self.whole);
            self.full = true;
            return;
        }
        if line.ends_with('\n') {
            self.whole = self.text.len();
            self.shown += 1;
            self.full = self.shown == self.limit;
        }
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

    use super::Page;

    fn show(text: &str, first: u64, limit: u64) -> Result<String, String> {
        // In pieces of three bytes or so, to cross every boundary.
        let mut page = Page::new(first, limit, 20);
        for piece in text.chars().collect::<Vec<_>>().chunks(3) {
            page.push(&piece.iter().collect::<String>());
        }
        page.finish()
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
                    "aaaaaaaaaabbbbbbbbbb\n[line 1 is long: only its first 20 bytes are shown; lines 1-1 of 2; continue with offset 2]",
                ),
            ),
            (
                "ääääääääääb",
                1,
                9,
                Ok("ääääääääää\n[line 1 is long: only its first 20 bytes are shown]"),
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
                let shown = page.finish().unwrap();
                all.push_str(shown.split('[').next().unwrap());
            }
            if !text.is_empty() {
                // A notice needs a line of its own, which a text without a final newline gets.
                prop_assert_eq!(all.trim_end_matches('\n'), text.trim_end_matches('\n'));
            }
        }
    }
}
