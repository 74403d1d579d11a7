//! `find`

use super::runs;
use crate::shell::{Opaque, Word, analysis::Value, found::Found};

/// What takes one argument, which may be anything.
const TESTS: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-iname",
    "-ipath",
    "-iregex",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newer",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-size",
    "-type",
];

pub(super) fn follow(arguments: &[Word], found: &mut Found) -> Result<(), Opaque> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            return Err(Opaque(format!("`{}` may tell `find` to run something", word.source)));
        };
        if TESTS.contains(&text) {
            if words.next().is_some_and(|value| value.value == Value::Any) {
                return Err(Opaque("an unknown word may tell `find` to run something".to_owned()));
            }
        } else if matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir") {
            let ends = |word: &Word| matches!(word.literal(), Some(";" | "+"));
            let command = words.by_ref().take_while(|word| !ends(word)).map(filled);
            let command: Vec<_> = command.collect();
            if command.is_empty() || command.iter().any(|word| word.value == Value::Any) {
                return Err(Opaque("what `find` runs is not known".to_owned()));
            }
            runs("find", command, found)?;
        }
    }
    Ok(())
}

/// Braces become the path that was found.
fn filled(word: &Word) -> Word {
    match word.literal() {
        Some(text) if text.contains("{}") => Word { value: Value::One, ..word.clone() },
        _ => word.clone(),
    }
}
