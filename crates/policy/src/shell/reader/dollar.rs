//! Expansions that start with a dollar, and backticks.

use super::{Quoted, Read, Reader, opaque};
use crate::shell::Within;

impl Reader<'_> {
    /// What a dollar starts; `None` if it is just a dollar.
    pub(super) fn dollar(&mut self, quoted: Quoted) -> Read<Option<()>> {
        self.bump();
        match self.peek() {
            Some('(') if self.peek_second() == Some('(') => {
                self.at += 2;
                self.arithmetic("))")?;
            }
            Some('(') => {
                self.bump();
                self.nested(Within::Substitution, ")")?;
            }
            Some('[') => {
                self.bump();
                self.arithmetic("]")?;
            }
            Some('{') => {
                self.bump();
                self.found.deeper()?;
                self.braces(quoted)?;
                self.found.shallower();
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.bump();
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    /// What backticks hold is a text of its own once its escapes are removed.
    pub(super) fn backticks(&mut self, quoted: Quoted) -> Read<()> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return opaque("a backtick is missing"),
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(escaped @ ('`' | '\\' | '$')) => text.push(escaped),
                    Some('"') if quoted == Quoted::Yes => text.push('"'),
                    Some(other) => text.extend(['\\', other]),
                    None => return opaque("a backtick is missing"),
                },
                Some('\n') if self.due_outside || !self.pending.is_empty() => {
                    return opaque("backticks go on where a here-document should begin");
                }
                Some(other) => text.push(other),
            }
        }
        self.derived(&text)
    }
}
