//! Here-documents.

use super::{Quoted, Read, Reader, Reprinted, opaque};
use crate::shell::{Word, analysis::Value};

/// One whose body is still to come.
#[derive(Debug, Clone)]
pub(super) struct Heredoc {
    delimiter: String,
    expands: bool,
    strips_tabs: bool,
}

impl Reader<'_> {
    /// The word after `<<` or `<<-`.
    pub(super) fn delimiter(&mut self, operator: &str) -> Read<Word> {
        let start = self.at;
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"' | '\\'));
        if quote.is_some() {
            self.bump();
        }
        let delimiter = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned();
        if let Some(quote) = quote.filter(|quote| *quote != '\\') {
            self.expect(&quote.to_string())?;
        }
        let ends = matches!(
            self.peek(),
            None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | ')' | '<' | '>')
        );
        if delimiter.is_empty() || !ends {
            return opaque("the delimiter of a here-document is not plain");
        }
        let source = self.since(start).to_owned();
        let strips_tabs = operator == "<<-";
        self.pending.push(Heredoc {
            delimiter: delimiter.clone(),
            expands: quote.is_none(),
            strips_tabs,
        });
        Ok(Word { source, value: Value::Literal(delimiter) })
    }

    /// The bodies that start here.
    pub(super) fn bodies(&mut self) -> Read<()> {
        for heredoc in std::mem::take(&mut self.pending) {
            if self.reprinted == Reprinted::Yes {
                self.reprinted = Reprinted::AfterBody;
            }
            let start = self.at;
            let end = self.skip_body(&heredoc)?;
            self.mask(start);
            if heredoc.expands {
                self.expand_body(start, end)?;
            }
        }
        Ok(())
    }

    /// Goes behind the delimiter; gives back where the body ends.
    fn skip_body(&mut self, heredoc: &Heredoc) -> Read<usize> {
        loop {
            let end = self.at;
            if self.rest().is_empty() {
                return opaque("a here-document does not end");
            }
            let line = self.take_while(|c| c != '\n');
            let stripped = if heredoc.strips_tabs { line.trim_start_matches('\t') } else { line };
            if stripped == heredoc.delimiter {
                // The end of this line is left: it ends the command.
                return Ok(end);
            }
            if heredoc.expands && line.ends_with('\\') {
                return opaque("a line of a here-document is continued");
            }
            self.bump();
        }
    }

    fn expand_body(&mut self, start: usize, end: usize) -> Read<()> {
        let Some(body) = self.text.get(start..end) else { return opaque("a here-document") };
        let base = self.base + start;
        let joined = self.found.joined;
        let mut reader = Reader { base, ..Reader::new(body, self.found) };
        while let Some(next) = reader.peek() {
            match next {
                '\\' => {
                    reader.bump();
                    reader.bump();
                }
                '$' => {
                    reader.dollar(Quoted::Yes)?;
                }
                '`' => reader.backticks(Quoted::No)?,
                _ => {
                    reader.bump();
                }
            }
        }
        self.found.joined = joined;
        Ok(())
    }
}
