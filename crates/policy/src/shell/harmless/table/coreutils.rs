//! Programs that say something and read no files.

use super::super::{
    Operands,
    entry::{Arguments, Entry, UnknownWords},
    path,
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("arch", "").with(&["arch"], &["arch x"]),
    Entry::new("basename", "-a -s:text -z --multiple --suffix:text --zero")
        .taking(Operands::Text)
        .with(&["basename src/a.rs .rs"], &["basename --x a"]),
    Entry::new("date", "-u -R -I?text -d:text --date:text --utc --universal --rfc-email --iso-8601?text --rfc-3339:text")
        .taking(Operands::Text)
        .at_most(1)
        .checked(date)
        .with(
            &["date", "date +%F", "date -u -d yesterday +%s", "date -Iseconds"],
            &["date -s 2020-01-01", "date --set=x", "date -f list", "date 010100002020", "date -r a"],
        ),
    Entry::new("dirname", "-z --zero").taking(Operands::Text).with(&["dirname a/b"], &["dirname --x a"]),
    Entry::new("[", "").reading(bracket).with_unknown(UnknownWords::Anywhere).with(&["[ -f a ]", "[ a = b ] && ls"], &["[ -f /etc/shadow ]", "[ a", "[ -n $(touch x) ]"]),
    // What it prints goes to the caller, who could have printed it.
    Entry::new("echo", "").reading(as_it_is).with_unknown(UnknownWords::Anywhere).with(&["echo hello", "echo -n a", "echo a -- -b"], &["echo $(touch x)", "echo a > b", "echo ${x@P}"]),
    Entry::new("env", "").finding().with(&["env", "env | wc -l"], &["env ls", "env A=b", "env -S ls"]),
    Entry::new("expr", "").reading(as_it_is).with_unknown(UnknownWords::Anywhere).with(&["expr 1 + -2"], &["expr $(touch x) + 1"]),
    Entry::new("false", "").with(&["false"], &["false; touch x"]),
    Entry::new("nproc", "--all --ignore:text").with(&["nproc", "nproc --all"], &["nproc x"]),
    Entry::new("printf", "").reading(printf).with_unknown(UnknownWords::Anywhere).with(&["printf '%s\\n' -a"], &["printf -v x y", "printf $(touch x)"]),
    Entry::new("pwd", "-L -P").with(&["pwd", "pwd -P"], &["pwd x"]),
    Entry::new("seq", "-f:text -s:text -w --format:text --separator:text --equal-width")
        .taking(Operands::Text)
        .at_most(3)
        .with(&["seq 5", "seq -s, 1 5"], &["seq 1 2 3 4"]),
    Entry::new("test", "").reading(test).with_unknown(UnknownWords::Anywhere).with(&["test a = b", "test -f a"], &["test -f /etc/shadow", "test -d ../x"]),
    Entry::new("true", "").with(&["true", "true && false"], &["true &"]),
];

/// An operand of `date` that is no format sets the clock.
fn date(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|operand| !operand.starts_with('+')) {
        Some(_) => Err("`date` with an argument sets the clock".to_owned()),
        None => Ok(()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all that read arguments")]
fn as_it_is(words: &[String]) -> Result<Vec<String>, String> {
    Ok(words.to_vec())
}

/// The shell's own would set a variable.
fn printf(words: &[String]) -> Result<Vec<String>, String> {
    if words.first().is_some_and(|first| first.starts_with('-')) {
        return Err("`printf` with an option is not known to be harmless".to_owned());
    }
    as_it_is(words)
}

fn bracket(words: &[String]) -> Result<Vec<String>, String> {
    match words.split_last() {
        Some((last, rest)) if last == "]" => test(rest).map(|_| words.to_vec()),
        _ => Err("`]` is missing".to_owned()),
    }
}

/// Whether something exists is told for the workspace only.
fn test(words: &[String]) -> Result<Vec<String>, String> {
    let mut paths = words.iter().filter(|word| word.contains('/') || word.starts_with(['~', '.']));
    paths.try_for_each(|word| path::check(word))?;
    as_it_is(words)
}
