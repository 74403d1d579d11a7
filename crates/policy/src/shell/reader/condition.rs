//! `[[ … ]]`

use super::{Quoted, Read, Reader, opaque};
use crate::shell::{Word, names::is_name, names::is_number};

/// Operators that evaluate both sides as arithmetic.
const ARITHMETIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// Operators that look at a variable by its name, subscript and all.
const NAMED: &[&str] = &["-v", "-R", "-o"];

impl Reader<'_> {
    pub(super) fn condition(&mut self) -> Read<()> {
        self.keyword("[[")?;
        if !matches!(self.peek(), Some(' ' | '\t' | '\n')) {
            return opaque("`[[` is not followed by a space");
        }
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.blank_lines()?;
            if self.plain_word() == Some("]]") {
                self.at += 2;
                return self.check_terms(&words);
            }
            let joins = self.eat("&&") || self.eat("||");
            if joins || self.sees("(") || self.sees(")") {
                if !joins {
                    self.bump();
                }
                self.check_terms(&words)?;
                words.clear();
            } else if (self.sees("<") || self.sees(">")) && self.peek_second() != Some('(') {
                self.bump();
            } else {
                words.push(self.word(Quoted::Yes)?);
                if words.last().and_then(Word::literal) == Some("=~") {
                    self.regex()?;
                }
            }
        }
    }

    /// What follows `=~` has rules of its own unless it is one plain word.
    fn regex(&mut self) -> Read<()> {
        self.blanks();
        let start = self.at;
        self.word(Quoted::Yes)?;
        let plain = |c: char| !"()|<>&; \t\n".contains(c);
        let quoted = self.since(start).starts_with(['"', '\'']);
        if !quoted && !self.since(start).chars().all(plain) || self.sees("(") {
            return opaque("a regular expression is not plain");
        }
        Ok(())
    }

    fn check_terms(&mut self, words: &[Word]) -> Read<()> {
        for (index, word) in words.iter().enumerate() {
            let Some(operator) = word.literal().filter(|text| *text == word.source) else {
                continue;
            };
            let next = words.get(index + 1);
            if NAMED.contains(&operator) && !next.and_then(Word::literal).is_some_and(is_name) {
                return opaque("a test of a variable that is not named plainly");
            }
            if ARITHMETIC.contains(&operator) {
                let before = index.checked_sub(1).and_then(|index| words.get(index));
                for side in [before, next] {
                    self.number(side)?;
                }
            }
        }
        Ok(())
    }

    fn number(&mut self, side: Option<&Word>) -> Read<()> {
        let Some(word) = side else { return opaque("a comparison has only one side") };
        if word.literal().is_some_and(is_number) || matches!(word.source.as_str(), "$#" | "$?") {
            return Ok(());
        }
        let source = word.source.trim_matches('"');
        let name = source.strip_prefix('$').unwrap_or_default();
        let inner = name.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
        let name = inner.unwrap_or(name);
        if !is_name(name) {
            return opaque("a comparison evaluates something that is not known to be a number");
        }
        self.found.names.look_into(name);
        Ok(())
    }
}
