//! `xargs`

use super::runs;
use crate::shell::{Opaque, Word, analysis::Value, found::Found};

pub(super) fn follow(arguments: &[Word], found: &mut Found) -> Result<(), Opaque> {
    let refuse = || Err(Opaque("what `xargs` runs cannot be told from its arguments".to_owned()));
    let (mut words, mut replaced) = (arguments, None);
    while let Some((first, rest)) = words.split_first() {
        let Some(text) = first.literal() else { return refuse() };
        let Some(option) = text.strip_prefix('-').filter(|option| !option.is_empty()) else {
            break;
        };
        words = rest;
        match option {
            "-" => break,
            "0" | "r" | "t" | "x" | "0r" | "r0" | "-null" | "-no-run-if-empty" | "-verbose" => {}
            "n" | "P" | "L" | "d" | "s" | "E" | "I" => {
                let Some((value, rest)) = words.split_first() else { return refuse() };
                let Some(value) = value.literal() else { return refuse() };
                if option == "I" {
                    replaced = Some(value);
                }
                words = rest;
            }
            _ if option.starts_with('I') => replaced = option.strip_prefix('I'),
            _ if option.starts_with(['n', 'P', 'L', 'd', 's']) => {}
            _ => return refuse(),
        }
    }
    if words.is_empty() {
        return Ok(());
    }
    runs("xargs", completed(words, replaced), found)
}

/// The command with what `xargs` puts into it.
fn completed(words: &[Word], replaced: Option<&str>) -> Vec<Word> {
    let Some(mark) = replaced else {
        let more = Word { source: "…".to_owned(), value: Value::Any };
        return words.iter().cloned().chain([more]).collect();
    };
    let filled = |word: &Word| match word.literal() {
        Some(text) if text.contains(mark) => Word { value: Value::One, ..word.clone() },
        _ => word.clone(),
    };
    words.iter().map(filled).collect()
}
