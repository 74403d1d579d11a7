//! The first reading: bash's own rules, one construct per file. Whatever is not known to be read as
//! bash reads it makes the line opaque.

mod arithmetic;
mod braces;
mod compound;
mod condition;
mod dollar;
mod heredoc;
mod list;
mod redirect;
mod simple;
mod word;

use self::heredoc::Heredoc;
use super::{Opaque, Within, found::Found, parse};

type Read<T> = Result<T, Opaque>;

fn opaque<T>(why: &str) -> Read<T> {
    Err(Opaque(why.to_owned()))
}

/// Whether what is being read stands in double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Yes,
}

/// Reads one text.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Where the text stands in the one that the grammar reads.
    base: usize,
    /// Here-documents whose bodies start after this line.
    pending: Vec<Heredoc>,
    /// Whether bodies are due that were announced outside of what is being read.
    due_outside: bool,
    /// What a substitution around this holds; bash prints it again before it runs it.
    reprinted: Reprinted,
    found: &'a mut Found,
}

/// Whether bash prints what is read here once more and reads that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reprinted {
    No,
    Yes,
    /// It does, and a here-document was in it; what follows can come out differently.
    AfterBody,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(text: &'a str, found: &'a mut Found) -> Self {
        Self {
            text,
            at: 0,
            base: 0,
            pending: Vec::new(),
            due_outside: false,
            reprinted: Reprinted::No,
            found,
        }
    }

    /// Reads all of it as a list of commands.
    pub(super) fn all(mut self) -> Read<()> {
        self.list(&[""])?;
        if self.pending.is_empty() { Ok(()) } else { opaque("a here-document has no body") }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn sees(&self, expected: &str) -> bool {
        self.rest().starts_with(expected)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let sees = self.sees(expected);
        if sees {
            self.at += expected.len();
        }
        sees
    }

    fn expect(&mut self, expected: &str) -> Read<()> {
        if self.eat(expected) {
            return Ok(());
        }
        Err(Opaque(format!("`{expected}` is missing")))
    }

    /// What was read since `start`.
    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Hides what was read since `start` from the grammar.
    fn mask(&mut self, start: usize) {
        self.found.masks.push(self.base + start..self.base + self.at);
    }

    /// Takes characters for as long as they fit.
    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(&fits) {
            self.bump();
        }
        self.since(start)
    }

    /// Spaces, tabs, continued lines and a comment.
    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.peek_second() == Some('\n') => self.at += 2,
                Some('#') => {
                    self.take_while(|c| c != '\n');
                    return;
                }
                _ => return,
            }
        }
    }

    /// The same and ends of lines, with the bodies of here-documents that follow them.
    fn blank_lines(&mut self) -> Read<()> {
        self.blanks();
        while self.peek() == Some('\n') {
            self.newline()?;
            self.blanks();
        }
        Ok(())
    }

    fn newline(&mut self) -> Read<()> {
        if self.due_outside {
            return opaque("a here-document begins inside a substitution of the line before");
        }
        self.bump();
        self.bodies()
    }

    /// A list of commands of its own, up to `end`, which is taken.
    fn nested(&mut self, within: Within, end: &'static str) -> Read<()> {
        let reprinted = self.reprinted;
        if within != Within::Subshell {
            self.reprinted = Reprinted::Yes;
        }
        self.found.enter(within)?;
        let joined = self.found.joined;
        let outer = std::mem::take(&mut self.pending);
        let due_outside = self.due_outside;
        self.due_outside |= !outer.is_empty();
        self.list(&[end])?;
        self.expect(end)?;
        if !self.pending.is_empty() {
            return opaque("a here-document has no body");
        }
        self.pending = outer;
        self.due_outside = due_outside;
        if self.reprinted != Reprinted::AfterBody || reprinted == Reprinted::No {
            self.reprinted = reprinted;
        }
        self.found.leave();
        self.found.joined = joined;
        Ok(())
    }

    /// A text that is made of this one by removing escapes.
    fn derived(&mut self, text: &str) -> Read<()> {
        let joined = self.found.joined;
        parse::inner(text, Within::Substitution, self.found)?;
        self.found.joined = joined;
        Ok(())
    }
}
