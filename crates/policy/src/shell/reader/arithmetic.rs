//! Arithmetic. Bash evaluates what variables hold there, so only numbers are followed.

use super::{Read, Reader, opaque};

impl Reader<'_> {
    /// An expression up to `end`, which is taken.
    pub(super) fn arithmetic(&mut self, end: &str) -> Read<()> {
        let mut open = 0_u32;
        loop {
            if open == 0 && self.eat(end) {
                return Ok(());
            }
            let Some(next) = self.peek() else { return opaque("an expression does not end") };
            match next {
                '0'..='9' => {
                    self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | '@'));
                }
                'a'..='z' | 'A'..='Z' | '_' => self.variable()?,
                '$' => self.dollar_number()?,
                '(' => {
                    open += 1;
                    self.bump();
                }
                ')' if open > 0 => {
                    open -= 1;
                    self.bump();
                }
                _ if " \t\n+-*/%<>=!&|^~?:,;".contains(next) => {
                    self.bump();
                }
                _ => return opaque("an arithmetic expression is not plain"),
            }
        }
    }

    /// A name: it is set here, or bash looks into it.
    fn variable(&mut self) -> Read<()> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.sees("[") {
            return opaque("an arithmetic expression is not plain");
        }
        let after = self.rest().trim_start_matches([' ', '\t']);
        if after.starts_with('=') && !after.starts_with("==") {
            return self.found.names.assign_number(name);
        }
        self.found.names.look_into(name);
        Ok(())
    }

    /// `$x`, `${x}`, `$#` or `$?`.
    fn dollar_number(&mut self) -> Read<()> {
        self.bump();
        if self.eat("#") || self.eat("?") {
            return Ok(());
        }
        let braces = self.eat("{");
        if braces && self.eat("#") {
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            let _ = self.eat("[@]") || self.eat("[*]");
            return self.expect("}");
        }
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return opaque("an arithmetic expression is not plain");
        }
        self.found.names.look_into(name);
        if braces { self.expect("}") } else { Ok(()) }
    }
}
