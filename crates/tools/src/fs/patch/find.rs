//! Finds lines in a file.

use std::cell::Cell;

use tool::Live;

/// Compared lines between two looks whether the call was stopped.
const LINES_PER_CHECK: u32 = 4_096;

/// How alike two lines must be, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closeness {
    Exact,
    TrailingSpace,
    Trimmed,
    /// Typographic dashes, quotes and spaces count as their plain forms.
    Typographic,
}

impl Closeness {
    const ALL: [Self; 4] = [Self::Exact, Self::TrailingSpace, Self::Trimmed, Self::Typographic];

    fn alike(self, a: &str, b: &str) -> bool {
        match self {
            Self::Exact => a == b,
            Self::TrailingSpace => a.trim_end() == b.trim_end(),
            Self::Trimmed => a.trim() == b.trim(),
            Self::Typographic => {
                (!a.is_ascii() || !b.is_ascii())
                    && a.trim().chars().map(plain).eq(b.trim().chars().map(plain))
            }
        }
    }
}

/// The character a keyboard has for a typographic dash, quote or space; any other as it is.
const fn plain(letter: char) -> char {
    match letter {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{02bc}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

/// Looks for lines in a file, as long as the call is live.
#[derive(Debug)]
pub(super) struct LineFinder<'a> {
    lines: &'a [&'a str],
    live: &'a Live,
    compared: Cell<u32>,
    typographic: Cell<bool>,
}

impl<'a> LineFinder<'a> {
    pub(super) fn new(lines: &'a [&'a str], live: &'a Live) -> Self {
        Self { lines, live, compared: Cell::default(), typographic: Cell::default() }
    }

    /// Counts a comparison; refuses once the call was stopped. Equal lines by the thousand make the
    /// number of comparisons quadratic.
    pub(super) fn compared(&self) -> Result<(), String> {
        let compared = self.compared.get().wrapping_add(1);
        self.compared.set(compared);
        if compared.is_multiple_of(LINES_PER_CHECK) {
            self.live.check().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Whether something since the last time was found only by its plain characters.
    pub(super) fn take_typographic(&self) -> bool {
        self.typographic.take()
    }

    /// Where `wanted` begins, from `from` on, as closely as it is there at all.
    pub(super) fn places(&self, wanted: &[&str], from: usize) -> Result<Vec<usize>, String> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let rest = self.lines.get(from..).unwrap_or_default();
        for closeness in Closeness::ALL {
            let mut found = Vec::new();
            for (at, window) in rest.windows(wanted.len()).enumerate() {
                let mut alike = true;
                for (line, wanted) in window.iter().zip(wanted) {
                    self.compared()?;
                    // Lines that agree more closely agree in the last way, too.
                    alike = closeness.alike(line, wanted)
                        || closeness == Closeness::Typographic && line.trim() == wanted.trim();
                    if !alike {
                        break;
                    }
                }
                if alike {
                    found.push(from + at);
                }
            }
            if !found.is_empty() {
                self.typographic.set(self.typographic.get() || closeness == Closeness::Typographic);
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_the_closest_kind_of_match() {
        let lines = ["a", " a", "a ", "b", "“x” – y\u{a0}z", "\"x\" - y z", "“x” – y"];
        for (wanted, from, expected, typographic) in [
            (vec!["a"], 0, vec![0], false),
            (vec!["a"], 1, vec![2], false),
            (vec!["a", "b"], 0, vec![2], false),
            (vec!["\ta"], 0, vec![0, 1, 2], false),
            (vec!["c"], 0, vec![], false),
            (vec!["b"], 9, vec![], false),
            (vec![], 0, vec![], false),
            (vec!["\"x\" - y z"], 0, vec![5], false),
            (vec!["“x” – y z"], 0, vec![4, 5], true),
            (vec!["\"x\" - y"], 0, vec![6], true),
            (vec!["b", "\"x\" - y z"], 0, vec![3], true),
        ] {
            let live = Live::default();
            let finder = LineFinder::new(&lines, &live);
            assert_eq!(finder.places(&wanted, from).unwrap(), expected, "{wanted:?} {from}");
            assert_eq!(finder.take_typographic(), typographic, "{wanted:?} {from}");
        }
    }

    #[test]
    fn stops_with_the_call() {
        let live = Live::default();
        live.cancellation().cancel();
        let lines = vec!["a"; 200_000];
        let mut wanted = vec!["a"; 100_000];
        wanted.push("b");
        assert!(LineFinder::new(&lines, &live).places(&wanted, 0).is_err());
    }
}
