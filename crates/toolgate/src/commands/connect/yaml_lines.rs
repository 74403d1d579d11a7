//! The lines of a YAML file: which of them say something, and what belongs to what.

use std::ops::Range;

use super::format::Mistake;

/// Breaks of a line to some that read YAML, and not to us.
const BREAKS: [char; 4] = ['\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Blank, or a comment.
    Silent,
    /// A key, an item, or the rest of a plain value.
    Says,
    /// Part of a text of several lines, in which nothing is a key or a comment, whatever it looks like.
    Text,
}

pub(super) struct File<'a> {
    pub(super) text: &'a str,
    pub(super) lines: Vec<&'a str>,
    pub(super) kinds: Vec<Line>,
    pub(super) newline: &'static str,
}

/// A key at the top, and what is beneath it.
pub(super) struct Section {
    /// Where its key is.
    pub(super) line: usize,
    /// Behind its last line.
    pub(super) end: usize,
    /// The blanks before each key in it, if it has any.
    pub(super) indent: Option<String>,
    /// Whether it is written as `{}`.
    pub(super) is_empty_flow: bool,
}

impl<'a> File<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, Mistake> {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines: Vec<_> = text.lines().collect();
        let file = Self { text, lines, kinds: Vec::new(), newline };
        let kinds = kinds(&file.lines).map_err(|at| file.mistake(at, UNKNOWN))?;
        let file = Self { kinds, ..file };
        for (at, (line, kind)) in file.lines.iter().zip(&file.kinds).enumerate() {
            let problem = match kind {
                _ if line.contains(BREAKS) => UNKNOWN,
                Line::Says if line.trim_start_matches(' ').starts_with('\t') => {
                    "a tab, which YAML does not allow here"
                }
                Line::Says if !line.starts_with(' ') && !is_known_top(line, at) => UNKNOWN,
                Line::Silent | Line::Says | Line::Text => continue,
            };
            return Err(file.mistake(at, problem));
        }
        Ok(file)
    }

    pub(super) fn mistake(&self, at: usize, message: impl Into<String>) -> Mistake {
        let offset = self.text.split_inclusive('\n').take(at).map(str::len).sum();
        Mistake { offset, message: message.into() }
    }

    /// The lines from `from` that say something.
    pub(super) fn saying(
        &self,
        from: usize,
    ) -> impl DoubleEndedIterator<Item = (usize, &'a str)> + '_ {
        let said = self.kinds.iter().enumerate().skip(from);
        let said = said.filter(|(_, kind)| **kind != Line::Silent);
        said.map(|(at, _)| (at, self.lines.get(at).copied().unwrap_or_default()))
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.kinds.get(at) == Some(&Line::Text)
    }

    pub(super) fn section(&self, name: &str) -> Result<Option<Section>, Mistake> {
        let mut found = self.saying(0).filter(|(_, line)| key(line) == Some(name));
        let Some((line, head)) = found.next() else { return Ok(None) };
        let refused = |at, message: &str| Err(self.mistake(at, format!("`{name}` {message}")));
        if let Some((again, _)) = found.next() {
            return refused(again, "stands here twice; keep one of them");
        }
        let behind = head.split_once(':').map_or("", |(_, rest)| rest);
        let behind = behind.split(" #").next().unwrap_or_default().trim();
        let is_empty_flow = behind == "{}";
        if !is_empty_flow && !behind.is_empty() && !behind.starts_with('#') {
            return refused(line, "is not written as a block");
        }
        let beneath = self.saying(line + 1);
        let beneath = beneath.take_while(|(at, line)| line.starts_with(' ') || self.is_text(*at));
        let contents: Vec<_> = beneath.collect();
        let end = contents.last().map_or(line, |(at, _)| *at) + 1;
        let indent = contents.first().map(|(_, line)| blanks(line).to_owned());
        let own = indent.as_deref().unwrap_or_default().len();
        if contents.iter().any(|(at, line)| {
            let deep = blanks(line).len();
            let is_key = deep > own || (deep == own && key(line.trim_start()).is_some());
            !is_key && !self.is_text(*at)
        }) {
            return refused(line, "is not written as a block of keys");
        }
        Ok(Some(Section { line, end, indent, is_empty_flow }))
    }

    /// The lines of one key of a section.
    pub(super) fn child(&self, section: &Section, name: &str) -> Option<Range<usize>> {
        let indent = section.indent.as_deref()?;
        let inside = || self.saying(section.line + 1).take_while(|(at, _)| *at < section.end);
        let mut at_level =
            inside().filter(|(at, line)| blanks(line) == indent && !self.is_text(*at));
        let (start, _) = at_level.find(|(_, line)| key(line.trim_start()) == Some(name))?;
        let limit = at_level.next().map_or(section.end, |(at, _)| at);
        // What stands right above the next key is about that.
        let last = inside().take_while(|(at, _)| *at < limit).last();
        Some(start..last.map_or(start, |(at, _)| at) + 1)
    }

    pub(super) fn joined(&self, lines: &[String]) -> String {
        let end = if self.text.ends_with('\n') || self.text.is_empty() { self.newline } else { "" };
        lines.join(self.newline) + end
    }
}

const UNKNOWN: &str = "this is not written in a known way";

/// What each line is; otherwise, the line that begins what only a whole parser could find the end of.
fn kinds(lines: &[&str]) -> Result<Vec<Line>, usize> {
    let mut kinds = Vec::with_capacity(lines.len());
    while let Some(line) = lines.get(kinds.len()) {
        if !is_content(line) {
            kinds.push(Line::Silent);
            continue;
        }
        let (column, value) = value(line);
        if !is_closed(value) {
            return Err(kinds.len());
        }
        kinds.push(Line::Says);
        if value.starts_with(['|', '>']) {
            let text = lines.get(kinds.len()..).unwrap_or_default();
            let length = text_lines(text, column, value);
            kinds.resize(kinds.len() + length, Line::Text);
        }
    }
    Ok(kinds)
}

/// How many of `lines` a text takes that begins behind a key or dash in this column.
fn text_lines(lines: &[&str], column: usize, header: &str) -> usize {
    let header = header.split(' ').next().unwrap_or_default();
    let is_blank = |line: &&str| line.trim().is_empty();
    let given = header.chars().find_map(|letter| letter.to_digit(10));
    let first = lines.iter().find(|line| !is_blank(line)).map_or(0, |line| blanks(line).len());
    let inner = given.map_or(first, |more| column + more as usize);
    if inner <= column {
        return 0;
    }
    let fits = |line: &&str| is_blank(line) || blanks(line).len() >= inner;
    let all = lines.iter().take_while(|line| fits(line)).count();
    // Of what follows, only `+` keeps lines with nothing in them.
    let is_said =
        |line: &&str| header.contains('+') || !is_blank(line) || blanks(line).len() > inner;
    lines.iter().take(all).rposition(is_said).map_or(0, |last| last + 1)
}

/// The value on a line, and the column of the key or dash it belongs to.
fn value(line: &str) -> (usize, &str) {
    let mut rest = line.trim_start_matches(' ');
    let (mut column, mut dash) = (line.len() - rest.len(), None);
    while let Some(inner) = rest.strip_prefix("- ") {
        dash = Some(column);
        let inner = inner.trim_start_matches(' ');
        column += rest.len() - inner.len();
        rest = inner;
    }
    let (column, value) = match behind_key(rest) {
        Some(value) => (column, value),
        None => (dash.unwrap_or(column), rest),
    };
    let mut value = value.trim();
    // What a value is called or tagged with stands before it.
    while let Some((_, behind)) = value.split_once(' ').filter(|_| value.starts_with(['&', '!'])) {
        value = behind.trim_start();
    }
    (column, value)
}

/// What stands behind the key that a text begins with, if it does.
fn behind_key(text: &str) -> Option<&str> {
    let rest = match text.chars().next()? {
        quote @ ('"' | '\'') => behind_quoted(text, quote)?.trim_start().strip_prefix(':')?,
        '{' | '[' => return None,
        _ => match text.split_once(": ") {
            Some((_, rest)) => return Some(rest),
            None => text.strip_suffix(':').map(|_| "")?,
        },
    };
    (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
}

/// What stands behind a text in quotes, if they are closed.
fn behind_quoted(text: &str, quote: char) -> Option<&str> {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote == '"' => drop(letters.next()),
            _ if letter != quote => {}
            '\'' if letters.peek().is_some_and(|(_, next)| *next == '\'') => drop(letters.next()),
            _ => return text.get(at + 1..),
        }
    }
    None
}

/// Whether a value ends on the line it begins on, or is one of which that does not matter here.
fn is_closed(value: &str) -> bool {
    let ends = |rest: &str| rest.trim().is_empty() || rest.trim_start().starts_with('#');
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => behind_quoted(value, quote).is_some_and(ends),
        Some('{' | '[') => behind_flow(value).is_some_and(ends),
        Some(_) | None => true,
    }
}

/// What stands behind a list or a map in brackets, if they are closed.
fn behind_flow(value: &str) -> Option<&str> {
    let (mut rest, mut open) = (value, 0_usize);
    while let Some(letter) = rest.chars().next() {
        if let '"' | '\'' = letter {
            rest = behind_quoted(rest, letter)?;
            continue;
        }
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            '{' | '[' => open += 1,
            '}' | ']' => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            return Some(rest);
        }
    }
    None
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

pub(super) fn blanks(line: &str) -> &str {
    let rest = line.trim_start_matches(' ');
    line.get(..line.len() - rest.len()).unwrap_or_default()
}

/// The key a line begins with, if it is written plainly or in quotes.
pub(super) fn key(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let ends = rest.is_empty() || rest.starts_with(' ');
    let key = key.trim_end();
    let bare = key.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
    let bare = bare.or_else(|| key.strip_prefix('\'').and_then(|key| key.strip_suffix('\'')));
    let key = bare.unwrap_or(key);
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    (ends && !key.is_empty() && key.chars().all(plain)).then_some(key)
}

/// Whether a line without blanks before it is a key, an item of a list, or the beginning.
fn is_known_top(line: &str, number: usize) -> bool {
    key(line).is_some() || line.starts_with("- ") || (line.trim_end() == "---" && number == 0)
}
