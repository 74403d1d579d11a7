//! Reads what starts with `$`, backticks and `<(`.

use super::{super::unknown::ExpansionKind, reader::ScriptReader, word::Word};

type Read<T> = Result<T, String>;

impl<'a> ScriptReader<'a> {
    /// Without quotes: the result is split into words and read as a pattern.
    pub(super) fn dollar(&mut self, word: &mut Word) -> Read<()> {
        if let Some(rest) = self.rest.strip_prefix("$'") {
            self.rest = rest;
            word.quoted = true;
            return self.escaped_text(word);
        }
        match self.expansion()? {
            // These are numbers.
            Some(written) if matches!(written.as_str(), "$?" | "$#" | "$$") => {
                self.insert(word, ExpansionKind::One, format!("\"{written}\""))
            }
            Some(written) if written.starts_with("$((") => {
                self.insert(word, ExpansionKind::One, format!("\"{written}\""))
            }
            Some(written) => self.insert(word, ExpansionKind::Many, written),
            None => {
                word.text.push('$');
                Ok(())
            }
        }
    }

    /// In double quotes.
    pub(super) fn quoted_dollar(&mut self, word: &mut Word) -> Read<()> {
        let Some(written) = self.expansion()? else {
            word.text.push('$');
            return Ok(());
        };
        self.insert(word, ExpansionKind::One, format!("\"{written}\""))
    }

    /// What starts with `$`, written anew; `None` if that is only a dollar.
    fn expansion(&mut self) -> Read<Option<String>> {
        self.expect("$")?;
        if self.rest.starts_with("((") {
            return self.arithmetic().map(Some);
        }
        if self.take("(") {
            let inner = self.list()?;
            self.blank_lines();
            self.expect(")")?;
            return Ok(Some(format!("$(\n{inner})")));
        }
        if self.take("{") {
            return self.parameter().map(Some);
        }
        let letter = self.rest.chars().next();
        match letter {
            Some(special @ ('?' | '#' | '$')) => {
                self.rest = self.rest.strip_prefix(special).unwrap_or_default();
                Ok(Some(format!("${special}")))
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let name = self.name();
                Ok(Some(format!("${{{name}}}")))
            }
            // Arguments, of which a line has none, and what only some shells know.
            Some('@' | '*' | '!' | '-' | '0'..='9' | '"' | '\'' | '[') => {
                Err("an expansion is not known to be harmless".to_owned())
            }
            _ => Ok(None),
        }
    }

    fn blank_lines(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n']);
    }

    fn name(&mut self) -> &'a str {
        let after = self.rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let name = self.rest.strip_suffix(after).unwrap_or_default();
        self.rest = after;
        name
    }

    /// `${name}` and what cuts or replaces parts of it, as long as that is plain text.
    fn parameter(&mut self) -> Read<String> {
        let refuse = || Err("an expansion is not known to be harmless".to_owned());
        let length = self.take("#");
        let name = self.name();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return refuse();
        }
        let Some((operation, after)) = self.rest.split_once('}') else { return refuse() };
        let plain = |text: &str| {
            text.chars().all(|c| c.is_ascii_alphanumeric() || " _./*?-:,@+=".contains(c))
        };
        let starts = ["%%", "%", "##", "#", "//", "/", ":-", "-", ":+", "+"];
        let cut = |(start, end): (&str, &str)| {
            let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
            digits(start) && (end.is_empty() || digits(end))
        };
        let is_known = operation.is_empty()
            || (!length
                && (matches!(operation, "^^" | "^" | ",," | ",")
                    || operation
                        .strip_prefix(':')
                        .is_some_and(|range| cut(range.split_once(':').unwrap_or((range, ""))))
                    || starts
                        .iter()
                        .any(|start| operation.strip_prefix(start).is_some_and(plain))));
        if !is_known {
            return refuse();
        }
        self.rest = after;
        Ok(format!("${{{}{name}{operation}}}", if length { "#" } else { "" }))
    }

    /// `$((…))` with numbers and variables. The analysis of the line says whether those are numbers.
    fn arithmetic(&mut self) -> Read<String> {
        self.expect("((")?;
        let refuse = || Err("arithmetic is not known to be harmless".to_owned());
        let Some((inner, after)) = self.rest.split_once("))") else { return refuse() };
        let plain = |c: char| c.is_ascii_alphanumeric() || " _+-*/%()<>=!?:".contains(c);
        if !inner.chars().all(plain) || inner.matches('(').count() != inner.matches(')').count() {
            return refuse();
        }
        self.rest = after;
        Ok(format!("$(({inner}))"))
    }

    /// `` `command` ``, if nothing in it is read in another way than between brackets.
    pub(super) fn backticks(&mut self) -> Read<String> {
        self.expect("`")?;
        let (inner, after) = self.rest.split_once('`').ok_or("a backtick is missing")?;
        if inner.contains(['\\', '"', '\'', '$']) {
            return Err("backticks are not known to be harmless".to_owned());
        }
        self.rest = inner;
        let written = self.list()?;
        self.blank_lines();
        if !self.rest.is_empty() {
            return Err("backticks are not known to be harmless".to_owned());
        }
        self.rest = after;
        Ok(format!("$(\n{written})"))
    }

    /// `<(command)`, which becomes the name of a file.
    pub(super) fn process_substitution(&mut self) -> Read<String> {
        self.expect("<(")?;
        let inner = self.list()?;
        self.blank_lines();
        self.expect(")")?;
        Ok(format!("<(\n{inner})"))
    }

    /// `$'a\tb'` with the most usual escapes.
    fn escaped_text(&mut self, word: &mut Word) -> Read<()> {
        let mut letters = self.rest.chars();
        loop {
            match letters.next().ok_or("a quote is missing")? {
                '\'' => {
                    self.rest = letters.as_str();
                    return Ok(());
                }
                '\\' => word.text.push(match letters.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some(same @ ('\\' | '\'' | '"')) => same,
                    _ => return Err("an escape is not known to be harmless".to_owned()),
                }),
                letter => word.text.push(letter),
            }
        }
    }
}
