//! Words.

use super::{Quoted, Read, Reader, opaque};
use crate::shell::{Within, Word, analysis::Value};

/// What a word is made of, as far as it is read.
#[derive(Debug, Default)]
pub(super) struct Parts {
    text: String,
    /// It holds something that is not known.
    unknown: bool,
    /// It can become any number of words.
    spreads: bool,
    brace: Brace,
    /// A bracket is open; alone it is just a bracket.
    bracket: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Brace {
    #[default]
    None,
    Open,
    Expands,
}

impl Reader<'_> {
    /// One word, up to the first character that ends it.
    pub(super) fn word(&mut self, quoted: Quoted) -> Read<Word> {
        self.found.deeper()?;
        let (start, mut parts) = (self.at, Parts::default());
        while let Some(next) = self.peek() {
            match next {
                '<' | '>' if self.peek_second() == Some('(') => {
                    self.at += 2;
                    self.nested(Within::ProcessSubstitution, ")")?;
                    parts.unknown = true;
                }
                ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>' => break,
                _ => self.part_of_word(next, start, &mut parts)?,
            }
        }
        // In the middle of a word a parenthesis belongs to a pattern.
        if self.at == start || (self.peek() == Some('(') && !self.sees("()") && !self.sees("( )")) {
            return opaque("a word cannot be read");
        }
        self.found.shallower();
        parts.finish(self.since(start), quoted)
    }

    fn part_of_word(&mut self, next: char, start: usize, parts: &mut Parts) -> Read<()> {
        match next {
            '\'' => parts.text.push_str(self.raw()?),
            '"' => {
                self.bump();
                self.double(parts)?;
            }
            '\\' => {
                self.bump();
                match self.bump() {
                    Some('\n') => {}
                    Some(escaped) => parts.text.push(escaped),
                    None => return opaque("it ends with a backslash"),
                }
            }
            '$' if self.peek_second() == Some('\'') => {
                self.bump();
                self.ansi(parts)?;
            }
            '$' if self.peek_second() == Some('"') => {
                self.at += 2;
                self.double(parts)?;
                parts.unknown = true;
            }
            '$' => match self.dollar(Quoted::No)? {
                Some(()) => parts.expansion(),
                None => parts.text.push('$'),
            },
            '`' => {
                self.backticks(Quoted::No)?;
                parts.expansion();
            }
            _ => {
                self.bump();
                parts.plain(next, self.since(start));
            }
        }
        Ok(())
    }

    /// `'…'`
    fn raw(&mut self) -> Read<&str> {
        self.bump();
        let start = self.at;
        self.take_while(|c| c != '\'');
        let text = self.since(start);
        self.expect("'")?;
        self.no_body_is_due(text)?;
        Ok(text)
    }

    /// The rest of `"…"`.
    fn double(&mut self, parts: &mut Parts) -> Read<()> {
        let start = self.at;
        loop {
            match self.peek() {
                None => return opaque("a quote does not end"),
                Some('"') => break,
                Some('\\') => {
                    self.bump();
                    match self.bump() {
                        Some('\n') => {}
                        Some(escaped @ ('$' | '`' | '"' | '\\')) => parts.text.push(escaped),
                        Some(other) => parts.text.extend(['\\', other]),
                        None => return opaque("a quote does not end"),
                    }
                }
                Some('$') => {
                    let before = self.at;
                    match self.dollar(Quoted::Yes)? {
                        // `"$@"` is as many words as there are arguments.
                        Some(()) if self.since(before).contains(['@', '*']) => parts.expansion(),
                        Some(()) => parts.unknown = true,
                        None => parts.text.push('$'),
                    }
                }
                Some('`') => {
                    self.backticks(Quoted::Yes)?;
                    parts.unknown = true;
                }
                Some(other) => {
                    self.bump();
                    parts.text.push(other);
                }
            }
        }
        self.no_body_is_due(self.since(start))?;
        self.expect("\"")
    }

    /// `$'…'`; the dollar is read.
    fn ansi(&mut self, parts: &mut Parts) -> Read<()> {
        self.bump();
        loop {
            match self.bump() {
                None => return opaque("a quote does not end"),
                Some('\'') => return Ok(()),
                Some('\n') => {
                    self.no_body_is_due("\n")?;
                    parts.text.push('\n');
                }
                Some('\\') => match self.bump() {
                    Some('n') => parts.text.push('\n'),
                    Some('t') => parts.text.push('\t'),
                    Some(same @ ('\\' | '\'' | '"')) => parts.text.push(same),
                    // Numbers and the rest can be any character.
                    _ => parts.unknown = true,
                },
                Some(other) => parts.text.push(other),
            }
        }
    }

    /// Versions of bash differ in where a body starts if a quote goes over the end of the line.
    fn no_body_is_due(&self, text: &str) -> Read<()> {
        if text.contains('\n') && (self.due_outside || !self.pending.is_empty()) {
            return opaque("a quote goes on where a here-document should begin");
        }
        Ok(())
    }
}

impl Parts {
    const fn expansion(&mut self) {
        self.unknown = true;
        self.spreads = true;
    }

    /// A character outside of quotes; `source` is the word up to and with it.
    fn plain(&mut self, c: char, source: &str) {
        self.text.push(c);
        match c {
            '*' | '?' => self.expansion(),
            '[' => self.bracket = true,
            ']' if self.bracket => self.expansion(),
            '~' if source == "~" || source.ends_with("=~") || source.ends_with(":~") => {
                self.unknown = true;
            }
            '{' if self.brace == Brace::None => self.brace = Brace::Open,
            ',' if self.brace == Brace::Open => self.brace = Brace::Expands,
            '.' if self.brace == Brace::Open && source.ends_with("..") => {
                self.brace = Brace::Expands;
            }
            _ => {}
        }
    }

    fn finish(self, source: &str, quoted: Quoted) -> Read<Word> {
        let Self { text, unknown, spreads, brace, bracket: _ } = self;
        let braces = brace == Brace::Expands;
        if braces && unknown && source.contains(['$', '`', '<', '>']) {
            return opaque("braces and expansions in one word");
        }
        let value = match (unknown, spreads || braces) {
            (false, false) => Value::Literal(text),
            (_, true) if quoted == Quoted::No => Value::Any,
            _ => Value::One,
        };
        Ok(Word { source: source.to_owned(), value })
    }
}
