//! Simple commands.

use super::{Quoted, Read, Reader, opaque};
use crate::shell::{Assignment, Command, Word, analysis::Value, names::is_name};

impl Reader<'_> {
    pub(super) fn simple(&mut self) -> Read<()> {
        let mut command = Command::default();
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                command.redirections.push(redirection);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(') => return self.parenthesis(&command),
                Some(_) => {}
            }
            if command.words.is_empty() {
                if let Some(assignment) = self.assignment()? {
                    command.assignments.push(assignment);
                    continue;
                }
                self.found.starts.insert(self.base + self.at);
            }
            let word = self.argument(&command)?;
            command.words.push(word);
        }
        if command == Command::default() {
            return opaque("a command is missing");
        }
        self.found.add(command)
    }

    /// A parenthesis after a word is a function, or an error, or a pattern.
    fn parenthesis(&mut self, command: &Command) -> Read<()> {
        match command {
            Command { words, assignments, redirections, .. }
                if assignments.is_empty() && redirections.is_empty() =>
            {
                let [name] = words.as_slice() else { return opaque("a parenthesis is misplaced") };
                self.function(&name.clone())
            }
            _ => opaque("a parenthesis is misplaced"),
        }
    }

    /// A word; declarations take lists as arguments too.
    fn argument(&mut self, command: &Command) -> Read<Word> {
        let declares = matches!(
            command.program(),
            Some("declare" | "typeset" | "local" | "export" | "readonly")
        );
        if declares && let Some(assignment) = self.assignment()? {
            let Assignment { name, value } = assignment;
            let source = format!("{name}={}", value.source);
            let value = match value.value {
                Value::Literal(text) => Value::Literal(format!("{name}={text}")),
                Value::One | Value::Any => Value::One,
            };
            return Ok(Word { source, value });
        }
        self.word(Quoted::No)
    }

    /// `name=value`, `name+=value`, `name[1]=value` or `name=( … )`.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let Some((name, after)) = rest.split_at_checked(end) else { return Ok(None) };
        if !is_name(name) {
            return Ok(None);
        }
        let start = self.at;
        self.at += name.len();
        if after.starts_with('[') {
            return self.element(name).map(Some);
        }
        if !self.eat("=") && !self.eat("+=") {
            self.at = start;
            return Ok(None);
        }
        let value = if self.peek() == Some('(') { self.array(name)? } else { self.value(name)? };
        Ok(Some(Assignment { name: name.to_owned(), value }))
    }

    fn value(&mut self, name: &str) -> Read<Word> {
        let empty = matches!(self.peek(), None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')'));
        let redirects = matches!(self.peek(), Some('<' | '>')) && self.peek_second() != Some('(');
        let word = if empty || redirects {
            Word { source: String::new(), value: Value::Literal(String::new()) }
        } else {
            self.word(Quoted::No)?
        };
        self.found.names.assign(name, &word)?;
        Ok(word)
    }

    /// One element; the subscript is arithmetic unless the array is associative.
    fn element(&mut self, name: &str) -> Read<Assignment> {
        self.subscript()?;
        if !self.eat("=") && !self.eat("+=") {
            return opaque("a word that looks like an element of an array");
        }
        self.found.names.array();
        let value = self.value(name)?;
        self.found.names.assign_other(name)?;
        Ok(Assignment { name: name.to_owned(), value: Word { value: Value::Any, ..value } })
    }

    fn array(&mut self, name: &str) -> Read<Word> {
        let start = self.at;
        self.expect("(")?;
        loop {
            self.blank_lines()?;
            match self.peek() {
                Some(')') => break,
                Some('[') => return opaque("an array with subscripts"),
                _ => self.word(Quoted::No)?,
            };
        }
        self.expect(")")?;
        if !matches!(self.peek(), None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')')) {
            return opaque("something follows an array");
        }
        self.found.names.array();
        self.found.names.assign_other(name)?;
        Ok(Word { source: self.since(start).to_owned(), value: Value::Any })
    }
}
