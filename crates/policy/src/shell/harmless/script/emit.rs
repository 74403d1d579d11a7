//! Writes words for a shell.

use super::super::unknown;

/// A word with every literal part quoted and every expansion in its place.
pub(super) fn word(text: &str, expansions: &[String]) -> String {
    let (mut written, mut literal) = (String::new(), String::new());
    for letter in text.chars() {
        match unknown::index_of(letter).and_then(|index| expansions.get(index)) {
            Some(expansion) => {
                flush(&mut literal, &mut written);
                written.push_str(expansion);
            }
            None => literal.push(letter),
        }
    }
    flush(&mut literal, &mut written);
    if written.is_empty() { "''".to_owned() } else { written }
}

fn flush(literal: &mut String, written: &mut String) {
    if !literal.is_empty() {
        written.push_str(&quoted(literal));
        literal.clear();
    }
}

/// A literal text that means nothing but itself.
pub(super) fn quoted(text: &str) -> String {
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | ':');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
