//! Lists and pipelines.

use super::{Opaque, Read, Reader, Reprinted, opaque};
use crate::shell::Joined;

/// Words that end a list, or cannot start a command.
const CLOSING: &[&str] = &["then", "do", "done", "fi", "elif", "else", "esac", "}", "in", "]]"];

impl Reader<'_> {
    /// Commands up to one of `ends`, which is left there; `""` is the end of the text.
    pub(super) fn list(&mut self, ends: &[&str]) -> Read<()> {
        loop {
            self.blank_lines()?;
            if self.at_end(ends)? {
                return Ok(());
            }
            if self.reprinted == Reprinted::AfterBody {
                return opaque("commands follow a here-document in a substitution");
            }
            self.pipeline()?;
            self.blanks();
            self.found.joined = if self.eat("&&") {
                Joined::And
            } else if self.eat("||") {
                Joined::Or
            } else {
                Joined::Next
            };
            if self.found.joined != Joined::Next {
                continue;
            }
            match self.peek() {
                Some('\n') => {}
                Some(';') if matches!(self.peek_second(), Some(';' | '&')) => {
                    return case_end(ends);
                }
                Some(';' | '&') => {
                    self.bump();
                }
                _ if self.at_end(ends)? => return Ok(()),
                _ => return opaque("something follows a command that does not belong there"),
            }
        }
    }

    fn at_end(&self, ends: &[&str]) -> Read<bool> {
        let here = match self.peek() {
            None => "",
            Some(')') => ")",
            Some(';') if matches!(self.peek_second(), Some(';' | '&')) => ";;",
            Some(';' | '&' | '|') => return opaque("a command is missing"),
            Some(_) => match self.plain_word() {
                Some(word) if CLOSING.contains(&word) => word,
                _ => return Ok(false),
            },
        };
        if ends.contains(&here) {
            return Ok(true);
        }
        let found = if here.is_empty() { "the end" } else { here };
        Err(Opaque(format!("{found} comes too early")))
    }

    fn pipeline(&mut self) -> Read<()> {
        self.found.deeper()?;
        loop {
            self.blanks();
            match self.plain_word() {
                Some("!") => {
                    let start = self.at;
                    self.at += 1;
                    self.mask(start);
                    if self.peek() == Some('(') {
                        return opaque("`!(` is a pattern or a subshell");
                    }
                }
                Some("time") => self.time()?,
                _ => break,
            }
        }
        if !matches!(self.peek(), None | Some('\n' | ';' | '&' | ')')) {
            self.command()?;
            self.blanks();
        }
        while self.sees("|") && !self.sees("||") {
            if !self.eat("|&") {
                self.bump();
            }
            self.blank_lines()?;
            self.found.joined = Joined::Pipe;
            self.command()?;
            self.blanks();
        }
        self.found.shallower();
        Ok(())
    }

    /// The keyword measures the pipeline that follows.
    fn time(&mut self) -> Read<()> {
        let start = self.at;
        self.at += 4;
        self.mask(start);
        self.blanks();
        if self.plain_word() == Some("-p") {
            let start = self.at;
            self.at += 2;
            self.mask(start);
            self.blanks();
        }
        if self.peek() == Some('-') { opaque("`time` has options") } else { Ok(()) }
    }

    /// The next word if it is without quotes and expansions; what keywords look like.
    pub(super) fn plain_word(&self) -> Option<&str> {
        let rest = self.rest();
        let special = |c: char| c.is_whitespace() || "|&;()<>\"'`$\\".contains(c);
        let end = rest.find(special).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(end)?;
        let goes_on = after.starts_with(['"', '\'', '`', '$', '\\']);
        (!goes_on && !word.is_empty()).then_some(word)
    }

    /// Takes the keyword.
    pub(super) fn keyword(&mut self, word: &str) -> Read<()> {
        if self.plain_word() == Some(word) {
            self.at += word.len();
            return Ok(());
        }
        Err(Opaque(format!("`{word}` is missing")))
    }
}

fn case_end(ends: &[&str]) -> Read<()> {
    if ends.contains(&";;") { Ok(()) } else { opaque("`;;` stands outside of `case`") }
}
