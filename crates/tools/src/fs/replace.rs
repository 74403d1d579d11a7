//! Replaces pieces of a text that are named by their content.

use std::{borrow::Cow, ops::Range};

use schemars::JsonSchema;
use serde::Deserialize;
use tool::Live;

use super::{
    near::nearest_lines,
    text::{Ending, fold},
};

/// One replacement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Replacement {
    /// Text to replace, exactly as it is in the file, with enough around it to be there only once.
    pub(crate) old_text: String,
    /// Text to put in its place; empty removes it.
    pub(crate) new_text: String,
}

/// Which places are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// The only one.
    Only,
    /// Each one.
    All,
}

/// The new text, and how many places changed. Every edit is looked for in the original `text`, as
/// long as the call is live.
pub(crate) fn replace(
    text: &str,
    edits: &[Replacement],
    places: Places,
    live: &Live,
) -> Result<(String, usize), String> {
    let original = Original::of(text);
    let mut spots = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        live.check().map_err(|error| error.to_string())?;
        let label = if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
        let found = original.find(edit, places).map_err(|problem| format!("{label}{problem}"))?;
        spots.extend(found);
    }
    spots.sort_by_key(|spot| spot.range.start);
    apart(text, &spots)?;
    Ok((put(text, &spots), spots.len()))
}

/// A place in the original, and what shall be there.
struct Spot {
    range: Range<usize>,
    new: String,
}

fn apart(text: &str, spots: &[Spot]) -> Result<(), String> {
    let clash = spots.iter().zip(spots.iter().skip(1)).find(|(a, b)| a.range.end > b.range.start);
    let Some((_, second)) = clash else { return Ok(()) };
    let line = line_of(text, second.range.start);
    Err(format!("two edits overlap at line {line}; make them one, or two that do not touch"))
}

fn put(text: &str, spots: &[Spot]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for Spot { range, new } in spots {
        result.push_str(text.get(done..range.start).unwrap_or_default());
        result.push_str(new);
        done = range.end;
    }
    result.push_str(text.get(done..).unwrap_or_default());
    result
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}

/// A text, also as it is if all its lines ended in `\n`.
struct Original<'a> {
    text: &'a str,
    ending: Option<Ending>,
    folded: Cow<'a, str>,
    /// Where in `folded` a `\r` is missing.
    dropped: Vec<usize>,
}

impl<'a> Original<'a> {
    fn of(text: &'a str) -> Self {
        let dropped = text.match_indices("\r\n").enumerate().map(|(before, (at, _))| at - before);
        Self { text, ending: Ending::uniform(text), folded: fold(text), dropped: dropped.collect() }
    }

    fn find(&self, edit: &Replacement, places: Places) -> Result<Vec<Spot>, String> {
        let exact = || occurrences(self.text, &edit.old_text, places);
        // Where every line ends alike, a single `\n` never stands for half an ending.
        let mut ranges = if self.ending == Some(Ending::CrLf) { Vec::new() } else { exact() };
        let folded = ranges.is_empty();
        if folded {
            let found = occurrences(&self.folded, &fold(&edit.old_text), places);
            ranges = found.into_iter().map(|range| self.unfold(&range)).collect();
        }
        match (ranges.as_slice(), places) {
            ([], _) => return Err(self.missing(&edit.old_text)),
            ([_, _, ..], Places::Only) => return Err(self.ambiguous(&ranges)),
            _ => {}
        }
        let spot = |range: Range<usize>| {
            let new =
                if folded { self.adapt(&range, &edit.new_text) } else { edit.new_text.clone() };
            Spot { range, new }
        };
        Ok(ranges.into_iter().map(spot).collect())
    }

    /// A range of `folded` as a range of `text`.
    fn unfold(&self, range: &Range<usize>) -> Range<usize> {
        let at = |place: usize| place + self.dropped.partition_point(|dropped| *dropped < place);
        at(range.start)..at(range.end)
    }

    /// `new` with the line endings of what it replaces.
    fn adapt(&self, range: &Range<usize>, new: &str) -> String {
        let old = self.text.get(range.clone()).unwrap_or_default();
        let ending = if old.contains('\n') { Ending::usual(old) } else { Ending::usual(self.text) };
        ending.apply(new)
    }

    fn missing(&self, old: &str) -> String {
        let lines: Vec<&str> = self.folded.lines().collect();
        let wanted: Vec<&str> = old.lines().collect();
        match nearest_lines(&lines, &wanted) {
            Some(near) => format!(
                "`oldText` is not in the file; the nearest lines are\n{near}\ncopy the text \
                 exactly, without line numbers"
            ),
            None => "`oldText` is not in the file, and nothing in it looks like it; `read` the \
                     file again"
                .to_owned(),
        }
    }

    fn ambiguous(&self, ranges: &[Range<usize>]) -> String {
        let lines = ranges.iter().take(MAX_NAMED).map(|range| line_of(self.text, range.start));
        let lines = lines.map(|line| line.to_string()).collect::<Vec<_>>().join(", ");
        let more = if ranges.len() > MAX_NAMED { " and more" } else { "" };
        format!(
            "`oldText` is there more than once, at lines {lines}{more}; add lines around it until \
             it is unique, or set `replaceAll`"
        )
    }
}

/// How many places a message names.
const MAX_NAMED: usize = 10;

/// Where `old` is. For [`Places::Only`] also places that overlap, but no more than are named.
fn occurrences(text: &str, old: &str, places: Places) -> Vec<Range<usize>> {
    if places == Places::All {
        return text.match_indices(old).map(|(at, found)| at..at + found.len()).collect();
    }
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(old)) {
        let start = from + at;
        found.push(start..start + old.len());
        from = start + old.chars().next().map_or(1, char::len_utf8);
        if found.len() > MAX_NAMED {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Replacement {
        Replacement { old_text: old.to_owned(), new_text: new.to_owned() }
    }

    fn replace(
        text: &str,
        edits: &[Replacement],
        places: Places,
    ) -> Result<(String, usize), String> {
        super::replace(text, edits, places, &Live::default())
    }

    #[test]
    fn replaces_the_only_place() {
        for (text, old, new, expected) in [
            ("one two", "two", "2", "one 2"),
            ("one\ntwo\n", "one\n", "", "two\n"),
            ("no end", "end", "newline", "no newline"),
            ("größe: 1", "größe", "länge", "länge: 1"),
            // The file's line endings stay, whatever the edit has.
            ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"),
            ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
            ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
            ("a\r\nb", "\nb", "", "a"),
            ("a\r\nb\r\n", "a\n", "", "b\r\n"),
            ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
            // Mixed endings: exactly first, then by what is replaced.
            ("a\r\nb\nc\nd\n", "b\nc", "x\ny", "a\r\nx\ny\nd\n"),
            ("a\r\nb\nc\nd\n", "a\nb", "x\ny", "x\r\ny\nc\nd\n"),
            // New text of an exact match is taken byte for byte.
            ("a\nb\n", "a", "x\r\ny", "x\r\ny\nb\n"),
        ] {
            let result = replace(text, &[edit(old, new)], Places::Only);
            assert_eq!(result, Ok((expected.to_owned(), 1)), "{text:?} {old:?}");
        }
    }

    #[test]
    fn all_edits_see_the_original() {
        let edits = [edit("a", "b"), edit("b", "a")];
        assert_eq!(replace("a b", &edits, Places::Only), Ok(("b a".to_owned(), 2)));
        assert_eq!(
            replace("a b a", &edits[..1], Places::All),
            Ok(("b b b".to_owned(), 2)),
            "every place"
        );
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, edits, expected) in [
            ("a\na\nb\n", vec![edit("a", "x")], "more than once, at lines 1, 2;"),
            ("aaa", vec![edit("aa", "x")], "more than once, at lines 1, 1;"),
            ("hello world\n", vec![edit("helo world", "x")], "    1| hello world\n"),
            ("abc", vec![edit("ab", "x"), edit("bc", "y")], "two edits overlap at line 1;"),
            ("abc", vec![edit("abc", "x"), edit("b", "y")], "two edits overlap at line 1;"),
            ("abc", vec![edit("a", "x"), edit("q", "y")], "edit 2: `oldText` is not in the file"),
        ] {
            let error = replace(text, &edits, Places::Only).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let many = "a\n".repeat(20);
        let error = replace(&many, &[edit("a", "x")], Places::Only).unwrap_err();
        assert!(error.contains("1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more;"), "{error}");
    }
}
