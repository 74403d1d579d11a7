//! Finds the lines somebody probably meant.

use similar::{Algorithm, capture_diff_slices, diff_ratio};

use super::text::shorten;

/// Below this, lines have nothing to do with each other.
const MIN_RATIO: f32 = 0.6;
/// Comparing letter by letter is dear; a guess need not be the best of a very long file.
const MAX_COMPARED: usize = 5_000;
const MAX_LETTERS: usize = 200;
const MAX_SHOWN: usize = 12;

/// The part of `lines` that looks most like `wanted`, with line numbers.
pub(crate) fn nearest_lines(lines: &[&str], wanted: &[&str]) -> Option<String> {
    let longest = |(_, line): &(usize, &&str)| line.trim().len();
    let (offset, anchor) = wanted.iter().enumerate().rev().max_by_key(longest)?;
    let anchor = Profile::of(anchor.trim());
    let mut best = (MIN_RATIO, 0, None);
    let mut compared = 0;
    for (index, line) in lines.iter().enumerate() {
        let line = Profile::of(line.trim());
        if anchor.at_most(&line) < best.0 || compared > MAX_COMPARED {
            continue;
        }
        compared += 1;
        let ratio = anchor.ratio(&line);
        if ratio < best.0 {
            continue;
        }
        let start = index.saturating_sub(offset);
        let equal = equal_lines(lines.get(start..).unwrap_or_default(), wanted);
        if best.2.is_none() || (ratio, equal) > (best.0, best.1) {
            best = (ratio, equal, Some(start));
        }
    }
    best.2.map(|start| numbered(lines, start, wanted.len().min(MAX_SHOWN)))
}

/// `count` of `lines`, each with its number.
pub(crate) fn numbered(lines: &[&str], start: usize, count: usize) -> String {
    let shown = lines.iter().enumerate().skip(start).take(count);
    let shown = shown.map(|(index, line)| format!("{:>5}| {}", index + 1, shorten(line, 200)));
    shown.collect::<Vec<_>>().join("\n")
}

fn equal_lines(lines: &[&str], wanted: &[&str]) -> usize {
    lines.iter().zip(wanted).filter(|(a, b)| a.trim() == b.trim()).count()
}

/// A line, and how often it has each letter: two lines are at most as alike as their letters.
struct Profile {
    letters: Vec<char>,
    counts: [u16; 64],
}

impl Profile {
    fn of(line: &str) -> Self {
        let letters: Vec<char> = line.chars().take(MAX_LETTERS).collect();
        let mut counts = [0; 64];
        for letter in &letters {
            if let Some(count) = counts.get_mut(*letter as usize % 64) {
                *count += 1;
            }
        }
        Self { letters, counts }
    }

    fn at_most(&self, other: &Self) -> f32 {
        let common = self.counts.iter().zip(&other.counts).map(|(a, b)| a.min(b)).sum::<u16>();
        let total = u16::try_from(self.letters.len() + other.letters.len()).unwrap_or(u16::MAX);
        2.0 * f32::from(common) / f32::from(total.max(1))
    }

    fn ratio(&self, other: &Self) -> f32 {
        let operations = capture_diff_slices(Algorithm::Myers, &self.letters, &other.letters);
        diff_ratio(&operations, self.letters.len(), other.letters.len())
    }
}

#[cfg(test)]
mod tests {
    use super::nearest_lines;

    #[test]
    fn shows_what_was_probably_meant() {
        let file = ["fn a() {", "    one();", "}", "", "fn bee() {", "    two();", "}"];
        for (wanted, expected) in [
            (vec!["fn be() {"], Some("    5| fn bee() {")),
            (vec!["}", "", "fn be() {"], Some("    3| }\n    4| \n    5| fn bee() {")),
            (vec!["    two()", "}"], Some("    6|     two();\n    7| }")),
            (vec!["something else entirely, 1234567890"], None),
            (vec![""], None),
            (vec![], None),
        ] {
            assert_eq!(nearest_lines(&file, &wanted).as_deref(), expected, "{wanted:?}");
        }
    }

    #[test]
    fn prefers_the_place_whose_neighbours_fit_too() {
        let file = ["x", "same line", "y", "z", "same line", "w"];
        let expected = "    4| z\n    5| same line\n    6| w";
        assert_eq!(nearest_lines(&file, &["z", "same line!", "w"]).unwrap(), expected);
    }
}
