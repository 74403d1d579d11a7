//! `declare`, `typeset`, `local`, `export` and `readonly`.

use super::{
    Opaque, Word,
    analysis::Value,
    names::{Names, is_name},
};

/// Whether a declaration only sets variables to what is written.
pub(super) fn check(program: &str, arguments: &[Word], names: &mut Names) -> Result<(), Opaque> {
    let refuse = |word: &Word| {
        Err(Opaque(format!("`{program} {}` may evaluate what it is given", word.source)))
    };
    for word in arguments {
        let text = match &word.value {
            Value::Literal(text) => text.as_str(),
            // The reader has seen `name=` before what is not known.
            Value::One if has_name(&word.source) => {
                names.declared();
                continue;
            }
            Value::One | Value::Any => return refuse(word),
        };
        if let Some(letters) = text.strip_prefix('-') {
            if !letters.chars().all(|c| "aAxrgpfF".contains(c)) {
                return refuse(word);
            }
            if letters.contains(['a', 'A']) {
                names.array();
            }
            continue;
        }
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if !is_name(name) || value.starts_with('(') {
            return refuse(word);
        }
        names.assign_other_unless_number(name, value)?;
    }
    Ok(())
}

fn has_name(source: &str) -> bool {
    source.split_once('=').is_some_and(|(name, _)| is_name(name))
}
