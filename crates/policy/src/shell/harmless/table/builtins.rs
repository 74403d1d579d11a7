//! What only a shell knows: what a name means to it.

use super::super::{
    Operands,
    entry::{Arguments, Entry},
};

pub(super) const ENTRIES: &[Entry] = &[
    Entry::new("command", "-v -V")
        .taking(Operands::Text)
        .checked(asks)
        .finding()
        .by_shell("command \"$@\"")
        .with(
            &["command -v node", "command -V ls", "command -v a >/dev/null 2>&1 && echo yes"],
            &[
                "command ls",
                "command -p ls",
                "command -pv ls",
                "command",
                "/usr/bin/command -v a",
                "command -v $x",
            ],
        ),
    Entry::new("help", "-d -s -m")
        .taking(Operands::Text)
        .by_shell("help \"$@\"")
        .with(&["help cd", "help"], &["help $x", "/bin/help cd"]),
    Entry::new("ulimit", "-a -c -d -f -n -s -t -u -v -H -S")
        .by_shell("ulimit \"$@\"")
        .with(&["ulimit -a", "ulimit -n"], &["ulimit -n 5", "ulimit 5"]),
    Entry::new("type", "-a -f -p -P -t")
        .taking(Operands::Text)
        .finding()
        .by_shell("type \"$@\"")
        .with(
            &["type ls", "type -P git", "type -t cd"],
            &["type --x ls", "type $x", "/bin/type ls"],
        ),
];

/// Without an option it runs the program.
fn asks(arguments: &Arguments) -> Result<(), String> {
    if arguments.has(&["-v", "-V"]) {
        return Ok(());
    }
    Err("`command` runs what it names".to_owned())
}
