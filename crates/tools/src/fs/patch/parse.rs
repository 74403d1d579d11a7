//! Reads a patch.

use std::collections::BTreeSet;

use tool::FilePath;

use super::{Hunk, Line};
use crate::fs::text::shorten;

/// What shall happen to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    Add { path: FilePath, content: String },
    Delete { path: FilePath },
    Update { path: FilePath, to: Option<FilePath>, hunks: Vec<Hunk> },
}

impl Operation {
    /// The files it changes.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &FilePath> {
        let (path, to) = match self {
            Self::Add { path, .. } | Self::Delete { path } => (path, None),
            Self::Update { path, to, .. } => (path, to.as_ref()),
        };
        std::iter::once(path).chain(to)
    }
}

/// Reads `input`, or says at which line something else was expected.
pub(crate) fn parse(input: &str) -> Result<Vec<Operation>, String> {
    let mut lines = Lines::of(input);
    let word = begin(&mut lines)?;
    let mut operations = Vec::new();
    loop {
        lines.blanks();
        if lines.marker("*** End Patch").is_some() {
            break;
        }
        operations.push(operation(&mut lines)?);
    }
    end(&mut lines, word)?;
    if operations.is_empty() {
        return Err("the patch is empty; name files between its first and last line".to_owned());
    }
    each_file_once(&operations)?;
    Ok(operations)
}

/// Skips what people put around a patch; returns the word that ends a here-document.
fn begin<'a>(lines: &mut Lines<'a>) -> Result<Option<&'a str>, String> {
    let mut word = None;
    while lines.marker("*** Begin Patch").is_none() {
        match lines.peek() {
            Some(text) if text.trim().is_empty() || text.starts_with("```") => {}
            Some(text) if text.contains("<<") => word = text.rsplit("<<").next(),
            _ => return Err(lines.expected("`*** Begin Patch`")),
        }
        lines.next();
    }
    Ok(word.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')))
}

fn end(lines: &mut Lines<'_>, word: Option<&str>) -> Result<(), String> {
    while let Some(text) = lines.peek() {
        let around = text.trim().is_empty() || text.starts_with("```");
        if !around && Some(text.trim()) != word {
            return Err(lines.expected("nothing after `*** End Patch`"));
        }
        lines.next();
    }
    Ok(())
}

fn operation(lines: &mut Lines<'_>) -> Result<Operation, String> {
    if let Some(path) = lines.marker("*** Add File:") {
        return Ok(Operation::Add { path: file(lines, path)?, content: content(lines)? });
    }
    if let Some(path) = lines.marker("*** Delete File:") {
        return Ok(Operation::Delete { path: file(lines, path)? });
    }
    if let Some(path) = lines.marker("*** Update File:") {
        return update(lines, path);
    }
    Err(lines.expected(
        "`*** Add File: PATH`, `*** Update File: PATH`, `*** Delete File: PATH` or `*** End Patch`",
    ))
}

/// The path after a marker, which has been taken.
fn file(lines: &Lines<'_>, path: &str) -> Result<FilePath, String> {
    if path.is_empty() {
        return Err(format!("patch line {}: a path is missing after the colon", lines.taken));
    }
    Ok(FilePath::new(path))
}

fn content(lines: &mut Lines<'_>) -> Result<String, String> {
    let mut content = String::new();
    loop {
        let blank = lines.blanks();
        match lines.peek() {
            Some(text) if text.starts_with('+') => {
                content.push_str(&"\n".repeat(blank));
                content.push_str(text.strip_prefix('+').unwrap_or_default());
                content.push('\n');
                lines.next();
            }
            Some(text) if text.starts_with("*** ") => return Ok(content),
            _ => return Err(lines.expected("a line that begins with `+`, or a line with `*** `")),
        }
    }
}

fn update(lines: &mut Lines<'_>, path: &str) -> Result<Operation, String> {
    let path = file(lines, path)?;
    let taken = lines.taken;
    let to = match lines.marker("*** Move to:") {
        Some(to) => Some(file(lines, to)?),
        None => None,
    };
    let mut hunks = Vec::new();
    lines.blanks();
    while lines.peek().is_some_and(|text| !text.starts_with("*** ")) {
        hunks.push(hunk(lines)?);
    }
    // Models repeat the path when they want to keep it.
    let to = to.filter(|to| *to != path);
    if hunks.is_empty() && to.is_none() {
        return Err(format!(
            "patch line {taken}: `{path}` has no hunks; expected a line that begins with `@@`"
        ));
    }
    Ok(Operation::Update { path, to, hunks })
}

fn hunk(lines: &mut Lines<'_>) -> Result<Hunk, String> {
    let mut hunk = Hunk { line: lines.taken + 1, context: vec![], lines: vec![], at_end: false };
    while let Some(header) = lines.peek().and_then(|text| text.strip_prefix("@@")) {
        hunk.context.extend(context(header));
        lines.next();
    }
    loop {
        // An editor that strips spaces makes an empty line of an empty context line; but before the
        // next marker it only separates.
        let blank = lines.blanks();
        let kept = (0..blank).map(|_| Line::Keep(String::new()));
        if lines.marker("*** End of File").is_some() {
            hunk.lines.extend(kept);
            hunk.at_end = true;
            break;
        }
        let next = lines.peek();
        let Some(text) = next.filter(|text| !text.starts_with("*** ") && !text.starts_with("@@"))
        else {
            break;
        };
        let line = line(text).ok_or_else(|| {
            lines.expected("a line that begins with a space, `+`, `-`, `@@` or `*** `")
        })?;
        hunk.lines.extend(kept.chain([line]));
        lines.next();
    }
    if hunk.lines.is_empty() {
        return Err(format!("patch line {}: the hunk has no lines", hunk.line));
    }
    Ok(hunk)
}

fn line(text: &str) -> Option<Line> {
    let (sign, rest) = (text.chars().next()?, text.get(1..).unwrap_or_default().to_owned());
    match sign {
        ' ' => Some(Line::Keep(rest)),
        '+' => Some(Line::Add(rest)),
        '-' => Some(Line::Remove(rest)),
        _ => None,
    }
}

/// The line after `@@`, if there is one. Line numbers of other formats say nothing here.
fn context(header: &str) -> Option<String> {
    let header = header.strip_prefix(' ').unwrap_or(header).trim_end();
    let numbers = header.starts_with('-') && header.contains(" +") && header.contains("@@");
    let header = header.strip_suffix("@@").map_or(header, str::trim_end);
    (!numbers && !header.is_empty()).then(|| header.to_owned())
}

fn each_file_once(operations: &[Operation]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut paths = operations.iter().flat_map(Operation::paths);
    paths.find(|path| !seen.insert(*path)).map_or(Ok(()), |path| {
        Err(format!(
            "`{path}` is in the patch twice; put all its hunks under one `*** Update File`"
        ))
    })
}

/// The lines of a patch that are still to be read.
struct Lines<'a> {
    rest: std::iter::Peekable<std::str::SplitTerminator<'a, char>>,
    /// How many were read.
    taken: usize,
}

impl<'a> Lines<'a> {
    fn of(input: &'a str) -> Self {
        Self { rest: input.split_terminator('\n').peekable(), taken: 0 }
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.rest.peek().map(|text| text.strip_suffix('\r').unwrap_or(text))
    }

    fn next(&mut self) {
        self.taken += usize::from(self.rest.next().is_some());
    }

    /// Takes the next line if it is this marker, and returns what follows the marker.
    fn marker(&mut self, marker: &str) -> Option<&'a str> {
        let rest = self.peek()?.strip_prefix(marker)?.trim();
        if !marker.ends_with(':') && !rest.is_empty() {
            return None;
        }
        self.next();
        Some(rest)
    }

    /// Takes empty lines, and counts them.
    fn blanks(&mut self) -> usize {
        let before = self.taken;
        while self.peek().is_some_and(str::is_empty) {
            self.next();
        }
        self.taken - before
    }

    fn expected(&mut self, what: &str) -> String {
        let line = self.taken + 1;
        match self.peek() {
            Some(text) => {
                format!("patch line {line}: expected {what}, got `{}`", shorten(text, 100))
            }
            None => format!("patch line {line}: expected {what}, got the end of the patch"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(lines: &[&str]) -> String {
        format!("*** Begin Patch\n{}\n*** End Patch", lines.join("\n"))
    }

    /// One line for each operation and each hunk.
    fn told(input: &str) -> String {
        let operations = match parse(input) {
            Ok(operations) => operations,
            Err(problem) => return problem,
        };
        let told = operations.iter().map(|operation| match operation {
            Operation::Add { path, content } => format!("add {path} {content:?}"),
            Operation::Delete { path } => format!("delete {path}"),
            Operation::Update { path, to, hunks } => {
                let to = to.as_ref().map(|to| format!(" to {to}")).unwrap_or_default();
                let hunks = hunks.iter().map(tell).collect::<String>();
                format!("update {path}{to}{hunks}")
            }
        });
        told.collect::<Vec<_>>().join("; ")
    }

    fn tell(hunk: &Hunk) -> String {
        let lines = hunk.lines.iter().map(|line| match line {
            Line::Keep(text) => format!(" {text}"),
            Line::Add(text) => format!("+{text}"),
            Line::Remove(text) => format!("-{text}"),
        });
        let end = if hunk.at_end { "$" } else { "" };
        format!(" {:?}{:?}{end}", hunk.context, lines.collect::<Vec<_>>())
    }

    #[test]
    fn reads_every_operation() {
        for (lines, expected) in [
            (vec!["*** Add File: a/b.txt", "+x", "+", "+y"], r#"add a/b.txt "x\n\ny\n""#),
            (vec!["*** Add File: empty"], r#"add empty """#),
            (vec!["*** Delete File: ./a//b"], "delete a/b"),
            (
                vec!["*** Update File: a", "@@", " k", "-r", "+n"],
                r#"update a [][" k", "-r", "+n"]"#,
            ),
            (vec!["*** Update File: a", "*** Move to: b"], "update a to b"),
            (vec!["*** Update File: a", "*** Move to: ./a", "@@", "-r"], r#"update a []["-r"]"#),
            (
                vec!["*** Update File: a", "@@ fn f() {", "@@   if x {", "-r", "*** End of File"],
                r#"update a ["fn f() {", "  if x {"]["-r"]$"#,
            ),
            (vec!["*** Update File: a", "-r", "@@", "+n"], r#"update a []["-r"] []["+n"]"#),
            (vec!["*** Update File: a", "@@ -1,2 +1,3 @@ fn f()", "-r"], r#"update a []["-r"]"#),
            (vec!["*** Update File: a", "@@ fn f() @@", "-r"], r#"update a ["fn f()"]["-r"]"#),
            (vec!["*** Delete File: a", "*** Delete File: b"], "delete a; delete b"),
        ] {
            assert_eq!(told(&body(&lines)), expected, "{lines:?}");
        }
    }

    #[test]
    fn is_tolerant_where_it_is_plain_what_is_meant() {
        let plain = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for input in [
            format!("{plain}\n"),
            format!("\n\n{plain}\n\n"),
            format!("```diff\n{plain}\n```\n"),
            format!("apply_patch <<'EOF'\n{plain}\nEOF\n"),
            plain.replace('\n', "\r\n"),
            plain.replace('\n', "  \n\n"),
            plain.replace("Delete File: a", "Delete File:a \t"),
        ] {
            assert_eq!(told(&input), "delete a", "{input:?}");
        }
        for (lines, expected) in [
            // An empty line is an empty context line, but not before a marker.
            (vec!["@@", " a", "", "-b", "", "*** Delete File: z"], r#" [][" a", " ", "-b"]"#),
            (vec!["@@", "-b", "", "@@", "-c", "*** Delete File: z"], r#" []["-b"] []["-c"]"#),
            (
                vec!["", "@@", "-b", "", "*** End of File", "*** Delete File: z"],
                r#" []["-b", " "]$"#,
            ),
        ] {
            let input = body(&[&["*** Update File: a"], lines.as_slice()].concat());
            assert_eq!(told(&input), format!("update a{expected}; delete z"), "{lines:?}");
        }
    }

    #[test]
    fn says_where_something_else_was_expected() {
        for (input, expected) in [
            (String::new(), "patch line 1: expected `*** Begin Patch`, got the end of the patch"),
            ("\n\n".to_owned(), "patch line 3: expected `*** Begin Patch`, got the end"),
            ("hello".to_owned(), "patch line 1: expected `*** Begin Patch`, got `hello`"),
            (body(&[]), "the patch is empty"),
            (body(&["what"]), "patch line 2: expected `*** Add File: PATH`"),
            (body(&["*** Add File:"]), "patch line 2: a path is missing after the colon"),
            (body(&["*** Add File: a", "x"]), "patch line 3: expected a line that begins with `+`"),
            (body(&["*** Update File: a"]), "patch line 2: `a` has no hunks"),
            (body(&["*** Update File: a", "@@"]), "patch line 3: the hunk has no lines"),
            (
                body(&["*** Update File: a", "@@", "x"]),
                "patch line 4: expected a line that begins with a space, `+`, `-`, `@@` or `*** `, \
                 got `x`",
            ),
            (body(&["*** Delete File: a", "*** Add File: ./a"]), "`a` is in the patch twice"),
            (body(&["*** Update File: a", "*** Move to: a"]), "patch line 2: `a` has no hunks"),
            (
                "*** Begin Patch\n*** Update File: a\n-r".to_owned(),
                "patch line 4: expected `*** Add File: PATH`, `*** Update File: PATH`, \
                 `*** Delete File: PATH` or `*** End Patch`, got the end of the patch",
            ),
            (format!("{}\nmore", body(&["*** Delete File: a"])), "patch line 4: expected nothing"),
        ] {
            let problem = parse(&input).unwrap_err();
            assert!(problem.starts_with(expected), "{input:?}: {problem}");
        }
    }

    #[test]
    fn a_long_patch_needs_no_stack() {
        assert!(parse(&"\n".repeat(1_000_000)).is_err());
    }
}
