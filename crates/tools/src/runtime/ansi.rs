//! What a program sends to a terminal to move, colour and name it.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

/// Sequences with parameters (`ESC [ … m`), strings (`ESC ] … BEL`) and short ones. What is not
/// complete loses its beginning only, so that no text disappears with it.
static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]+[0-~]|[0-~])?",
    )
    .ok()
});

/// The text without them: a model reads words, not colours.
pub(crate) fn strip(text: &str) -> Cow<'_, str> {
    match &*SEQUENCE {
        Some(sequence) if text.contains('\x1b') => sequence.replace_all(text, ""),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn only_the_text_is_left() {
        for (text, expected) in [
            ("plain [31m]", "plain [31m]"),
            ("\x1b[1;31mred\x1b[0m", "red"),
            ("\x1b[?25l\x1b[2K\x1b[38:5:1mx", "x"),
            ("\x1b]0;a title\x07text", "text"),
            ("\x1b]8;;https://example.org/\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bP1$r0m\x1b\\after", "after"),
            ("\x1b(Bcharset\x1b=\x1b7", "charset"),
            ("cut \x1b[3", "cut 3"),
            ("\x1b]0;never ends", "0;never ends"),
            ("end\x1b", "end"),
            ("\x1b[31mgrün", "grün"),
        ] {
            assert_eq!(strip(text), expected, "{text:?}");
        }
    }
}
