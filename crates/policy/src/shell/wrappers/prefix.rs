//! Programs that run the rest of their arguments.

use super::runs;
use crate::shell::{Opaque, Word, analysis::Value, found::Found};

/// How the options of one end and the command begins.
struct Prefix {
    name: &'static str,
    /// Letters without a value, and with one.
    flags: &'static str,
    values: &'static str,
    /// Long options without a value, and with one.
    long: &'static [&'static str],
    long_values: &'static [&'static str],
    /// How many arguments stand before the command.
    operands: usize,
}

const fn plain(name: &'static str) -> Prefix {
    Prefix { name, flags: "", values: "", long: &[], long_values: &[], operands: 0 }
}

const PREFIXES: &[Prefix] = &[
    plain("builtin"),
    plain("busybox"),
    Prefix { flags: "p", ..plain("command") },
    Prefix { flags: "bfior", operands: 1, ..plain("chrt") },
    Prefix { flags: "n", values: "u", ..plain("doas") },
    Prefix {
        flags: "i0v",
        values: "uC",
        long: &["ignore-environment", "null", "debug"],
        long_values: &["unset", "chdir"],
        ..plain("env")
    },
    Prefix { flags: "cl", values: "a", ..plain("exec") },
    Prefix { flags: "sxneuoF", values: "wE", operands: 1, ..plain("flock") },
    Prefix { flags: "t", values: "cn", ..plain("ionice") },
    Prefix { flags: "0123456789", values: "n", long_values: &["adjustment"], ..plain("nice") },
    plain("nohup"),
    Prefix { flags: "cfw", long: &["ctty", "fork", "wait"], ..plain("setsid") },
    Prefix { values: "ioe", long_values: &["input", "output", "error"], ..plain("stdbuf") },
    Prefix { flags: "nEHbkSP", values: "ugCDphrt", ..plain("sudo") },
    Prefix { flags: "ac", operands: 1, ..plain("taskset") },
    Prefix { flags: "apqv", values: "fo", ..plain("time") },
    Prefix {
        flags: "v",
        values: "ks",
        long: &["foreground", "preserve-status", "verbose"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..plain("timeout")
    },
    plain("toybox"),
];

/// What `name` runs, if it is one of them.
pub(super) fn follow(name: &str, arguments: &[Word], found: &mut Found) -> Result<(), Opaque> {
    let Some(prefix) = PREFIXES.iter().find(|prefix| prefix.name == name) else { return Ok(()) };
    // `command -v` only says where a program is.
    let asks = |word: &Word| matches!(word.literal(), Some("-v" | "-V"));
    if name == "command" && arguments.first().is_some_and(asks) {
        return Ok(());
    }
    let rest = prefix.options(arguments)?;
    let known = |word: &Word| word.value != Value::Any;
    let operands = rest.iter().take_while(|word| known(word)).take(prefix.operands).count();
    let rest = rest.get(operands..).unwrap_or_default();
    let rest = if matches!(name, "env" | "sudo") { assignments(rest, found)? } else { rest };
    if rest.is_empty() {
        return Ok(());
    }
    if operands < prefix.operands
        || rest.first().and_then(Word::literal).is_none_or(|text| text.starts_with('-'))
    {
        return prefix.refuse();
    }
    runs(name, rest.to_vec(), found)
}

/// Variables before the command.
fn assignments<'a>(mut words: &'a [Word], found: &mut Found) -> Result<&'a [Word], Opaque> {
    while let Some((first, rest)) = words.split_first() {
        let Some((name, value)) = first.literal().and_then(|text| text.split_once('=')) else {
            break;
        };
        found.names.assign_other_unless_number(name, value)?;
        words = rest;
    }
    Ok(words)
}

impl Prefix {
    fn refuse<T>(&self) -> Result<T, Opaque> {
        Err(Opaque(format!("what `{}` runs cannot be told from its arguments", self.name)))
    }

    /// What follows the options.
    fn options<'a>(&self, arguments: &'a [Word]) -> Result<&'a [Word], Opaque> {
        let mut words = arguments;
        while let Some((first, rest)) = words.split_first() {
            let Some(text) = first.literal() else { return self.refuse() };
            if text == "--" {
                return Ok(rest);
            }
            let takes_next = match text.strip_prefix("--") {
                Some(long) => self.long(long)?,
                None if text == "-" && self.name == "env" => false,
                None => match text.strip_prefix('-') {
                    Some(letters) => self.letters(letters)?,
                    None => return Ok(words),
                },
            };
            words = rest;
            if takes_next {
                match words.split_first() {
                    Some((value, rest)) if value.value != Value::Any => words = rest,
                    _ => return self.refuse(),
                }
            }
        }
        Ok(words)
    }

    /// Whether the next word is the value of this long option.
    fn long(&self, long: &str) -> Result<bool, Opaque> {
        match long.split_once('=') {
            Some((name, _)) if self.long_values.contains(&name) => Ok(false),
            None if self.long_values.contains(&long) => Ok(true),
            None if self.long.contains(&long) => Ok(false),
            _ => self.refuse(),
        }
    }

    /// Whether the next word is the value of the last of these letters.
    fn letters(&self, letters: &str) -> Result<bool, Opaque> {
        let mut rest = letters.chars();
        if letters.is_empty() {
            return self.refuse();
        }
        while let Some(letter) = rest.next() {
            if self.values.contains(letter) {
                return Ok(rest.as_str().is_empty());
            }
            if !self.flags.contains(letter) {
                return self.refuse();
            }
        }
        Ok(false)
    }
}
