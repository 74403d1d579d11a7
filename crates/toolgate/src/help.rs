//! The help of the command line: groups of commands, and examples for each.

use clap::{Command, CommandFactory as _};

use crate::cli::Cli;

/// Commands by what a person wants, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Start", &["tour", "serve", "chat", "doctor"]),
    ("Use with your agent", &["connect", "run", "mcp", "hook", "call"]),
    ("Decide", &["approvals", "permissions", "check", "policy", "emergency"]),
    ("Look back", &["history", "undo", "sessions", "audit"]),
    (
        "Administer",
        &["tools", "agents", "users", "tokens", "config", "completions", "man", "bench"],
    ),
];

/// Examples, by command.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("tour", &["toolgate tour"]),
    ("serve", &["toolgate serve", "toolgate serve --listen 0.0.0.0:7717 --workspace ~/project"]),
    ("chat", &["toolgate chat", "toolgate chat -m 'what is in notes.txt?' --json"]),
    ("doctor", &["toolgate doctor", "toolgate doctor --json"]),
    ("connect", &["toolgate connect codex", "toolgate connect claude-code --hook --print"]),
    ("run", &["toolgate run -- make test", "toolgate run --network api.anthropic.com -- claude"]),
    ("mcp", &["toolgate mcp --workspace ~/project"]),
    ("hook", &["toolgate hook claude-code < event.json"]),
    (
        "call",
        &[
            "toolgate call read path=notes.txt",
            "toolgate call list_tasks limit:=5 status=pending",
            "toolgate call exec '{\"command\":\"make test\"}'",
        ],
    ),
    ("approvals", &["toolgate approvals list", "toolgate approvals allow 4jj5vx2s"]),
    ("permissions", &["toolgate permissions list", "toolgate permissions grant exec --agent main"]),
    ("check", &["toolgate check command 'rm -rf src'", "toolgate check path .env --write"]),
    ("policy", &["toolgate policy explain exec", "toolgate policy explain exec --sender eve"]),
    (
        "emergency",
        &["toolgate emergency stop --reason 'something is wrong'", "toolgate emergency resume"],
    ),
    ("history", &["toolgate history --since 1h", "toolgate history --status error --json"]),
    ("undo", &["toolgate undo 01a1e273-bfc5-7000-a7c1-c32b4893b0ec"]),
    ("sessions", &["toolgate sessions list", "toolgate sessions show main"]),
    ("audit", &["toolgate audit verify", "toolgate audit export > calls.jsonl"]),
    ("tools", &["toolgate tools", "toolgate tools read", "toolgate tools --format openai"]),
    ("agents", &["toolgate agents list", "toolgate agents add reviewer --deny write"]),
    ("users", &["toolgate users add grace --name Grace", "toolgate users list"]),
    (
        "tokens",
        &[
            "toolgate tokens add --name laptop",
            "toolgate tokens add --name bridge --agent main --may-name-senders",
        ],
    ),
    ("config", &["toolgate config check"]),
    (
        "completions",
        &["toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate"],
    ),
    ("man", &["toolgate man | man -l -", "toolgate man --output ~/.local/share/man/man1"]),
    ("bench", &["toolgate bench"]),
];

/// The command line with its help.
pub(crate) fn command() -> Command {
    let mut command = Cli::command();
    for (name, examples) in EXAMPLES {
        let text = format!("Examples:\n  {}", examples.join("\n  "));
        command = command.mut_subcommand(name, |command| command.after_help(text));
    }
    let groups = groups(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{{options}}\n\n\
         `toolgate COMMAND --help` says more, with examples."
    ))
}

/// Every group with its commands, as the help shows them.
fn groups(command: &Command) -> String {
    let about = |name: &str| {
        let found = command.find_subcommand(name).and_then(Command::get_about);
        found.map(ToString::to_string).unwrap_or_default()
    };
    let group = |(title, names): &(&str, &[&str])| {
        let lines = names.iter().map(|name| format!("  {name:<12} {}\n", about(name)));
        format!("{title}:\n{}\n", lines.collect::<String>())
    };
    GROUPS.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_has_examples() {
        let command = Cli::command();
        let mut all: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        let mut grouped: Vec<_> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
        let mut examples: Vec<_> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        examples.sort_unstable();
        assert_eq!(examples, all);
    }

    /// The words after the program's name are a command that is there; options are read as far as they need nothing else.
    #[test]
    fn examples_are_read_as_they_stand() {
        for (name, examples) in EXAMPLES {
            for example in *examples {
                let line = example.split(&['|', '<', '>'][..]).next().unwrap_or_default();
                let words = shlex(line);
                let read = command().try_get_matches_from(&words);
                assert!(read.is_ok(), "{name}: {example}: {}", read.unwrap_err());
            }
        }
    }

    /// Words, with single quotes around some.
    fn shlex(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => {
                    words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
                }
                c => word.push(c),
            }
        }
        words.extend((!word.is_empty()).then_some(word));
        words
    }
}
