//! Files that a command line names to be executed.

use super::{
    Analysis, Command, Word, analyse,
    programs::{is_interpreter, rough_words},
};

/// More than anybody names.
const MAX: usize = 64;

/// The paths of files that `line` may execute, as they are written, and beneath the folders it goes
/// to. Rather too many than too few: whether they are files at all is for others to see.
pub fn scripts(line: &str) -> Vec<String> {
    let (names, folders) = match analyse(line) {
        Analysis::Commands(commands) => (of_commands(&commands), folders(&commands)),
        Analysis::Opaque(_) => (of_text(line), Vec::new()),
    };
    let beneath = folders.iter().flat_map(|folder| {
        let inside = names.iter().filter(|name| !name.starts_with('/'));
        inside.map(move |name| format!("{folder}/{name}"))
    });
    let mut all: Vec<_> = names.iter().cloned().chain(beneath).collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX);
    all
}

fn of_commands(commands: &[Command]) -> Vec<String> {
    let literal = |word: &Word| word.literal().map(str::to_owned);
    let own = |command: &Command| -> Vec<String> {
        let Some(program) = command.program() else { return Vec::new() };
        if is_interpreter(program) {
            let read = command.redirections.iter().map(|redirection| &redirection.target);
            return command.words.iter().chain(read).filter_map(literal).collect();
        }
        if program.contains('/') { vec![program.to_owned()] } else { Vec::new() }
    };
    commands.iter().flat_map(own).filter(|name| !name.starts_with('-')).collect()
}

/// Where the line goes before it executes something.
fn folders(commands: &[Command]) -> Vec<String> {
    let entered = commands.iter().filter(|command| command.program() == Some("cd"));
    entered.filter_map(|command| Some(command.words.get(1)?.literal()?.to_owned())).collect()
}

/// What looks like a name, where nothing else is known.
fn of_text(line: &str) -> Vec<String> {
    let words = rough_words(line);
    let any = words.iter().any(|word| is_interpreter(word));
    let named =
        words.into_iter().flat_map(|word| word.split('=')).filter(|word| !word.starts_with('-'));
    named.filter(|word| any || word.contains('/')).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::scripts;

    #[test]
    fn finds_what_is_executed() {
        for (line, expected) in [
            ("./deploy.sh prod", "./deploy.sh"),
            ("git add src/main.rs", ""),
            ("tools/run --fast < in.txt", "tools/run"),
            ("bash deploy.sh prod", "bash deploy.sh prod"),
            ("python3.12 x.py", "python3.12 x.py"),
            ("node --require ./a.js b.js", "./a.js b.js node"),
            ("cd sub && ./run.sh", "./run.sh sub/./run.sh"),
            ("true; source env.sh", "env.sh source true"),
            ("echo hi", ""),
        ] {
            assert_eq!(scripts(line).join(" "), expected, "{line}");
        }
    }
}
