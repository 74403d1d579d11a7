//! Texts of JSON5.

use super::cursor::{Cursor, Parsed, mistake};

impl Cursor<'_> {
    /// A text in quotes of either kind.
    pub(super) fn text(&mut self) -> Parsed<String> {
        let start = self.offset();
        let quote = self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None | Some('\n' | '\r') => return mistake(start, "this text does not end"),
                letter if letter == quote => return Ok(text),
                Some('\\') => text.extend(self.escape()?),
                Some(letter) => text.push(letter),
            }
        }
    }

    /// What the characters after a backslash stand for; nothing if the line goes on.
    fn escape(&mut self) -> Parsed<Option<char>> {
        let offset = self.offset();
        let letter = match self.bump() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some('x') => return self.by_number(2),
            Some('u') => return self.by_number(4),
            Some('0') if !self.peek().is_some_and(|next| next.is_ascii_digit()) => '\0',
            Some('0'..='9') | None => return mistake(offset, r"expected `\x` and two digits"),
            Some('\r') => {
                self.eat('\n');
                return Ok(None);
            }
            Some('\n' | '\u{2028}' | '\u{2029}') => return Ok(None),
            Some(other) => other,
        };
        Ok(Some(letter))
    }

    /// A character by its number; one beyond `\uFFFF` is written as two.
    fn by_number(&mut self, digits: usize) -> Parsed<Option<char>> {
        let offset = self.offset();
        let first = self.hex(digits);
        let is_half = matches!(first, Some(0xd800..=0xdbff));
        let second = if is_half && self.eat('\\') && self.eat('u') { self.hex(4) } else { None };
        match char::decode_utf16(first.into_iter().chain(second)).next() {
            Some(Ok(letter)) => Ok(Some(letter)),
            Some(Err(_)) => mistake(offset, "half a character; write both halves"),
            None => mistake(offset, &format!("expected {digits} hexadecimal digits")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    fn read(text: &str) -> Result<String, String> {
        Cursor::new(text)
            .text()
            .map_err(|mistake| format!("{}: {}", mistake.offset, mistake.message))
    }

    #[test]
    fn escapes_stand_for_characters() {
        for (text, expected) in [
            (r#""it's""#, "it's"),
            (r#"'say "hi"'"#, r#"say "hi""#),
            (r"'\'\\\/\a'", r"'\/a"),
            (r"'\b\f\n\r\t\v\0'", "\u{8}\u{c}\n\r\t\u{b}\0"),
            (r"'\x41\u00e4\ud83d\ude00'", "Aä😀"),
            ("'one \\\nline \\\r\nonly\\\u{2028}'", "one line only"),
            ("'\u{2028}'", "\u{2028}"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_right_says_where() {
        for (text, expected) in [
            ("'abc", "0: this text does not end"),
            ("'a\nb'", "0: this text does not end"),
            (r#"'abc""#, "0: this text does not end"),
            (r"'\", r"2: expected `\x` and two digits"),
            (r"'\7'", r"2: expected `\x` and two digits"),
            (r"'\01'", r"2: expected `\x` and two digits"),
            (r"'\x4'", "3: expected 2 hexadecimal digits"),
            (r"'\u+041'", "3: expected 4 hexadecimal digits"),
            (r"'\u00ä'", "3: expected 4 hexadecimal digits"),
            (r"'\ud83d'", "3: half a character; write both halves"),
            (r"'\ud83d\ud83d'", "3: half a character; write both halves"),
            (r"'\ude00'", "3: half a character; write both halves"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected, "{text}");
        }
    }
}
