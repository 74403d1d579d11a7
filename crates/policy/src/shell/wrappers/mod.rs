//! Programs whose arguments are commands. Those that are understood are followed; the rest make the
//! line opaque.

mod find;
mod prefix;
mod shells;
mod xargs;

use super::{Command, Opaque, Within, Word, found::Found, parse};

/// Programs that run others and are not followed.
const NOT_FOLLOWED: &[&str] = &[
    "ash",
    "at",
    "batch",
    "bwrap",
    "capsh",
    "catchsegv",
    "chroot",
    "cpulimit",
    "cron",
    "crontab",
    "csh",
    "dbus-run-session",
    "eatmydata",
    "elvish",
    "entr",
    "expect",
    "faketime",
    "fakeroot",
    "firejail",
    "fish",
    "gdb",
    "ksh",
    "lldb",
    "ltrace",
    "mksh",
    "newgrp",
    "nsenter",
    "nu",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "proxychains",
    "proxychains4",
    "prlimit",
    "pwsh",
    "rbash",
    "rsh",
    "run-parts",
    "runcon",
    "runuser",
    "rush",
    "screen",
    "script",
    "scriptlive",
    "setarch",
    "setpriv",
    "sg",
    "ssh",
    "sshpass",
    "start-stop-daemon",
    "strace",
    "su",
    "systemd-run",
    "tcsh",
    "tmux",
    "torify",
    "torsocks",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "xvfb-run",
    "yash",
    "zsh",
    "i386",
    "linux32",
    "linux64",
    "x86_64",
    "uname26",
    "ld.so",
    "dpkg-architecture",
    "rlwrap",
];

/// Finds what `command` runs itself.
pub(super) fn follow(command: &Command, found: &mut Found) -> Result<(), Opaque> {
    let Some((program, arguments)) = command.words.split_first() else { return Ok(()) };
    let name = program.literal().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    if NOT_FOLLOWED.contains(&name) || name.starts_with("ld-linux") {
        return Err(Opaque(format!("what `{name}` runs is not followed")));
    }
    match name {
        "bash" | "sh" | "dash" => shells::follow(name, arguments, found),
        "eval" => eval(arguments, found),
        "find" => find::follow(arguments, found),
        "git" => git(arguments),
        "trap" => trap(arguments, found),
        "xargs" => xargs::follow(arguments, found),
        _ => prefix::follow(name, arguments, found),
    }
}

/// Takes `words` as a command that `name` runs.
fn runs(name: &str, words: Vec<Word>, found: &mut Found) -> Result<(), Opaque> {
    found.enter(Within::Wrapper(name.to_owned()))?;
    found.add(Command { words, ..Command::default() })?;
    found.leave();
    Ok(())
}

fn eval(arguments: &[Word], found: &mut Found) -> Result<(), Opaque> {
    let texts: Option<Vec<_>> = arguments.iter().map(Word::literal).collect();
    let Some(texts) = texts else {
        return Err(Opaque("`eval` runs something that is not known".to_owned()));
    };
    let texts = texts.strip_prefix(&["--"]).unwrap_or(&texts);
    parse::inner(&texts.join(" "), Within::Wrapper("eval".to_owned()), found)
}

fn trap(arguments: &[Word], found: &mut Found) -> Result<(), Opaque> {
    let arguments = match arguments {
        [first, rest @ ..] if first.literal() == Some("--") => rest,
        all => all,
    };
    match arguments {
        [] | [_] => Ok(()),
        [first, ..] => match first.literal() {
            Some("" | "-" | "-p" | "-l") => Ok(()),
            Some(text) if text.chars().all(|c| c.is_ascii_digit()) => Ok(()),
            Some(text) => parse::inner(text, Within::Wrapper("trap".to_owned()), found),
            None => Err(Opaque("`trap` runs something that is not known".to_owned())),
        },
    }
}

/// Settings on the command line can name programs.
fn git(arguments: &[Word]) -> Result<(), Opaque> {
    let texts = arguments.iter().map_while(Word::literal);
    let mut options = texts.take_while(|text| text.starts_with('-'));
    let sets = |text: &str| {
        text.starts_with("-c")
            || text.starts_with("--config-env")
            || text.starts_with("--exec-path=")
    };
    match options.find(|text| sets(text)) {
        Some(option) => Err(Opaque(format!("`git {option}` can name programs to run"))),
        None => Ok(()),
    }
}
