//! Variables that arithmetic looks into. Bash evaluates what they hold, and an array subscript in
//! there runs commands; so their values must be known to be numbers.

use std::collections::BTreeSet;

use super::{Opaque, Word, analysis::Value};

/// Variables that always hold a number: what is assigned to them is evaluated first.
const NUMBERS: &[&str] = &[
    "BASHPID", "EUID", "HISTCMD", "LINENO", "OPTIND", "PPID", "RANDOM", "SECONDS", "SRANDOM", "UID",
];

/// Variables that change what runs, or how the rest of the line is read.
const DECISIVE: &[&str] = &[
    "BASHOPTS",
    "ENV",
    "EXECIGNORE",
    "PATH",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "SHELL",
    "SHELLOPTS",
];
const DECISIVE_STARTS: &[&str] = &["BASH_", "LD_"];

/// What a line does with its variables.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: BTreeSet<String>,
    others: BTreeSet<String>,
    looked_into: BTreeSet<String>,
    arrays: bool,
    declared: bool,
}

impl Names {
    /// `name` gets the value of `word`.
    pub(super) fn assign(&mut self, name: &str, word: &Word) -> Result<(), Opaque> {
        let number = match &word.value {
            Value::Literal(text) => is_number(text),
            Value::One | Value::Any => {
                word.source.starts_with("$((")
                    && word.source.find("))") == word.source.len().checked_sub(2)
                    || is_range(&word.source)
            }
        };
        if number { self.assign_number(name) } else { self.assign_other(name) }
    }

    /// `name` gets a number.
    pub(super) fn assign_number(&mut self, name: &str) -> Result<(), Opaque> {
        decisive(name)?;
        self.numbers.insert(name.to_owned());
        Ok(())
    }

    /// `name` gets something that may not be a number.
    pub(super) fn assign_other(&mut self, name: &str) -> Result<(), Opaque> {
        decisive(name)?;
        if NUMBERS.contains(&name) {
            return Err(Opaque(format!("what is assigned to `{name}` is evaluated")));
        }
        self.others.insert(name.to_owned());
        Ok(())
    }

    /// `name` gets the text `value`, or keeps what it has if that is empty.
    pub(super) fn assign_other_unless_number(
        &mut self,
        name: &str,
        value: &str,
    ) -> Result<(), Opaque> {
        if value.is_empty() {
            return decisive(name);
        }
        if is_number(value) { self.assign_number(name) } else { self.assign_other(name) }
    }

    /// Some variable becomes an array.
    pub(super) const fn array(&mut self) {
        self.arrays = true;
    }

    /// A declaration sets a variable to what is not known.
    pub(super) const fn declared(&mut self) {
        self.declared = true;
    }

    /// Arithmetic looks into `name`.
    pub(super) fn look_into(&mut self, name: &str) {
        self.looked_into.insert(name.to_owned());
    }

    /// Whether all that is looked into is known to be a number.
    pub(super) fn check(&self) -> Result<(), Opaque> {
        let unknown = |name: &&String| {
            let number = self.numbers.contains(*name) || NUMBERS.contains(&name.as_str());
            !number || self.others.contains(*name)
        };
        if let Some(name) = self.looked_into.iter().find(unknown) {
            let why = "arithmetic evaluates the content of";
            return Err(Opaque(format!("{why} `{name}`, which is not known to be a number")));
        }
        // `declare x="$y"` evaluates what is in `y` if `x` is an array.
        if self.arrays && self.declared {
            let why = "a declaration with an unknown value may fill an array and run commands";
            return Err(Opaque(why.to_owned()));
        }
        Ok(())
    }
}

/// Whether `name` is one that a line may set and still be read.
fn decisive(name: &str) -> Result<(), Opaque> {
    let found =
        DECISIVE.contains(&name) || DECISIVE_STARTS.iter().any(|start| name.starts_with(start));
    if found {
        return Err(Opaque(format!("it sets `{name}`, which changes what runs")));
    }
    Ok(())
}

/// Whether `text` is a name that can be a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Whether `text` is a plain number.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() < 19 && digits.chars().all(|c| c.is_ascii_digit())
}

/// `{1..5}`
fn is_range(source: &str) -> bool {
    let inner = source.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner
        .and_then(|inner| inner.split_once(".."))
        .is_some_and(|(a, b)| is_number(a) && is_number(b))
}
