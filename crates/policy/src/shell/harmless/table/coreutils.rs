//! Programs that say something and read no files.

use super::super::{
    Operands,
    entry::{Arguments, Entry},
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
    // What it prints goes to the caller, who could have printed it.
    Entry::new("echo", "-n -e -E").taking(Operands::Text).checked(anything).with(&["echo hello", "echo -n a"], &["echo $x", "echo *", "echo a > b"]),
    Entry::new("env", "").with(&["env", "env | wc -l"], &["env ls", "env A=b", "env -S ls"]),
    Entry::new("expr", "").taking(Operands::Text).with(&["expr 1 + 2"], &["expr $x + 1"]),
    Entry::new("false", "").with(&["false"], &["false; touch x"]),
    Entry::new("nproc", "--all --ignore:text").with(&["nproc", "nproc --all"], &["nproc x"]),
    Entry::new("printf", "").taking(Operands::Text).with(&["printf '%s\\n' a"], &["printf -v x y", "printf $x"]),
    Entry::new("pwd", "-L -P").with(&["pwd", "pwd -P"], &["pwd x"]),
    Entry::new("seq", "-f:text -s:text -w --format:text --separator:text --equal-width")
        .taking(Operands::Text)
        .at_most(3)
        .with(&["seq 5", "seq -s, 1 5"], &["seq 1 2 3 4"]),
    Entry::new("test", "").taking(Operands::Text).checked(test).with(&["test a = b"], &["test -f /etc/shadow"]),
    Entry::new("true", "").with(&["true", "true && false"], &["true &"]),
];

/// An operand of `date` that is no format sets the clock.
fn date(arguments: &Arguments) -> Result<(), String> {
    match arguments.operands.iter().find(|operand| !operand.starts_with('+')) {
        Some(_) => Err("`date` with an argument sets the clock".to_owned()),
        None => Ok(()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all checks")]
fn anything(_: &Arguments) -> Result<(), String> {
    Ok(())
}

fn test(arguments: &Arguments) -> Result<(), String> {
    let mut operands = arguments.operands.iter().filter(|operand| operand.contains('/'));
    operands.try_for_each(|operand| path::check(operand))
}
