//! Text files, taken apart so that they can be put together as they were.

use std::borrow::Cow;

use tool::{FilePath, ToolError};

const BOM: char = '\u{feff}';

/// The text of a file without its byte order mark.
#[derive(Debug)]
pub(crate) struct Text {
    bom: bool,
    text: String,
}

impl Text {
    /// Takes the content of the file at `path` as UTF-8.
    pub(crate) fn decode(path: &FilePath, bytes: Vec<u8>) -> Result<Self, ToolError> {
        let text = String::from_utf8(bytes).map_err(|source| {
            let place = source.utf8_error().valid_up_to();
            let message = format!(
                "`{path}` is not UTF-8 text (byte {place} is wrong), so it cannot be changed in \
                 place; `read` it with another `encoding` and `write` it anew"
            );
            ToolError::failed_by(message, source)
        })?;
        Ok(match text.strip_prefix(BOM) {
            Some(rest) => Self { bom: true, text: rest.to_owned() },
            None => Self { bom: false, text },
        })
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// `text` as the content of the same file.
    pub(crate) fn encode(&self, text: String) -> Vec<u8> {
        if self.bom { format!("{BOM}{text}").into_bytes() } else { text.into_bytes() }
    }
}

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
}

impl Ending {
    /// The ending of every line, unless there are none or several.
    pub(crate) fn uniform(text: &str) -> Option<Self> {
        match Self::count(text) {
            (0, 0) => None,
            (_, 0) => Some(Self::Lf),
            (0, _) => Some(Self::CrLf),
            _ => None,
        }
    }

    /// The ending most lines have.
    pub(crate) fn usual(text: &str) -> Self {
        let (lf, crlf) = Self::count(text);
        if crlf > lf { Self::CrLf } else { Self::Lf }
    }

    /// The characters.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// `text` with this ending on every line.
    pub(crate) fn apply(self, text: &str) -> String {
        let folded = fold(text);
        match self {
            Self::Lf => folded.into_owned(),
            Self::CrLf => folded.replace('\n', "\r\n"),
        }
    }

    fn count(text: &str) -> (usize, usize) {
        let crlf = text.matches("\r\n").count();
        (text.matches('\n').count() - crlf, crlf)
    }
}

/// `text` with `\n` at the end of every line.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// At most `max` characters of `text`, and a mark if that is not all.
pub(crate) fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_survives() {
        for content in ["\u{feff}a\n", "a\n", ""] {
            let text = Text::decode(&FilePath::new("f"), content.into()).unwrap();
            assert!(!text.as_str().starts_with(BOM));
            assert_eq!(text.encode(text.as_str().to_owned()), content.as_bytes());
        }
        let error = Text::decode(&FilePath::new("f"), b"ab\xff".to_vec()).unwrap_err().to_string();
        assert!(error.contains("byte 2"), "{error}");
    }

    #[test]
    fn knows_how_lines_end() {
        for (text, uniform, usual) in [
            ("", None, Ending::Lf),
            ("a", None, Ending::Lf),
            ("a\nb", Some(Ending::Lf), Ending::Lf),
            ("a\r\nb\r\n", Some(Ending::CrLf), Ending::CrLf),
            ("a\r\nb\r\nc\n", None, Ending::CrLf),
        ] {
            assert_eq!(Ending::uniform(text), uniform, "{text:?}");
            assert_eq!(Ending::usual(text), usual, "{text:?}");
        }
        assert_eq!(Ending::CrLf.apply("a\nb\r\n"), "a\r\nb\r\n");
        assert_eq!(Ending::Lf.apply("a\nb\r\n"), "a\nb\n");
    }

    #[test]
    fn shortens_by_characters() {
        assert_eq!(shorten("äöü", 2), "äö…");
        assert_eq!(shorten("äöü", 3), "äöü");
    }
}
