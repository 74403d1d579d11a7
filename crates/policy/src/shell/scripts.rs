//! Files that a command line names to be executed.

use tool::{Named, Runs};

use super::{
    Analysis, Command, Joined, Within, Word, analyse,
    programs::{ends_word, is_interpreter},
};

/// More than anybody names.
const MAX: usize = 1_000;

/// The paths of files that `line` may execute, as they are written, and beneath the folders it goes
/// to. Rather too many than too few: whether they are files at all is for others to see. `None` if
/// there are more than can be looked at.
pub fn scripts(line: &str) -> Option<Vec<Named>> {
    let (names, folders) = match analyse(line) {
        Analysis::Commands(commands) => (of_commands(&commands), folders(&commands)),
        Analysis::Opaque(_) => (of_text(line), Vec::new()),
    };
    let beneath = folders.iter().flat_map(|folder| {
        let inside = names.iter().filter(|named| !named.name.starts_with('/'));
        inside.map(move |Named { name, runs }| named(*runs, &format!("{folder}/{name}")))
    });
    let mut all: Vec<_> = names.iter().cloned().chain(beneath).take(2 * MAX).collect();
    all.sort_unstable();
    // Of the same name the sure one comes first.
    all.dedup_by(|later, first| later.name == first.name);
    (all.len() <= MAX).then_some(all)
}

fn named(runs: Runs, name: &str) -> Named {
    Named { name: name.to_owned(), runs }
}

fn of_commands(commands: &[Command]) -> Vec<Named> {
    let unknown = |command: &Command| !command.words.is_empty() && command.program().is_none();
    let any = commands.iter().any(|command| interprets(command) || unknown(command));
    let own = |(index, command): (usize, &Command)| -> Vec<Named> {
        let mut all = Vec::new();
        if interprets(command) {
            all.extend(interpreted(command.words.iter().filter_map(Word::literal)));
            all.extend(read(command, Runs::Surely));
        } else if any && feeds(commands, index) {
            all.extend(
                command.words.iter().filter_map(|word| Some(named(Runs::Maybe, word.literal()?))),
            );
            all.extend(read(command, Runs::Maybe));
        } else if let Some(program) = command.program().filter(|program| program.contains('/')) {
            all.push(named(Runs::Surely, program));
        }
        if any {
            // What a variable stands for may be what runs.
            let values = command.assignments.iter().filter_map(|one| one.value.literal());
            all.extend(values.map(|value| named(Runs::Maybe, value)));
        }
        all
    };
    commands.iter().enumerate().flat_map(own).filter(|one| !one.name.starts_with('-')).collect()
}

fn interprets(command: &Command) -> bool {
    command.program().is_some_and(is_interpreter)
}

/// What interpreters are given: values of options and the first word that is none run, the rest is
/// for the script.
fn interpreted<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Named> {
    let (mut all, mut runs, mut after_option) = (Vec::new(), Runs::Maybe, false);
    for word in words {
        let (is_option, is_first) = (word.starts_with('-'), is_interpreter(word));
        all.extend(values(word).into_iter().map(|value| named(runs, value)));
        if is_first {
            runs = Runs::Surely;
        } else if !is_option && !after_option {
            runs = Runs::Maybe;
        }
        after_option = is_option;
    }
    all
}

/// A word, or what is attached to an option: `-fx`, `--file=x`.
fn values(word: &str) -> Vec<&str> {
    let Some(option) = word.strip_prefix('-') else { return vec![word] };
    let mut letters = option.chars();
    letters.next();
    let behind = option.split_once('=').map(|(_, value)| value);
    [Some(letters.as_str()), behind]
        .into_iter()
        .flatten()
        .filter(|value| !value.is_empty())
        .collect()
}

/// The files a command reads its input from.
fn read(command: &Command, runs: Runs) -> impl Iterator<Item = Named> {
    let read = command.redirections.iter().filter(|one| one.operator == "<");
    read.filter_map(move |one| Some(named(runs, one.target.literal()?)))
}

/// Whether what a command writes may be what another one runs.
fn feeds(commands: &[Command], index: usize) -> bool {
    let inside =
        |within: &Within| matches!(within, Within::Substitution | Within::ProcessSubstitution);
    let mut later = commands.iter().skip(index + 1).take_while(|next| next.joined == Joined::Pipe);
    commands.get(index).is_some_and(|command| command.within.iter().any(inside))
        || later.any(interprets)
}

/// Where the line goes before it executes something.
fn folders(commands: &[Command]) -> Vec<String> {
    let entered = commands.iter().filter(|command| command.program() == Some("cd"));
    entered.filter_map(|command| Some(command.words.get(1)?.literal()?.to_owned())).collect()
}

/// What looks like a name, where nothing else is known.
fn of_text(line: &str) -> Vec<Named> {
    let parts = line.split('>').enumerate();
    let parts = parts.map(|(index, part)| if index == 0 { part } else { behind_target(part) });
    let words = parts.flat_map(|part| part.split(ends_name)).filter(|word| !word.is_empty());
    let words: Vec<_> = words.collect();
    if words.iter().any(|word| is_interpreter(word)) {
        return interpreted(words.into_iter());
    }
    let paths = words.into_iter().filter(|word| word.contains('/') && !word.starts_with('-'));
    paths.map(|word| named(Runs::Maybe, word)).collect()
}

/// Values of options and variables are names too.
fn ends_name(c: char) -> bool {
    c == '=' || ends_word(c)
}

/// What stands right behind `>` is written, not run.
fn behind_target(part: &str) -> &str {
    let part = part.trim_start();
    part.find(ends_name).and_then(|end| part.get(end..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use tool::{Named, Runs};

    use super::scripts;

    #[test]
    fn finds_what_is_executed() {
        for (line, expected) in [
            ("./deploy.sh prod", "./deploy.sh"),
            ("git add src/main.rs", ""),
            ("tools/run --fast < in.txt", "tools/run"),
            ("bash deploy.sh prod", "bash? deploy.sh prod?"),
            ("bash -x deploy.sh > log", "bash? deploy.sh"),
            ("python3.12 x.py in.json", "in.json? python3.12? x.py"),
            ("node --require ./a.js b.js c", "./a.js b.js c? node? require"),
            ("node --require=./a.js b.js", "./a.js b.js node? require=./a.js"),
            ("awk -fx.awk in", "awk? in x.awk"),
            ("cd sub && ./run.sh", "./run.sh sub/./run.sh"),
            ("true; source env.sh", "env.sh source? true?"),
            ("cat x.sh | sh", "cat? sh? x.sh?"),
            ("sed s/a/b/ < x.sh | sort | sh", "s/a/b/? sed? sh? sort? x.sh?"),
            ("bash <(cat x.sh)", "bash? cat x.sh?"),
            ("X=x.sh; sh $X", "X sh? x.sh?"),
            ("X=./x.sh; $X", "./x.sh?"),
            ("bash < x.sh", "bash? x.sh"),
            ("echo hi", ""),
        ] {
            let names = scripts(line).unwrap();
            let shown = names.iter().map(|Named { name, runs }| match runs {
                Runs::Surely => name.clone(),
                Runs::Maybe => format!("{name}?"),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{line}");
        }
        let words = |count: u32| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert!(
            scripts(&format!("sh z.sh {}", words(100)))
                .unwrap()
                .iter()
                .any(|one| one.name == "z.sh")
        );
        assert_eq!(scripts(&format!("sh z.sh {}", words(1_000))), None);
    }
}
