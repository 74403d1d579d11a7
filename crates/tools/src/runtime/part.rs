//! A part of a longer text, with no half of a secret in it.

use tool::Redact;

/// How much around a part is looked at, so that a secret that its ends would cut in two is seen whole.
pub(crate) const MARGIN: usize = 8 * 1024;

/// `text`, without secrets that begin in `before` or go on in `after`: their marks are in it whole.
pub(crate) fn within(before: &str, text: &str, after: &str, redact: &dyn Redact) -> String {
    let whole = [before, text, after].concat();
    let clean = redact.redact(&whole);
    if *clean == *whole {
        return text.to_owned();
    }
    // Where a secret is cut, what is outside looks different without the rest: the part begins, or
    // ends, at the mark.
    let (before, after) = (redact.redact(before), redact.redact(after));
    let start = same(clean.chars(), before.chars());
    let end = clean.len() - same(clean.chars().rev(), after.chars().rev());
    clean.get(start..end).unwrap_or_default().to_owned()
}

/// How many bytes two texts have in common.
fn same(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// The last place at or before `at` where no character is cut in two.
pub(crate) fn floor(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    // What has more continuing bytes than any character is not text, and can be cut anywhere.
    (at.saturating_sub(3)..=at).rev().find(|at| !continues(bytes, *at)).unwrap_or(at)
}

/// The first place at or after `at` where no character is cut in two.
pub(crate) fn ceil(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    (at..=at + 3).find(|at| !continues(bytes, *at)).unwrap_or(at)
}

fn continues(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80)
}

/// How much of `bytes` there is without a character whose end is missing.
pub(crate) fn whole(bytes: &[u8]) -> usize {
    let last = floor(bytes, bytes.len().saturating_sub(1));
    let length = match bytes.get(last) {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF7) => 4,
        _ => 1,
    };
    if last + length > bytes.len() { last } else { bytes.len() }
}

/// The bytes as text, whatever they are.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[derive(Debug)]
    struct Secret;

    impl Redact for Secret {
        fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
            text.replace("hunter2", "⟦x⟧").into()
        }
    }

    #[test]
    fn a_secret_at_an_end_is_taken_out_whole() {
        for (before, text, after, expected) in [
            ("a ", "b", " c", "b"),
            ("hunter2 ", "b hunter2 b", " hunter2", "b ⟦x⟧ b"),
            ("a hunt", "er2 b", "", "⟦x⟧ b"),
            ("", "a hun", "ter2 c", "a ⟦x⟧"),
            ("a hu", "nt", "er2 c", "⟦x⟧"),
            ("hunter2 hun", "ter2 hunter2 h", "unter2 hunter2", "⟦x⟧ ⟦x⟧ ⟦x⟧"),
            ("hunter2", "", "hunter2", ""),
        ] {
            let part = within(before, text, after, &Secret);
            assert_eq!(part, expected, "{before:?} {text:?} {after:?}");
        }
    }

    #[test]
    fn a_cut_is_between_characters() {
        let text = "aü€😀".as_bytes();
        let floors: Vec<_> = (0..=text.len() + 1).map(|at| floor(text, at)).collect();
        assert_eq!(floors, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
        let ceils: Vec<_> = (0..=text.len()).map(|at| ceil(text, at)).collect();
        assert_eq!(ceils, [0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10]);
        let wholes: Vec<_> = (0..=text.len()).map(|end| whole(&text[..end])).collect();
        assert_eq!(wholes, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        assert_eq!((whole(b"\xff\xfe"), whole(b"\x80\x80\x80\x80\x80")), (2, 5));
        assert_eq!(floor(b"\x80\x80\x80\x80\x80", 4), 4);
    }
}
