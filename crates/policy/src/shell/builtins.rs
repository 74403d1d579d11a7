//! Builtins that run what their arguments hold, or change how the rest is read.

use super::{
    Command, Opaque, Word,
    analysis::Value,
    declare,
    names::{Names, is_name, is_number},
};

/// Those that are not followed.
const NOT_FOLLOWED: &[&str] = &[
    ".", "alias", "bind", "compgen", "complete", "compopt", "enable", "fc", "getopts", "hash",
    "history", "let", "shopt", "source", "unalias",
];

/// Options of `set` that change nothing about what runs.
const SET_OPTIONS: &[&str] =
    &["errexit", "errtrace", "noclobber", "noglob", "nounset", "pipefail", "xtrace"];

/// Whether `command` can be followed as far as the shell itself is concerned.
pub(super) fn check(command: &Command, names: &mut Names) -> Result<(), Opaque> {
    let Some((first, arguments)) = command.words.split_first() else { return Ok(()) };
    let Some(program) = first.literal() else {
        return Err(Opaque(format!("which program `{}` is cannot be known", first.source)));
    };
    if NOT_FOLLOWED.contains(&program) {
        return Err(Opaque(format!("what `{program}` does is not followed")));
    }
    let followed = match program {
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            return declare::check(program, arguments, names);
        }
        "[" | "test" => test(arguments),
        "jobs" => {
            arguments.iter().all(|word| word.literal().is_some_and(|text| !text.contains('x')))
        }
        "mapfile" | "readarray" => mapfile(arguments, names)?,
        "printf" => printf(arguments, names)?,
        "read" => read(arguments, names)?,
        "set" => set(arguments),
        "unset" => arguments.iter().all(is_plain_name),
        "wait" => wait(arguments),
        _ => true,
    };
    if followed {
        return Ok(());
    }
    Err(Opaque(format!("`{program}` may evaluate what its arguments hold")))
}

fn is_plain_name(word: &Word) -> bool {
    word.literal().is_some_and(|text| is_name(text) || matches!(text, "-v" | "-f"))
}

/// `-v` evaluates the subscript of what follows, so no unknown word may turn out to be `-v`.
fn test(arguments: &[Word]) -> bool {
    let arguments = match arguments.split_last() {
        Some((last, rest)) if last.literal() == Some("]") => rest,
        _ => arguments,
    };
    let literals: Option<Vec<_>> = arguments.iter().map(Word::literal).collect();
    if let Some(literals) = literals {
        let named = literals.iter().any(|text| matches!(*text, "-v" | "-R"));
        return !named || literals.iter().all(|text| !text.contains('['));
    }
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first.literal() == Some("!") => rest,
        _ => arguments,
    };
    let one = |word: &Word| word.value != Value::Any;
    let operator = |word: &Word| {
        let text = word.literal().unwrap_or_default();
        text.starts_with(['-', '=', '!', '<', '>'])
            && text.len() > 1
            && !matches!(text, "-v" | "-R" | "-a" | "-o")
            || matches!(text, "=" | "<" | ">")
    };
    arguments.iter().all(one)
        && match arguments {
            [_] => true,
            [first, _] | [_, first, _] => operator(first),
            _ => false,
        }
}

fn mapfile(arguments: &[Word], names: &mut Names) -> Result<bool, Opaque> {
    names.array();
    let Some((name, options)) = arguments.split_last() else { return Ok(true) };
    let Some(name) = name.literal().filter(|name| is_name(name)) else { return Ok(false) };
    names.assign_other(name)?;
    Ok(options.iter().all(|word| word.literal() == Some("-t")))
}

fn printf(arguments: &[Word], names: &mut Names) -> Result<bool, Opaque> {
    let Some((first, rest)) = arguments.split_first() else { return Ok(true) };
    match (&first.value, rest) {
        (Value::Literal(text), _) if text == "-v" => {
            let name = rest.first().and_then(Word::literal).filter(|name| is_name(name));
            let Some(name) = name else { return Ok(false) };
            names.assign_other(name)?;
            Ok(true)
        }
        (Value::Literal(text), _) => Ok(!text.starts_with("-v")),
        (Value::One, []) => Ok(true),
        (Value::One | Value::Any, _) => Ok(false),
    }
}

fn read(arguments: &[Word], names: &mut Names) -> Result<bool, Opaque> {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return Ok(false) };
        match text {
            "-r" | "-s" | "-rs" | "-sr" => {}
            "-p" | "-n" | "-t" | "-d" | "-rp" | "-rn" | "-rd" => {
                if words.next().is_none_or(|value| value.value == Value::Any) {
                    return Ok(false);
                }
            }
            "-a" | "-ra" => names.array(),
            name if is_name(name) => names.assign_other(name)?,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn set(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return false };
        let Some(letters) = text.strip_prefix(['-', '+']) else { return true };
        if letters == "-" {
            return true;
        }
        if letters.is_empty() || !letters.chars().all(|c| "eufxCEo".contains(c)) {
            return false;
        }
        let option = |word: &Word| word.literal().is_some_and(|name| SET_OPTIONS.contains(&name));
        if letters.contains('o') && !words.next().is_some_and(option) {
            return false;
        }
    }
    true
}

fn wait(arguments: &[Word]) -> bool {
    let plain = |word: &Word| word.source == "$!" || word.literal().is_some_and(is_number);
    match arguments {
        [one] => plain(one) || one.value == Value::One || one.literal() == Some("-n"),
        _ => arguments.iter().all(plain),
    }
}
