//! Applies hunks to a text.

use tool::Live;

use super::{Hunk, Line, find::LineFinder};
use crate::fs::{
    near::nearest_lines,
    text::{Ending, shorten},
};

/// A text with hunks applied.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PatchedText {
    pub(crate) text: String,
    /// Patch lines of hunks whose place was found only by taking typographic dashes, quotes and
    /// spaces for their plain forms.
    pub(crate) typographic: Vec<usize>,
}

/// The text after all of `hunks`, each found after the one before it, as long as the call is live.
pub(crate) fn apply(text: &str, hunks: &[Hunk], live: &Live) -> Result<PatchedText, String> {
    let file = Original::of(text);
    let finder = LineFinder::new(&file.lines, live);
    let mut result = Vec::new();
    let mut typographic = Vec::new();
    let mut done = 0;
    for hunk in hunks {
        live.check().map_err(|error| error.to_string())?;
        let at = file
            .locate(&finder, hunk, done)
            .map_err(|problem| format!("hunk at patch line {}: {problem}", hunk.line))?;
        if finder.take_typographic() {
            typographic.push(hunk.line);
        }
        result.extend(file.range(done, at));
        result.extend(file.changed(hunk, at));
        done = at + hunk.old().len();
    }
    result.extend(file.range(done, file.lines.len()));
    Ok(PatchedText { text: file.join(&result), typographic })
}

/// A line and how it ends.
type Ended<'a> = (&'a str, &'a str);

/// A text as lines.
struct Original<'a> {
    lines: Vec<&'a str>,
    /// How each of `lines` ends; nothing, if it is the last one without a newline.
    endings: Vec<&'a str>,
    usual: Ending,
}

impl<'a> Original<'a> {
    fn of(text: &'a str) -> Self {
        let split = |line: &'a str| match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
            (Some(rest), _) => (rest, "\r\n"),
            (None, Some(rest)) => (rest, "\n"),
            (None, None) => (line, ""),
        };
        let (lines, endings) = text.split_inclusive('\n').map(split).unzip();
        Self { lines, endings, usual: Ending::usual(text) }
    }

    /// The line at which `hunk` begins.
    fn locate(&self, finder: &LineFinder<'_>, hunk: &Hunk, from: usize) -> Result<usize, String> {
        let anchors = self.anchors(finder, hunk, from)?;
        let old = hunk.old();
        let found = match (hunk.at_end, old.is_empty()) {
            (true, _) => self.at_end(finder, &old, &anchors)?,
            (false, false) => after(finder, &old, &anchors, hunk)?,
            (false, true) if hunk.context.is_empty() && !self.lines.is_empty() => {
                return Err(
                    "it only adds lines and does not say where; give lines around them, or \
                            `*** End of File` to add at the end"
                        .to_owned(),
                );
            }
            (false, true) => anchors,
        };
        let mut different: Vec<usize> = Vec::new();
        for at in found {
            let same = match different.last() {
                Some(first) => self.same_result(finder, hunk, *first, at)?,
                None => false,
            };
            if !same {
                different.push(at);
            }
        }
        match different.as_slice() {
            [] => Err(self.missing(&old, from, hunk)),
            [at] => Ok(*at),
            [_, ..] => Err(ambiguous(&different)),
        }
    }

    /// Where looking for a hunk may begin: after each place its `@@` lines are at.
    fn anchors(
        &self,
        finder: &LineFinder<'_>,
        hunk: &Hunk,
        from: usize,
    ) -> Result<Vec<usize>, String> {
        let Some((first, more)) = hunk.context.split_first() else { return Ok(vec![from]) };
        let mut anchors = finder.places(&[first], from)?;
        for (above, context) in hunk.context.iter().zip(more) {
            if anchors.is_empty() {
                return Err(self.missing(&[above], from, hunk));
            }
            let mut next = Vec::new();
            for at in anchors {
                next.extend(finder.places(&[context], at + 1)?.first());
            }
            next.dedup();
            anchors = next;
        }
        if anchors.is_empty() {
            let last = hunk.context.last().map_or("", String::as_str);
            return Err(self.missing(&[last], from, hunk));
        }
        Ok(anchors.into_iter().map(|at| at + 1).collect())
    }

    fn at_end(
        &self,
        finder: &LineFinder<'_>,
        old: &[&str],
        anchors: &[usize],
    ) -> Result<Vec<usize>, String> {
        let at = self.lines.len().checked_sub(old.len());
        let Some(at) = at.filter(|at| anchors.iter().any(|anchor| at >= anchor)) else {
            return Ok(Vec::new());
        };
        let fits = old.is_empty() || !finder.places(old, at)?.is_empty();
        Ok(if fits { vec![at] } else { Vec::new() })
    }

    /// Whether it makes no difference at which of two places `hunk` is applied.
    fn same_result(
        &self,
        finder: &LineFinder<'_>,
        hunk: &Hunk,
        first: usize,
        later: usize,
    ) -> Result<bool, String> {
        let count = hunk.old().len();
        let mut here = self.changed(hunk, first).chain(self.range(first + count, later + count));
        let mut there = self.range(first, later).chain(self.changed(hunk, later));
        loop {
            finder.compared()?;
            match (here.next(), there.next()) {
                (None, None) => return Ok(true),
                (a, b) if a == b => {}
                _ => return Ok(false),
            }
        }
    }

    /// What `hunk` makes of the lines from `at` on. Kept lines stay as they are in the file.
    fn changed<'s>(&'s self, hunk: &'s Hunk, at: usize) -> impl Iterator<Item = Ended<'s>> {
        let mut next = at;
        hunk.lines.iter().filter_map(move |line| match line {
            Line::Keep(_) => {
                next += 1;
                self.line(next - 1)
            }
            Line::Remove(_) => {
                next += 1;
                None
            }
            Line::Add(text) => Some((text.as_str(), self.ending_near(next))),
        })
    }

    fn line(&self, at: usize) -> Option<Ended<'_>> {
        Some((self.lines.get(at)?, self.endings.get(at)?))
    }

    fn range(&self, from: usize, to: usize) -> impl Iterator<Item = Ended<'_>> {
        (from..to).filter_map(|at| self.line(at))
    }

    /// The ending a line put in at `at` gets: that of the line above, or below, or of most.
    fn ending_near(&self, at: usize) -> &str {
        let above = at.checked_sub(1).and_then(|above| self.endings.get(above));
        let near = above.into_iter().chain(self.endings.get(at)).find(|ending| !ending.is_empty());
        near.copied().unwrap_or(self.usual.as_str())
    }

    /// A file that had no newline at its end still has none; all other lines have one.
    fn join(&self, lines: &[Ended<'_>]) -> String {
        let no_newline = self.endings.last().is_some_and(|ending| ending.is_empty());
        let last = lines.len().saturating_sub(1);
        let text = lines.iter().enumerate().flat_map(|(index, (text, ending))| {
            let ending = match (index == last && no_newline, ending.is_empty()) {
                (true, _) => "",
                (false, true) => self.usual.as_str(),
                (false, false) => ending,
            };
            [*text, ending]
        });
        text.collect()
    }

    fn missing(&self, wanted: &[&str], from: usize, hunk: &Hunk) -> String {
        let place = match (hunk.at_end, from) {
            (true, _) => "at the end of the file".to_owned(),
            (false, 0) => "in the file".to_owned(),
            (false, line) => format!("in the file after line {line}, where the hunk above it ends"),
        };
        let shown: Vec<_> = wanted.iter().take(20).map(|line| shorten(line, 200)).collect();
        let near = nearest_lines(&self.lines, wanted);
        let near = near.map(|near| format!("\nthe nearest place in the file is\n{near}"));
        format!(
            "these lines are not {place}:\n{}{}",
            shown.join("\n"),
            near.unwrap_or_else(|| "\n`read` the file again".to_owned())
        )
    }
}

/// Without `@@` lines every place after `from` counts; with them, the first after each anchor.
fn after(
    finder: &LineFinder<'_>,
    old: &[&str],
    anchors: &[usize],
    hunk: &Hunk,
) -> Result<Vec<usize>, String> {
    let from = anchors.first().copied().unwrap_or_default();
    let all = finder.places(old, from)?;
    if hunk.context.is_empty() {
        return Ok(all);
    }
    let first = |anchor: &usize| all.get(all.partition_point(|at| at < anchor)).copied();
    let found: Vec<usize> = anchors.iter().filter_map(first).collect();
    if found.is_empty() {
        // The `@@` line is often repeated as the first line of the hunk.
        let mut repeated = finder.places(old, from.saturating_sub(1))?;
        repeated.retain(|at| anchors.binary_search(&(at + 1)).is_ok());
        return Ok(repeated);
    }
    Ok(found)
}

fn ambiguous(found: &[usize]) -> String {
    let lines = found.iter().take(10).map(|at| (at + 1).to_string()).collect::<Vec<_>>();
    format!(
        "it fits at more than one place, at lines {}; add lines around it, or an `@@` line that \
         names the function or section it is in",
        lines.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};
    use similar::{ChangeTag, TextDiff};

    use super::{super::parse, *};
    use crate::fs::patch::Operation;

    fn apply(text: &str, hunks: &[Hunk]) -> Result<String, String> {
        super::apply(text, hunks, &Live::default()).map(|patched| patched.text)
    }

    fn patched(text: &str, hunks: &[&str]) -> Result<String, String> {
        let hunks = hunks.join("\n");
        let input = format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n");
        let operations = parse(&input).unwrap();
        let [Operation::Update { hunks, .. }] = operations.as_slice() else { panic!("{input}") };
        apply(text, hunks)
    }

    #[test]
    fn applies_hunks_in_order() {
        for (text, hunks, expected) in [
            ("a\nb\nc\n", vec!["@@", " a", "-b", "+B", " c"], "a\nB\nc\n"),
            ("a\nb\nc\nd\n", vec!["@@", "-a", "@@", "-c", "+C"], "b\nC\nd\n"),
            ("a\n", vec!["@@", "-a"], ""),
            ("", vec!["@@", "+a"], "a\n"),
            ("grün\n", vec!["@@", "-grün", "+blau — 青"], "blau — 青\n"),
            // Line endings and a missing newline at the end stay as they are.
            ("a\r\nb\r\n", vec!["@@", " a", "+x", " b"], "a\r\nx\r\nb\r\n"),
            ("a\r\nb\n", vec!["@@", " a", "+x"], "a\r\nx\r\nb\n"),
            ("a\nb", vec!["@@", " a", "-b", "+B"], "a\nB"),
            ("a\nb", vec!["@@", " b", "+c"], "a\nb\nc"),
            ("a\r\nb", vec!["@@", " b", "+c"], "a\r\nb\r\nc"),
            ("a\nb", vec!["@@", " a", "-b"], "a"),
            // `@@` says where, and so does the end of the file.
            ("x\nf1\nx\nf2\nx\n", vec!["@@ f2", "-x", "+y"], "x\nf1\nx\nf2\ny\n"),
            ("f\ng\nx\nh\ng\nx\n", vec!["@@ h", "@@ g", "-x"], "f\ng\nx\nh\ng\n"),
            ("f\ng\n", vec!["@@ f", "+x"], "f\nx\ng\n"),
            ("x\nx\n", vec!["@@", "-x", "+y", "*** End of File"], "x\ny\n"),
            ("a\n", vec!["@@", "+b", "*** End of File"], "a\nb\n"),
            ("f\nx\n", vec!["@@ f", " f", "-x", "+y"], "f\ny\n"),
            // Spaces may differ; kept lines stay as they are in the file.
            ("a  \n\tb\nc\n", vec!["@@", " a", " b", "-c", "+C"], "a  \n\tb\nC\n"),
            // Typographic characters match their plain forms, and stay where the line is kept.
            (
                "say “hi” – now\nit’s\u{a0}x\n",
                vec!["@@", " say \"hi\" - now", "-it's x", "+y"],
                "say “hi” – now\ny\n",
            ),
            ("a - b\n", vec!["@@", "-a — b", "+c"], "c\n"),
            // It makes no difference which of two equal lines goes.
            ("a\n\n\nb\n", vec!["@@", "-"], "a\n\nb\n"),
        ] {
            assert_eq!(patched(text, &hunks).as_deref(), Ok(expected), "{text:?} {hunks:?}");
        }
    }

    #[test]
    fn says_what_it_looked_for_and_what_is_near() {
        for (text, hunks, expected) in [
            (
                "one\nhello world\n",
                vec!["@@", " one", "-helo world"],
                "hunk at patch line 3: these lines are not in the file:\none\nhelo world\nthe \
                 nearest place in the file is\n    1| one\n    2| hello world",
            ),
            ("a\n", vec!["@@ fn f()", "-a"], "these lines are not in the file:\nfn f()\n`read`"),
            ("a\nb\n", vec!["@@", "-b", "@@", "-a"], "after line 2, where the hunk above it ends"),
            ("a\nb\n", vec!["@@", "-a", "*** End of File"], "not at the end of the file:\na\n"),
            ("x\ny\nx\n", vec!["@@", "-x", "+z"], "more than one place, at lines 1, 3;"),
            ("f\nx\nf\nx\n", vec!["@@ f", "-x"], "more than one place, at lines 2, 4;"),
            ("a\n", vec!["@@", "+b"], "it only adds lines and does not say where"),
        ] {
            let problem = patched(text, &hunks).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }

    /// The lines of a hunk that turns all of `old` into `new`.
    fn whole_file(old: &str, new: &str) -> Hunk {
        let diff = TextDiff::from_lines(old, new);
        let line = |tag, text: &str| match tag {
            ChangeTag::Equal => Line::Keep(text.to_owned()),
            ChangeTag::Insert => Line::Add(text.to_owned()),
            ChangeTag::Delete => Line::Remove(text.to_owned()),
        };
        let changes = diff.iter_all_changes();
        let lines = changes.map(|change| line(change.tag(), change.value().trim_end_matches('\n')));
        Hunk { line: 1, context: vec![], lines: lines.collect(), at_end: false }
    }

    proptest! {
        #[test]
        fn a_patch_and_its_reverse_restore_the_file(
            old in vec("[abä ]{0,3}", 1..12),
            new in vec("[abä ]{0,3}", 1..12),
            ending in prop_oneof![Just("\n"), Just("\r\n")],
            newline in any::<bool>(),
        ) {
            let file = |lines: &[String]| lines.join(ending) + if newline { ending } else { "" };
            let hunk = |old: &[String], new: &[String]| {
                whole_file(&(old.join("\n") + "\n"), &(new.join("\n") + "\n"))
            };
            // Without a newline at its end, a text cannot end in an empty line, and a text of one
            // line does not tell how its lines end.
            let telling = |lines: &[String]| {
                newline || lines.len() > 1 && lines.last().is_some_and(|line| !line.is_empty())
            };
            prop_assume!(telling(&old) && telling(&new));
            prop_assert_eq!(apply(&file(&old), &[hunk(&old, &new)]), Ok(file(&new)));
            prop_assert_eq!(apply(&file(&new), &[hunk(&new, &old)]), Ok(file(&old)));
        }

        #[test]
        fn nothing_panics(text in "[ab\r\n@*+ -]{0,40}", body in "[ab\n@*+ -]{0,40}") {
            let input = format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch\n");
            if let Ok([Operation::Update { hunks, .. }]) = parse(&input).as_deref() {
                let _ = apply(&text, hunks);
            }
        }
    }
}
