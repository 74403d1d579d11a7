//! Names that callers choose, short enough to be told to everybody and kept for good.

use crate::{redactor::Redactor, shared::Shared};

/// So many bytes of such a name are kept. Those of tools are far shorter, so none is taken for another one.
const MOST_BYTES: usize = 256;

/// The name of a tool, as a caller wrote it.
pub(crate) fn name(name: String, shared: &Shared) -> String {
    if name.len() <= MOST_BYTES {
        return name;
    }
    let settings = shared.settings.load();
    cut(&name, whole_secrets(&name, &settings.redactor))
}

/// What a caller calls a call, or what belongs to it.
pub(crate) fn id(id: String) -> String {
    if id.len() <= MOST_BYTES {
        return id;
    }
    cut(&id, id.floor_char_boundary(MOST_BYTES))
}

/// Where to cut so that no half of a secret is left, which nobody would find any more.
fn whole_secrets(name: &str, redactor: &Redactor) -> usize {
    let seen = name.floor_char_boundary(MOST_BYTES + redactor.hold_back());
    let beginning = name.get(..seen).unwrap_or_default();
    redactor.before_secret(beginning, name.floor_char_boundary(MOST_BYTES))
}

fn cut(text: &str, at: usize) -> String {
    format!("{}…", text.get(..at).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        for (given, expected) in [
            (String::new(), String::new()),
            ("x".repeat(256), "x".repeat(256)),
            ("x".repeat(257), format!("{}…", "x".repeat(256))),
            (format!("x{}", "ä".repeat(200)), format!("x{}…", "ä".repeat(127))),
        ] {
            assert_eq!(id(given), expected);
        }
    }

    #[test]
    fn no_half_of_a_secret_is_left_where_a_name_is_cut() {
        let redactor = Redactor::new(b"key", [("token".to_owned(), "swordfish".to_owned())]);
        let name = |before: usize| format!("{}swordfish and more", "x".repeat(before));
        for (before, at) in [(240, 256), (247, 256), (248, 248), (255, 255), (256, 256)] {
            assert_eq!(whole_secrets(&name(before), &redactor), at, "{before}");
        }
    }
}
