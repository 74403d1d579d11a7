//! Redirections.

use super::{Quoted, Read, Reader, opaque};
use crate::shell::{Redirection, Word, analysis::Value, names::is_name};

/// Longer ones first.
const OPERATORS: &[&str] =
    &["&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<>", "<&", "<<", "<", ">"];

impl Reader<'_> {
    /// Those after a compound command.
    pub(super) fn redirections(&mut self) -> Read<()> {
        loop {
            self.blanks();
            let Some(redirection) = self.redirection()? else { return Ok(()) };
            let command = crate::shell::Command {
                redirections: vec![redirection],
                ..crate::shell::Command::default()
            };
            self.found.add(command)?;
        }
    }

    /// A redirection, if there is one here.
    pub(super) fn redirection(&mut self) -> Read<Option<Redirection>> {
        let start = self.at;
        let from = self.origin()?;
        let substitutes = self.sees("<(") || self.sees(">(");
        let operator = OPERATORS.iter().copied().find(|operator| self.sees(operator));
        let Some(operator) = operator.filter(|_| !substitutes) else {
            self.at = start;
            return Ok(None);
        };
        if operator.starts_with('&') && !from.is_empty() {
            self.at = start;
            return Ok(None);
        }
        self.at += operator.len();
        if operator == "<>" {
            self.mask(self.at.saturating_sub(1));
        }
        self.blanks_without_comment();
        let target = if matches!(operator, "<<" | "<<-") {
            let target = self.delimiter(operator)?;
            self.mask(start);
            target
        } else if matches!(operator, ">&" | "<&") {
            self.duplicate()?
        } else {
            if matches!(self.peek(), None | Some('\n' | '&' | '|' | ';' | ')' | '(')) {
                return opaque("a redirection leads nowhere");
            }
            self.word(Quoted::No)?
        };
        Ok(Some(Redirection { from, operator, target }))
    }

    /// What follows `>&` or `<&`. A dash stands for itself, whatever comes right behind it, and what
    /// is no number is expanded a second time.
    fn duplicate(&mut self) -> Read<Word> {
        if self.eat("-") {
            return Ok(Word { source: "-".to_owned(), value: Value::Literal("-".to_owned()) });
        }
        let word = self.word(Quoted::No)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
        if word.literal().is_some_and(|text| text.chars().all(plain)) {
            return Ok(word);
        }
        opaque("what a descriptor is duplicated from is expanded twice")
    }

    /// A number or `{name}` right before an operator.
    fn origin(&mut self) -> Read<String> {
        let start = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit());
        if !digits.is_empty() {
            if matches!(self.peek(), Some('<' | '>')) {
                return Ok(digits.to_owned());
            }
            self.at = start;
            return Ok(String::new());
        }
        if !self.sees("{") {
            return Ok(String::new());
        }
        let text = self.take_while(|c| !c.is_whitespace() && !"|&;()<>\"'`$\\".contains(c));
        if !matches!(self.peek(), Some('<' | '>')) {
            self.at = start;
            return Ok(String::new());
        }
        let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        match name.filter(|name| is_name(name)) {
            Some(name) => {
                self.found.names.assign_number(name)?;
                self.mask(start);
                Ok(text.to_owned())
            }
            None => opaque("braces right before a redirection"),
        }
    }

    /// In `> #x` the rest is a comment to us and an error to bash.
    fn blanks_without_comment(&mut self) {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t'));
            if !self.eat("\\\n") {
                return;
            }
        }
    }
}
