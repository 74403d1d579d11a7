//! Words that the shell completes when the line runs.
//!
//! In a word that is judged, one character of a private range stands for each expansion. Which range
//! it is from says what the expansion may become.

/// A quoted variable or substitution: any text, and no further words.
const ONE: std::ops::Range<u32> = 0xE000..0xE400;
/// The same without quotes: any number of words, each any text.
const MANY: std::ops::Range<u32> = 0xE400..0xE800;
/// A pattern: any number of paths that exist, with the literal parts of the word.
const GLOB: std::ops::Range<u32> = 0xE800..0xEC00;

/// What an expansion may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpansionKind {
    One,
    Many,
    Glob,
}

/// The character that stands for expansion number `index`.
pub(super) fn mark(kind: ExpansionKind, index: usize) -> Option<char> {
    let range = match kind {
        ExpansionKind::One => ONE,
        ExpansionKind::Many => MANY,
        ExpansionKind::Glob => GLOB,
    };
    let at = range.start.checked_add(u32::try_from(index).ok()?)?;
    range.contains(&at).then(|| char::from_u32(at)).flatten()
}

/// The number of the expansion that `letter` stands for.
pub(super) fn index_of(letter: char) -> Option<usize> {
    let at = u32::from(letter);
    let range = [ONE, MANY, GLOB].into_iter().find(|range| range.contains(&at))?;
    usize::try_from(at - range.start).ok()
}

/// Whether a line has none of these characters itself.
pub(super) fn is_free(line: &str) -> bool {
    !line.chars().any(|letter| (0xE000..=0xF8FF).contains(&u32::from(letter)))
}

/// Whether the whole word is known.
pub(super) fn is_known(word: &str) -> bool {
    word.chars().all(|letter| index_of(letter).is_none())
}

/// Whether it may become more words than one, or none.
pub(super) fn may_split(word: &str) -> bool {
    word.chars()
        .any(|letter| MANY.contains(&u32::from(letter)) || GLOB.contains(&u32::from(letter)))
}

/// Whether it may start with any character.
pub(super) fn starts_unknown(word: &str) -> bool {
    word.chars().next().is_none_or(|letter| index_of(letter).is_some())
}

/// Whether every expansion in it is a pattern, so that it becomes names of files that are there.
pub(super) fn is_pattern(word: &str) -> bool {
    word.chars().all(|letter| index_of(letter).is_none() || GLOB.contains(&u32::from(letter)))
}

/// Whether a path with a pattern in it can match `..`, which older shells let `.*` do.
pub(super) fn may_leave(word: &str) -> bool {
    let hidden = |part: &str| part.strip_prefix('.').is_some_and(starts_unknown) && part.len() > 1;
    word.split('/').any(hidden)
}
