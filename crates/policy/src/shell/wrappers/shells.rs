//! `sh -c` and its like.

use crate::shell::{Opaque, Within, Word, found::Found, parse};

/// Options that change nothing about what runs. A login shell reads the files of the machine's
/// owner first; those are protected.
const LETTERS: &str = "abefhmntuvxBCEHPTlc";
const LONG: &[&str] = &["--login", "--noprofile", "--norc"];
const OPTIONS: &[&str] = &["errexit", "nounset", "pipefail", "xtrace", "noglob", "noclobber"];

pub(super) fn follow(name: &str, arguments: &[Word], found: &mut Found) -> Result<(), Opaque> {
    let refuse = |why: &str| Err(Opaque(format!("`{name}` {why}")));
    let (mut command, mut words) = (false, arguments.iter());
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else { return refuse("runs something that is not known") };
        if matches!(text, "--version" | "--help") {
            return Ok(());
        }
        let operand = !text.starts_with(['-', '+']) || text == "-";
        if operand && command {
            return parse::inner(text, Within::Wrapper(name.to_owned()), found);
        }
        if operand {
            return refuse("runs a script, whose content is not known");
        }
        if LONG.contains(&text) || (text == "--" && command) {
            continue;
        }
        let letters = text.trim_start_matches(['-', '+']);
        if text.starts_with("--") || letters.chars().any(|c| c != 'o' && !LETTERS.contains(c)) {
            return refuse("has an option that is not followed");
        }
        let option = |word: &Word| word.literal().is_some_and(|text| OPTIONS.contains(&text));
        if letters.contains('o') && !words.next().is_some_and(option) {
            return refuse("has an option that is not followed");
        }
        command |= letters.contains('c') && text.starts_with('-');
    }
    refuse("runs what it reads")
}
