//! Names that every provider allows, and the way back.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use tool::Digest;

/// The longest name every provider takes.
const MAX_CHARS: usize = 64;
/// Digits of a digest that tell names apart which look alike once they are mapped.
const DIGITS: usize = 8;

/// Our names and the ones a provider sees: `[a-zA-Z_][a-zA-Z0-9_-]{0,63}`.
///
/// A name that fits is itself. Another gets a mapped name that depends on nothing but itself, so
/// that it stays the same when a second plugin comes; only a clash makes it longer.
#[derive(Debug, Clone, Default)]
pub struct Names {
    outward: HashMap<String, String>,
    inward: HashMap<String, String>,
}

impl Names {
    /// The mapping for these names.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let (fit, odd): (BTreeSet<_>, BTreeSet<_>) = names.partition(|name| is_plain(name));
        let mut mapping = Self::default();
        // In name order, so that a clash ends the same whatever the order of the tools.
        for name in odd {
            let free =
                |wire: &String| !fit.contains(wire.as_str()) && !mapping.inward.contains_key(wire);
            let wire = (DIGITS..=MAX_CHARS).map(|digits| mapped(name, digits)).find(free);
            let Some(wire) = wire else { continue };
            mapping.inward.insert(wire.clone(), name.to_owned());
            mapping.outward.insert(name.to_owned(), wire);
        }
        mapping
    }

    /// What a provider calls our `name`.
    pub fn outward<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        self.outward.get(name).map_or_else(|| wire_name(name), |wire| Cow::Borrowed(wire))
    }

    /// What we call a provider's `wire` name; one that is not ours comes back as it is.
    pub fn inward<'a>(&'a self, wire: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(self.inward.get(wire).map_or(wire, String::as_str))
    }
}

/// What a provider calls `name`, if no other name is in the way.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    if is_plain(name) { Cow::Borrowed(name) } else { Cow::Owned(mapped(name, DIGITS)) }
}

/// What a provider calls a parameter: dots are fine there, and digits at the start.
pub(crate) fn wire_key(name: &str) -> Cow<'_, str> {
    let plain = (1..=MAX_CHARS).contains(&name.len())
        && name.bytes().all(|byte| is_allowed(byte) || byte == b'.');
    if plain { Cow::Borrowed(name) } else { Cow::Owned(mapped(name, DIGITS)) }
}

fn is_plain(name: &str) -> bool {
    (1..=MAX_CHARS).contains(&name.len())
        && name.bytes().all(is_allowed)
        && !name.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

const fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// As much of the name as can stay, and a digest of the whole.
fn mapped(name: &str, digits: usize) -> String {
    let digest: String = Digest::of(name).to_string().chars().take(digits).collect();
    let allowed = |c: char| u8::try_from(c).is_ok_and(is_allowed);
    let kept = name.chars().map(|c| if allowed(c) { c } else { '_' });
    let kept: String = kept.take(MAX_CHARS.saturating_sub(digits + 2)).collect();
    let kept = kept.trim_end_matches('_');
    let starts_well = kept.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let first = if starts_well { "" } else { "_" };
    format!("{first}{kept}_{digest}").chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_fits_is_itself_and_another_says_what_it_is() {
        let names = Names::new(["read", "github.create_issue", "日本/x", "7up"].into_iter());
        for (name, expected) in [
            ("read", "read"),
            ("github.create_issue", "github_create_issue_e877a647"),
            ("日本/x", "___x_cc7c2219"),
            ("7up", "_7up_be39b1e7"),
        ] {
            let wire = names.outward(name);
            assert_eq!(names.inward(&wire), name);
            assert_eq!(wire, expected);
        }
    }

    #[test]
    fn a_tool_that_has_anothers_mapped_name_keeps_it() {
        let taken = wire_name("a.b").into_owned();
        let names = Names::new(["a.b", taken.as_str(), "a/b"].into_iter());
        assert_eq!(names.outward(&taken), taken);
        assert_ne!(names.outward("a.b"), taken);
        assert_eq!(names.inward(&names.outward("a.b")), "a.b");
        assert_eq!(names.inward(&names.outward("a/b")), "a/b");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_set_of_names_survives_the_round_trip(list in prop::collection::vec(any::<String>(), 0..20)) {
            let names = Names::new(list.iter().map(String::as_str));
            for name in &list {
                let wire = names.outward(name);
                prop_assert!(is_plain(&wire), "{}", wire);
                prop_assert_eq!(names.inward(&wire), name.as_str());
                let reversed = Names::new(list.iter().rev().map(String::as_str));
                prop_assert_eq!(reversed.outward(name), wire);
            }
        }
    }
}
