//! `${ … }`

use super::{Quoted, Read, Reader, opaque};
use crate::shell::Within;

impl<'a> Reader<'a> {
    /// What follows `${`.
    pub(super) fn braces(&mut self, quoted: Quoted) -> Read<()> {
        if self.sees("#") && !self.sees("#}") {
            self.bump();
            self.parameter()?;
            return self.expect("}");
        }
        if self.sees("!") && !self.sees("!}") {
            return opaque("an indirect expansion evaluates what a variable holds");
        }
        let name = self.parameter()?;
        if self.eat("}") {
            return Ok(());
        }
        if self.eat("@") {
            let operator = self.bump();
            if !operator.is_some_and(|c| "QUuLAaKkE".contains(c)) {
                return opaque("an expansion evaluates what a variable holds");
            }
            return self.expect("}");
        }
        let operators = [":-", ":=", ":?", ":+", "-", "=", "?", "+", "#", "%", "/", "^", ","];
        let Some(operator) = operators.into_iter().find(|operator| self.sees(operator)) else {
            return self.range();
        };
        self.at += operator.len();
        if operator.ends_with('=') {
            self.found.names.assign_other(name)?;
        }
        self.rest_of_braces(quoted)
    }

    /// The variable, with a subscript.
    fn parameter(&mut self) -> Read<&'a str> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() && !self.bump().is_some_and(|c| "@*#?-$!".contains(c)) {
            return opaque("an expansion without a variable");
        }
        let starts_with_digit = name.starts_with(|c: char| c.is_ascii_digit());
        if starts_with_digit && !name.chars().all(|c| c.is_ascii_digit()) {
            return opaque("an expansion without a variable");
        }
        if self.sees("[") {
            self.subscript()?;
        }
        Ok(name)
    }

    /// `[1]`, `[i]`, `[$i]`, `[@]` or `[*]`; anything else may run commands.
    pub(super) fn subscript(&mut self) -> Read<()> {
        self.expect("[")?;
        if self.eat("@]") || self.eat("*]") {
            return Ok(());
        }
        self.arithmetic("]")
    }

    /// `${x:1:2}`
    fn range(&mut self) -> Read<()> {
        self.expect(":")?;
        self.arithmetic("}")
    }

    fn rest_of_braces(&mut self, quoted: Quoted) -> Read<()> {
        loop {
            match self.peek() {
                None => return opaque("an expansion does not end"),
                Some('}') => {
                    self.bump();
                    return Ok(());
                }
                Some('\\') => {
                    self.bump();
                    self.bump();
                }
                Some('\'') if quoted == Quoted::No => {
                    self.bump();
                    self.take_while(|c| c != '\'' && c != '\n');
                    self.expect("'")?;
                }
                Some('"') if quoted == Quoted::No => {
                    self.bump();
                    self.quoted_in_braces()?;
                }
                Some('\n' | '{' | '\'' | '"') => {
                    return opaque("an expansion holds quotes, braces or lines");
                }
                Some('<' | '>') if self.peek_second() == Some('(') => {
                    self.at += 2;
                    self.nested(Within::ProcessSubstitution, ")")?;
                }
                Some('$') if matches!(self.peek_second(), Some('\'' | '"')) => {
                    return opaque("an expansion holds quotes, braces or lines");
                }
                Some('$') => {
                    self.dollar(quoted)?;
                }
                Some('`') => self.backticks(quoted)?,
                Some(_) => {
                    self.bump();
                }
            }
        }
    }

    fn quoted_in_braces(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                None | Some('\n') => return opaque("a quote does not end"),
                Some('"') => {
                    self.bump();
                    return Ok(());
                }
                Some('\\') => {
                    self.bump();
                    self.bump();
                }
                Some('$') => {
                    self.dollar(Quoted::Yes)?;
                }
                Some('`') => self.backticks(Quoted::Yes)?,
                Some(_) => {
                    self.bump();
                }
            }
        }
    }
}
