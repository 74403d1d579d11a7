//! Reads JSON5.

mod cursor;
mod number;
mod text;

use std::collections::BTreeMap;

use self::{
    cursor::{Cursor, Mistake, Parsed, mistake},
    number::{NOT_FINITE, number},
};
use crate::{
    lines::Lines,
    node::{Entry, Node, Position, Value, shorten},
    problems::Problems,
};

/// Deeper than any configuration, and little enough for every stack.
const MAX_DEPTH: usize = 64;

const QUOTES: &str = "a key with anything but letters, digits, `_` and `$` stands in quotes";

/// The top of a JSON5 file, or nothing and at least one problem.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Vec<Entry> {
    let lines = Lines::new(text);
    let mut parser = Parser { cursor: Cursor::new(text), lines: &lines, depth: 0, problems };
    parser.file().unwrap_or_else(|Mistake { offset, message }| {
        problems.add(lines.position(offset), "", message);
        Vec::new()
    })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    lines: &'a Lines<'a>,
    depth: usize,
    problems: &'a mut Problems,
}

impl Parser<'_> {
    fn file(&mut self) -> Parsed<Vec<Entry>> {
        self.cursor.skip_blanks()?;
        if self.cursor.peek() != Some('{') {
            return self.cursor.mistake("expected `{`; the whole file is one object");
        }
        let entries = self.object()?;
        self.cursor.skip_blanks()?;
        if !self.cursor.is_empty() {
            return self.cursor.mistake("expected nothing after the `}` of the whole file");
        }
        Ok(entries)
    }

    fn object(&mut self) -> Parsed<Vec<Entry>> {
        let (mut entries, mut seen) = (Vec::new(), BTreeMap::new());
        self.items('}', |parser| {
            let entry = parser.entry()?;
            if let Some(first) = seen.get(&entry.name) {
                parser.twice(&entry, *first);
            } else {
                seen.insert(entry.name.clone(), entry.position);
                entries.push(entry);
            }
            Ok(())
        })?;
        Ok(entries)
    }

    fn list(&mut self) -> Parsed<Vec<Node>> {
        let mut nodes = Vec::new();
        self.items(']', |parser| {
            nodes.push(parser.node()?);
            Ok(())
        })?;
        Ok(nodes)
    }

    /// What stands between brackets, with commas between and perhaps one after it.
    fn items(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        let open = self.cursor.offset();
        if self.depth == MAX_DEPTH {
            return mistake(open, &format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        self.cursor.bump();
        loop {
            self.cursor.skip_blanks()?;
            if self.cursor.eat(close) {
                break;
            }
            if self.cursor.is_empty() {
                return mistake(open, &format!("there is no `{close}` for this"));
            }
            item(self)?;
            self.cursor.skip_blanks()?;
            if !self.cursor.eat(',') && self.cursor.peek().is_some_and(|next| next != close) {
                return self.cursor.mistake(&format!("expected `,` or `{close}`"));
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let position = self.position();
        let name = match self.cursor.peek() {
            Some('"' | '\'') => self.cursor.text()?,
            Some(letter) if starts_name(letter) => self.cursor.take(in_name).to_owned(),
            _ => return self.cursor.mistake(&format!("expected a key; {QUOTES}")),
        };
        self.cursor.skip_blanks()?;
        if !self.cursor.eat(':') {
            return self.cursor.mistake(&format!("expected `:` after a key; {QUOTES}"));
        }
        self.cursor.skip_blanks()?;
        Ok(Entry { name, position, node: self.node()? })
    }

    fn node(&mut self) -> Parsed<Node> {
        let position = self.position();
        let value = match self.cursor.peek() {
            Some('{') => Value::Table(self.object()?),
            Some('[') => Value::List(self.list()?),
            Some('"' | '\'') => Value::Text(self.cursor.text()?),
            Some('+' | '-' | '.' | '0'..='9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { value, position })
    }

    fn number(&mut self) -> Parsed<Value> {
        let offset = self.cursor.offset();
        // All that could belong to it, so that `5px` is one mistake and not a number and another one.
        let token = self.cursor.take(|letter| in_name(letter) || matches!(letter, '+' | '-' | '.'));
        number(token).or_else(|message| mistake(offset, message))
    }

    fn word(&mut self) -> Parsed<Value> {
        let offset = self.cursor.offset();
        match self.cursor.take(in_name) {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Other("null")),
            "Infinity" | "NaN" => mistake(offset, NOT_FINITE),
            "" => mistake(offset, "expected a value"),
            _ => mistake(offset, "expected a value; a text stands in quotes"),
        }
    }

    fn position(&self) -> Position {
        self.lines.position(self.cursor.offset())
    }

    fn twice(&mut self, entry: &Entry, first: Position) {
        let name = shorten(&entry.name);
        let message = format!("`{name}` stands in line {} already; keep one of them", first.line);
        self.problems.add(entry.position, &name, message);
    }
}

fn starts_name(letter: char) -> bool {
    letter.is_alphabetic() || matches!(letter, '$' | '_')
}

fn in_name(letter: char) -> bool {
    starts_name(letter) || letter.is_numeric() || matches!(letter, '\u{200c}' | '\u{200d}')
}
