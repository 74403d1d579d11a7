//! Files that a command line executes.
//!
//! A remembered answer is bound to the content of these files. Two lists are made: [`named`](ScriptFiles::named)
//! guesses and has rather too many, and [`coverage`](ScriptFiles::coverage) says whether they are all.

use tool::{Named, Run, Runs};

use super::{
    Analysis, Command, Joined, Within, Word, analyse,
    parse::read_commands,
    programs::{ends_word, has, installed, is_interpreter, without_code},
};

/// More than anybody names.
const MAX_NAMES: usize = 1_000;

/// Shells that read nothing but the script they are given. `zsh` reads `.zshenv`, `ksh` and `ash` vary.
const PLAIN_SHELLS: &str = "bash dash sh";

/// Options of these shells that change nothing about which files they read.
const PLAIN_OPTIONS: &str = "efnuvx";

/// Programs that only print: one of these before or behind a script cannot rewrite it.
const PRINTING: &str = ": cat cut date echo egrep false fgrep grep head ls printf pwd sleep stat tail \
    tr true wc";

/// The files that a command may execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptFiles {
    /// Their paths as they are written, and beneath the folders the line goes to. Rather too many than
    /// too few: whether there are such files is for the caller to see.
    pub named: Vec<Named>,
    /// Whether those are all.
    pub coverage: ScriptCoverage,
}

/// Whether all files that a command executes are known by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptCoverage {
    /// It executes these files, and besides them only programs that run no other code.
    Complete(Vec<String>),
    /// It may execute others, for this reason, which reads on after "because".
    Incomplete(String),
}

/// The files that `run` may execute. `None` if there are more than can be looked at.
pub fn script_files(run: &Run) -> Option<ScriptFiles> {
    let coverage = coverage(run);
    let mut named = guessed(&run.command);
    if let ScriptCoverage::Complete(files) = &coverage {
        named.extend(files.iter().map(|file| self::named(Runs::Surely, file)));
    }
    named.sort_unstable();
    // Of the same name the sure one comes first.
    named.dedup_by(|later, first| later.name == first.name);
    (named.len() <= MAX_NAMES).then_some(ScriptFiles { named, coverage })
}

/// Whether `name`, as the first line of a script has it, runs that script and nothing else beside it.
/// Interpreters such as `python3` look for modules in the script's folder.
pub fn is_plain_shell(name: &str) -> bool {
    has(PLAIN_SHELLS, name)
}

/// Whether the line names everything it executes. Whatever is not known to run no file's content is
/// taken to run some.
fn coverage(run: &Run) -> ScriptCoverage {
    let unknown = |why: &str| ScriptCoverage::Incomplete(why.to_owned());
    if !run.env.is_empty() {
        return unknown("it sets variables, which can name files to run");
    }
    let commands = match read_commands(&run.command) {
        Ok(commands) => commands,
        Err(opaque) => return ScriptCoverage::Incomplete(opaque.0),
    };
    let plain = |within: &Within| matches!(within, Within::Subshell | Within::Group);
    if commands.iter().any(|command| !command.within.iter().all(plain)) {
        return unknown("its parts are nested");
    }
    if commands.iter().any(|command| !command.assignments.is_empty()) {
        return unknown("it sets variables, which can name files to run");
    }
    let mut executed = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        match execution(command) {
            Execution::Nothing => {}
            Execution::File(name) => match path_after(&commands, index, &name) {
                Some(path) => executed.push(path),
                None => return unknown("which folder it goes to first cannot be known"),
            },
            Execution::Unknown(why) => return ScriptCoverage::Incomplete(why),
        }
    }
    if !executed.is_empty() && may_rewrite(&commands) {
        return unknown("it may rewrite the file that it runs");
    }
    ScriptCoverage::Complete(executed)
}

/// What one command of a line executes.
enum Execution {
    /// No file's content.
    Nothing,
    /// The file of this name.
    File(String),
    /// Files that cannot be told from its words, for this reason.
    Unknown(String),
}

fn execution(command: &Command) -> Execution {
    let Some((program, arguments)) = command.words.split_first() else {
        return Execution::Nothing;
    };
    let Some(program) = program.literal() else {
        return Execution::Unknown(format!(
            "which program `{}` is cannot be known",
            program.source
        ));
    };
    let name = installed(program);
    if name == "cd" || without_code(name, arguments) {
        return Execution::Nothing;
    }
    let file = if has(PLAIN_SHELLS, name) {
        script_of_shell(arguments)
    } else if matches!(name, "." | "source") {
        // A name without a slash is looked for in the `PATH` first.
        let first = arguments.first().and_then(Word::literal);
        first.filter(|path| path.contains('/') && !path.starts_with('-'))
    } else if name.contains('/') {
        Some(name)
    } else {
        None
    };
    match file {
        // A link before `..` leads elsewhere.
        Some(file) if file.split('/').all(|part| part != "..") => Execution::File(file.to_owned()),
        Some(_) | None => {
            Execution::Unknown(format!("`{name}` may run files that the line does not name"))
        }
    }
}

/// The script that a shell is given, if it reads no other file.
fn script_of_shell(arguments: &[Word]) -> Option<&str> {
    let is_plain = |option: &str| {
        matches!(option, "--norc" | "--noprofile" | "--posix")
            || option.strip_prefix('-').is_some_and(|letters| {
                !letters.is_empty() && letters.chars().all(|c| PLAIN_OPTIONS.contains(c))
            })
    };
    let mut words = arguments.iter();
    loop {
        let word = words.next()?.literal()?;
        if !word.starts_with(['-', '+']) {
            return (!word.is_empty()).then_some(word);
        }
        if !is_plain(word) {
            return None;
        }
    }
}

/// Where the file `name` of a command is, seen from the folder that the line starts in. `None` if the
/// commands before it may or may not have gone elsewhere.
fn path_after(commands: &[Command], index: usize, name: &str) -> Option<String> {
    let before = commands.get(..index)?;
    let goes = |command: &&Command| command.program() == Some("cd");
    let count = before.iter().filter(goes).count();
    if count == 0 || name.starts_with('/') {
        return Some(name.to_owned());
    }
    // Only `cd a && cd b && script`: each one must have worked.
    let leads = before.len() == count
        && commands.iter().take(index + 1).skip(1).all(|next| next.joined == Joined::And)
        && commands.iter().all(|command| command.within.is_empty());
    if !leads {
        return None;
    }
    let mut path = String::new();
    for command in before {
        let [_, folder] = command.words.as_slice() else { return None };
        let folder = folder.literal()?;
        let strange = folder.is_empty() || folder.starts_with('-');
        if strange || folder.split('/').any(|part| part == "..") {
            return None;
        }
        path = if folder.starts_with('/') { folder.to_owned() } else { beneath(&path, folder) };
    }
    Some(beneath(&path, name))
}

fn beneath(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Whether a part of a line that executes files may write to one of them before it runs.
fn may_rewrite(commands: &[Command]) -> bool {
    let writes = |command: &Command| {
        command.redirections.iter().any(|one| {
            let to_nowhere = one.target.literal().is_some_and(|target| {
                target == "/dev/null" || (one.operator == ">&" && target.parse::<u8>().is_ok())
            });
            one.operator.contains('>') && !to_nowhere
        })
    };
    let runs_file = |command: &Command| matches!(execution(command), Execution::File(_));
    let goes = |command: &&Command| command.program() == Some("cd");
    let alone = commands.len() - commands.iter().filter(goes).count() == 1;
    let prints = |command: &Command| {
        command.program().is_none_or(|program| program == "cd" || has(PRINTING, installed(program)))
    };
    commands.iter().any(|command| !runs_file(command) && !prints(command))
        || (!alone && commands.iter().any(writes))
}

/// What looks like the name of a file that `line` executes.
fn guessed(line: &str) -> Vec<Named> {
    let (names, folders) = match analyse(line) {
        Analysis::Commands(commands) => (of_commands(&commands), folders(&commands)),
        // A script makes a line opaque; its words can be read all the same.
        Analysis::Opaque(_) => {
            let commands = read_commands(line).unwrap_or_default();
            let names = of_commands(&commands).into_iter().chain(of_text(line)).collect();
            (names, [folders(&commands), folders_of_text(line)].concat())
        }
    };
    let names: Vec<Named> = names;
    let beneath = folders.iter().flat_map(|folder| {
        let inside = names.iter().filter(|named| !named.name.starts_with('/'));
        inside.map(move |Named { name, runs }| named(*runs, &format!("{folder}/{name}")))
    });
    names.iter().cloned().chain(beneath).take(2 * MAX_NAMES).collect()
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

/// The same, where nothing else is known.
fn folders_of_text(line: &str) -> Vec<String> {
    let words: Vec<_> = line.split(ends_word).filter(|word| !word.is_empty()).collect();
    let pairs = words.iter().zip(words.iter().skip(1));
    let entered = pairs.filter(|(word, _)| matches!(**word, "cd" | "pushd"));
    entered.map(|(_, folder)| (*folder).to_owned()).collect()
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
    use tool::{Named, Run, Runs};

    use super::{ScriptCoverage, ScriptFiles, script_files};

    fn names(line: &str) -> Option<Vec<Named>> {
        script_files(&Run::new(line)).map(|files| files.named)
    }

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
            ("cat x.sh | sh", "cat? sh? x.sh?"),
            ("sed s/a/b/ < x.sh | sort | sh", "s/a/b/? sed? sh? sort? x.sh?"),
            ("bash <(cat x.sh)", "bash? cat x.sh?"),
            ("X=x.sh; sh $X", "X sh? x.sh?"),
            ("X=./x.sh; $X", "./x.sh?"),
            ("bash < x.sh", "bash? x.sh"),
            ("echo hi", ""),
        ] {
            let names = names(line).unwrap();
            let shown = names.iter().map(|Named { name, runs }| match runs {
                Runs::Surely => name.clone(),
                Runs::Maybe => format!("{name}?"),
            });
            assert_eq!(shown.collect::<Vec<_>>().join(" "), expected, "{line}");
        }
        let words = |count: u32| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        let has = |names: Vec<Named>, name: &str| names.iter().any(|one| one.name == name);
        assert!(has(names(&format!("sh z.sh {}", words(100))).unwrap(), "z.sh"));
        assert_eq!(names(&format!("sh z.sh {}", words(1_000))), None);
    }

    /// Also in lines that are opaque otherwise.
    #[test]
    fn finds_scripts_behind_quotes_and_in_other_folders() {
        for (line, expected) in [
            ("cd sub && bash s.sh", "sub/s.sh"),
            ("cd sub && bash ../s.sh", "sub/../s.sh"),
            ("bash \"s.\"sh", "s.sh"),
            ("bash s\\.sh", "s.sh"),
            ("cd sub; source env.sh", "sub/env.sh"),
            ("pushd sub; zsh s.sh", "sub/s.sh"),
        ] {
            let names = names(line).unwrap();
            assert!(names.iter().any(|one| one.name == expected), "{line}: {names:?}");
        }
    }

    fn coverage(line: &str) -> String {
        match script_files(&Run::new(line)).unwrap().coverage {
            ScriptCoverage::Complete(files) => format!("complete {}", files.join(" ")),
            ScriptCoverage::Incomplete(reason) => reason,
        }
    }

    #[test]
    fn knows_when_all_files_are_named() {
        for (line, expected) in [
            ("touch a b", "complete "),
            ("cp *.txt $X; ls | wc -l > n", "complete "),
            ("./s.sh", "complete ./s.sh"),
            ("./s.sh > log 2>&1", "complete ./s.sh"),
            ("sub/s.sh \"$X\" *.txt", "complete sub/s.sh"),
            ("bash -eu s.sh prod", "complete s.sh"),
            ("bash \"s.\"sh", "complete s.sh"),
            ("/bin/sh s.sh", "complete s.sh"),
            (". ./env.sh", "complete ./env.sh"),
            ("cd sub && bash s.sh", "complete sub/s.sh"),
            ("cd sub && cd b && ./s.sh | head -3", "complete sub/b/./s.sh"),
            ("./a.sh && ./b.sh 2>&1 | tail", "complete ./a.sh ./b.sh"),
            ("make all", "`make` may run files that the line does not name"),
            ("ls && npm test", "`npm` may run files that the line does not name"),
            ("$X", "which program `$X` is cannot be known"),
        ] {
            assert_eq!(coverage(line), expected, "{line}");
        }
    }

    #[test]
    fn knows_when_files_cannot_be_named() {
        for line in [
            "cd sub && bash ../s.sh",
            "cd sub; ./s.sh",
            "cd sub || ./s.sh",
            "cd && ./s.sh",
            "cd - && ./s.sh",
            "cd $X && ./s.sh",
            "(cd sub && true); ./s.sh",
            "cd sub/../x && ./s.sh",
            "sub/../s.sh",
            "bash $'s\\x2esh'",
            "bash {s,}.sh",
            "bash s.s?",
            "bash s.*",
            "bash $X",
            "bash ~+/s.sh",
            "~+/s.sh",
            "~/s.sh",
            "$X",
            "bash -c ./s.sh",
            "bash -s < s.sh",
            "bash < s.sh",
            "bash -l s.sh",
            "bash --rcfile x -i",
            "bash -O extglob s.sh",
            "bash <<< ./s.sh",
            "cat s.sh | bash",
            "zsh s.sh",
            "ksh s.sh",
            "source s.sh",
            ". s.sh",
            "sed -nf s.sed x",
            "python3 -m s",
            "python3 s.py",
            "node -r ./a.js b.js",
            "perl -I. -MFoo -e 1",
            "awk -f s.awk x",
            "ruby s.rb",
            "git -c alias.x='!./s.sh' x",
            "git --exec-path=. x",
            "X=./s.sh; $X",
            "PATH=.:$PATH ls",
            "LD_PRELOAD=./x.so ls",
            "PATH=. && ls",
            "export PATH=.; ls",
            "for PATH in .; do ls; done",
            "ls() { ./s.sh; }; ls",
            "ls $(./s.sh)",
            "ls `./s.sh`",
            "tee >(./s.sh)",
            "eval ./s.sh",
            "exec ./s.sh",
            "command ./s.sh",
            "env ./s.sh",
            "timeout 5 ./s.sh",
            "xargs ./s.sh",
            "find . -exec ./s.sh ;",
            "trap ./s.sh EXIT",
            "printf -v PATH .; ls",
            "sort --compress-program=./s.sh a",
            "cp new.sh s.sh && ./s.sh",
            "cat new.sh > s.sh; ./s.sh",
            "cat new.sh > s.sh | ./s.sh",
            "curl x -o s.sh; bash s.sh",
            "[ -v 'a[$(./s.sh)]' ]",
            "git push",
            "cargo build && ls",
            "some-tool-of-tomorrow",
            "/opt/tool/bin/../x",
        ] {
            let found = coverage(line);
            assert!(!found.starts_with("complete"), "{line}: {found}");
        }
    }

    #[test]
    fn variables_of_the_call_can_name_files_too() {
        let env = [("LD_PRELOAD".to_owned(), "./x.so".to_owned())].into();
        let run = Run { env, ..Run::new("ls") };
        let ScriptFiles { coverage, .. } = script_files(&run).unwrap();
        assert!(matches!(coverage, ScriptCoverage::Incomplete(_)), "{coverage:?}");
    }
}
