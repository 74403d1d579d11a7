//! Reads words: quotes, patterns, braces.

use super::{
    super::unknown::{self, ExpansionKind},
    reader::ScriptReader,
};

type Read<T> = Result<T, String>;

/// Most words that braces may make of one.
const MAX_ALTERNATIVES: usize = 200;
/// Stand for unquoted braces and commas until the word is complete.
const OPEN: char = '\u{F000}';
const COMMA: char = '\u{F001}';
const CLOSE: char = '\u{F002}';

/// A word in which a character stands for each expansion.
#[derive(Debug, Clone, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether a part of it is quoted, so that it is no keyword and no assignment.
    pub(super) quoted: bool,
}

impl ScriptReader<'_> {
    /// The words that one word becomes by braces; usually it is that word.
    pub(super) fn word(&mut self) -> Read<Vec<Word>> {
        let word = self.raw_word()?;
        let alternatives = alternatives(&word.text)?;
        Ok(alternatives.into_iter().map(|text| Word { text, quoted: word.quoted }).collect())
    }

    /// A word that stands where braces and patterns mean nothing.
    pub(super) fn single_word(&mut self) -> Read<Word> {
        let mut words = self.word()?;
        match (words.pop(), words.is_empty()) {
            (Some(word), true) => Ok(word),
            _ => Err("braces are not known to be harmless there".to_owned()),
        }
    }

    fn raw_word(&mut self) -> Read<Word> {
        let mut word = Word::default();
        while let Some(letter) = self.rest.chars().next() {
            if word.text.is_empty() && !word.quoted {
                match letter {
                    '~' => return Err("a home folder is not known to be harmless".to_owned()),
                    '<' if self.rest.starts_with("<(") => {
                        let written = self.process_substitution()?;
                        self.insert(&mut word, ExpansionKind::One, written)?;
                        continue;
                    }
                    // The name of a program; as a pattern it would not be closed.
                    '[' if matches!(self.rest.chars().nth(1), None | Some(' ' | '\t')) => {
                        self.advance(letter);
                        word.text.push('[');
                        continue;
                    }
                    _ => {}
                }
            }
            match letter {
                ' ' | '\t' | '\n' | '|' | ';' | '&' | '<' | '>' | ')' => break,
                '(' => return Err("`(` is not known to be harmless there".to_owned()),
                '\\' => {
                    self.advance(letter);
                    let next = self.rest.chars().next().filter(|next| *next != '\n');
                    let next = next.ok_or("a line goes on in the next one")?;
                    self.advance(next);
                    word.text.push(next);
                    word.quoted = true;
                }
                '\'' => {
                    self.advance(letter);
                    let (inner, after) = self.rest.split_once('\'').ok_or("a quote is missing")?;
                    word.text.push_str(inner);
                    word.quoted = true;
                    self.rest = after;
                }
                '"' => {
                    self.advance(letter);
                    word.quoted = true;
                    self.double_quoted(&mut word)?;
                }
                '$' => self.dollar(&mut word)?,
                '`' => {
                    let written = self.backticks()?;
                    self.insert(&mut word, ExpansionKind::Many, written)?;
                }
                '*' | '?' => {
                    self.advance(letter);
                    self.insert(&mut word, ExpansionKind::Glob, letter.to_string())?;
                }
                '[' => {
                    let pattern = self.brackets()?;
                    self.insert(&mut word, ExpansionKind::Glob, pattern)?;
                }
                _ => {
                    self.advance(letter);
                    word.text.push(match letter {
                        '{' => OPEN,
                        ',' => COMMA,
                        '}' => CLOSE,
                        _ => letter,
                    });
                }
            }
        }
        // `3<` and `{name}<` say which descriptor is meant.
        let is_descriptor =
            word.text.chars().all(|c| c.is_ascii_digit()) || word.text.ends_with(CLOSE);
        if self.rest.starts_with(['<', '>']) && is_descriptor && !word.text.is_empty() {
            return Err("a redirection is not known to be harmless".to_owned());
        }
        Ok(word)
    }

    fn advance(&mut self, letter: char) {
        self.rest = self.rest.strip_prefix(letter).unwrap_or_default();
    }

    /// Puts an expansion into a word.
    pub(super) fn insert(
        &mut self,
        word: &mut Word,
        kind: ExpansionKind,
        written: String,
    ) -> Read<()> {
        let index = self.keep(written)?;
        let mark = unknown::mark(kind, index).ok_or("it has too many expansions")?;
        word.text.push(mark);
        Ok(())
    }

    fn double_quoted(&mut self, word: &mut Word) -> Read<()> {
        loop {
            let letter = self.rest.chars().next().ok_or("a quote is missing")?;
            match letter {
                '"' => {
                    self.advance(letter);
                    return Ok(());
                }
                '`' => {
                    let written = format!("\"{}\"", self.backticks()?);
                    self.insert(word, ExpansionKind::One, written)?;
                }
                '$' => self.quoted_dollar(word)?,
                '\\' => {
                    self.advance(letter);
                    let next = self.rest.chars().next().ok_or("a quote is missing")?;
                    self.advance(next);
                    match next {
                        '\n' => return Err("a line goes on in the next one".to_owned()),
                        '"' | '\\' | '$' | '`' => word.text.push(next),
                        _ => word.text.extend(['\\', next]),
                    }
                }
                _ => {
                    self.advance(letter);
                    word.text.push(letter);
                }
            }
        }
    }

    /// A list of characters, as patterns have them: `[a-z]`.
    fn brackets(&mut self) -> Read<String> {
        let (inner, after) = self
            .rest
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .ok_or("a bracket is not closed")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '!' | '^');
        if inner.is_empty() || !inner.chars().all(plain) {
            return Err("a pattern is not known to be harmless".to_owned());
        }
        self.rest = after;
        Ok(format!("[{inner}]"))
    }
}

/// What braces make of a word: `a{b,c}` is `ab` and `ac`, `{1..3}` is three numbers.
fn alternatives(text: &str) -> Read<Vec<String>> {
    let literal = |text: &str| -> String {
        let back = |c: char| match c {
            OPEN => '{',
            COMMA => ',',
            CLOSE => '}',
            c => c,
        };
        text.chars().map(back).collect()
    };
    let Some((before, rest)) = text.split_once(OPEN) else { return Ok(vec![literal(text)]) };
    let nested = || Err("nested braces are not known to be harmless".to_owned());
    let Some((inner, after)) = rest.split_once(CLOSE) else {
        return if text.contains(COMMA) { nested() } else { Ok(vec![literal(text)]) };
    };
    if inner.contains(OPEN) {
        return nested();
    }
    let inner: Vec<String> = if inner.contains(COMMA) {
        inner.split(COMMA).map(str::to_owned).collect()
    } else if let Some((first, last)) = inner.split_once("..") {
        let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) else {
            return Err("a range of braces is not known to be harmless".to_owned());
        };
        if first > last || inner.starts_with('0') {
            return Err("a range of braces is not known to be harmless".to_owned());
        }
        (first..=last).take(MAX_ALTERNATIVES + 1).map(|number| number.to_string()).collect()
    } else if after.contains(OPEN) || before.contains(CLOSE) {
        return nested();
    } else {
        return Ok(vec![literal(text)]);
    };
    let mut all = Vec::new();
    for after in alternatives(after)? {
        for inner in &inner {
            all.push(literal(&format!("{before}{inner}{after}")));
        }
    }
    // Bash takes the alternatives of the first braces for the outer loop.
    if all.len() > inner.len() && inner.len() > 1 {
        let width = inner.len();
        let columns = all.len() / width;
        let order = (0..width).flat_map(|row| (0..columns).map(move |column| column * width + row));
        all = order.filter_map(|at| all.get(at).cloned()).collect();
    }
    if all.len() > MAX_ALTERNATIVES {
        return Err("braces make too many words".to_owned());
    }
    Ok(all)
}
