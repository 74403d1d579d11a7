//! Takes a request apart: what is to be done one after the other, and what together.

use super::wish::{self, Wish};

/// More than anybody asks for at once.
const MOST: usize = 50;

/// What was not understood, and what was.
#[derive(Debug, PartialEq)]
pub(super) struct Unclear {
    /// The first part that makes no sense to us; empty if nobody said anything.
    pub(super) part: String,
    /// How many parts do.
    pub(super) clear: usize,
}

/// Wishes that are done together, group after group.
pub(super) type Groups = Vec<Vec<Wish>>;

/// Every wish in a request, or the part that is not understood.
pub(super) fn understood(request: &str) -> Result<Groups, Unclear> {
    let mut groups: Groups = vec![Vec::new()];
    let (mut rest, mut clear, mut unclear) = (request.trim(), 0, None);
    while !rest.is_empty() && clear < MOST {
        let (wish, part, after) = if let Some((wish, after)) = wish::direct(rest) {
            (Some(wish), rest, after)
        } else {
            let (part, after) = until_separator(rest);
            (wish::read(part), part, after)
        };
        match wish {
            Some(wish) => {
                clear += 1;
                groups.last_mut().into_iter().for_each(|group| group.push(wish.clone()));
            }
            None if part.trim().is_empty() => {}
            None => unclear = unclear.or(Some(part.trim().to_owned())),
        }
        let (join, next) = separator(after).unwrap_or((Join::Then, after));
        if join == Join::Then && groups.last().is_some_and(|group| !group.is_empty()) {
            groups.push(Vec::new());
        }
        rest = next.trim_start();
    }
    groups.retain(|group| !group.is_empty());
    match unclear {
        Some(part) => Err(Unclear { part, clear }),
        None if groups.is_empty() => Err(Unclear { part: String::new(), clear: 0 }),
        None => Ok(groups),
    }
}

/// How two parts belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    /// One after the other.
    Then,
    /// At once.
    Also,
}

const SEPARATORS: &[(&str, Join)] = &[
    ("\n", Join::Then),
    (", and then ", Join::Then),
    (" and then ", Join::Then),
    (", then ", Join::Then),
    ("; then ", Join::Then),
    (", and also ", Join::Also),
    (" and also ", Join::Also),
];

/// The separator that `text` begins with, and what follows it.
fn separator(text: &str) -> Option<(Join, &str)> {
    SEPARATORS.iter().find_map(|(words, join)| {
        let begins = text.get(..words.len())?.eq_ignore_ascii_case(words);
        begins.then(|| (*join, text.get(words.len()..).unwrap_or_default()))
    })
}

/// What comes before the first separator that is not in quotes, and the rest.
fn until_separator(text: &str) -> (&str, &str) {
    let mut closes_at = 0;
    for (at, letter) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if at < closes_at {
            continue;
        }
        if matches!(letter, '"' | '`') {
            // A quote that nobody closes is none.
            let inside = rest.get(1..).unwrap_or_default();
            closes_at = inside.find(letter).map_or(0, |end| at + 1 + end + 1);
        } else if separator(rest).is_some() {
            return (text.get(..at).unwrap_or_default(), rest);
        }
    }
    (text, "")
}
