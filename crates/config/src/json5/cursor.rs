//! Goes through a text.

/// What ends the reading. Never says what stands in the file: it may be a secret.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) offset: usize,
    pub(super) message: String,
}

pub(super) type Parsed<T> = Result<T, Mistake>;

/// `message` about what stands at `offset`.
pub(super) fn mistake<T>(offset: usize, message: &str) -> Parsed<T> {
    Err(Mistake { offset, message: message.to_owned() })
}

/// What is left of a text.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    end: usize,
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { end: text.len(), rest: text }
    }

    pub(super) const fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// The next character, and goes past it.
    pub(super) fn bump(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    /// Goes past `letter` if it is next.
    pub(super) fn eat(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// All that `fits`, and goes past it.
    pub(super) fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|letter| !fits(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        taken
    }

    /// `count` hexadecimal digits, if they are next.
    pub(super) fn hex(&mut self, count: usize) -> Option<u16> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        // `from_str_radix` takes a sign too.
        let all = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = all.then(|| u16::from_str_radix(digits, 16).ok())?;
        self.rest = rest;
        number
    }

    /// Goes past blanks and comments.
    pub(super) fn skip_blanks(&mut self) -> Parsed<()> {
        loop {
            self.take(|letter| letter.is_whitespace() || letter == '\u{feff}');
            if self.rest.starts_with("//") {
                self.take(|letter| !matches!(letter, '\n' | '\r' | '\u{2028}' | '\u{2029}'));
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                let Some((_, rest)) = comment.split_once("*/") else {
                    return self.mistake("this comment has no end");
                };
                self.rest = rest;
            } else {
                return Ok(());
            }
        }
    }

    /// `message` about what comes next.
    pub(super) fn mistake<T>(&self, message: &str) -> Parsed<T> {
        mistake(self.offset(), message)
    }
}
