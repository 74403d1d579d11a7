//! Simple commands: what the shell does itself, programs of the table, and programs that run others.

use super::{
    super::{path, table, unknown},
    emit,
    reader::{ScriptReader, check_variable},
    word::Word,
};
use tool::Argv;

type Read<T> = Result<T, String>;

/// What the shell does itself in scripts of ours.
pub(super) const BUILTINS: &[&str] = &[
    ":", "break", "cd", "continue", "exit", "false", "read", "set", "true", "[[", "command", "type",
];

/// Variables that change only how a program prints.
const SETTINGS: &[&str] =
    &["LC_ALL", "LANG", "LC_COLLATE", "LC_NUMERIC", "LC_TIME", "TZ", "COLUMNS", "NO_COLOR", "IFS"];

impl ScriptReader<'_> {
    /// Reads a simple command and writes it anew.
    pub(super) fn simple(&mut self, written: &mut String) -> Read<()> {
        let (mut words, mut assignments, mut redirections) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            if self.rest.is_empty()
                || self.rest.starts_with(['\n', ';', '|', '&', ')', '<', '>'])
                    && !self.rest.starts_with("<(")
            {
                break;
            }
            if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
                continue;
            }
            words.extend(self.word()?.into_iter().map(|Word { text, .. }| text));
        }
        if self.rest.starts_with(['<', '>'])
            || (self.rest.starts_with('&') && !self.rest.starts_with("&&"))
        {
            return Err("it has redirections or runs in the background".to_owned());
        }
        let command = if words.is_empty() {
            self.only_assignments(&assignments, &redirections)?
        } else {
            let prefix = settings(&assignments, words.first())?;
            let command = self.judged(&words)?;
            format!("{prefix}{command}")
        };
        written.push_str(&command);
        for redirection in redirections {
            written.push(' ');
            written.push_str(&redirection);
        }
        Ok(())
    }

    /// `name=` at the start of a word, with what follows.
    fn assignment(&mut self) -> Read<Option<(String, String)>> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(0);
        let Some((name, after)) = self.rest.split_at_checked(end) else { return Ok(None) };
        let Some(value) = after.strip_prefix('=') else { return Ok(None) };
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let name = name.to_owned();
        self.rest = value;
        if value.starts_with('(') {
            return Err("a list is not known to be harmless".to_owned());
        }
        let text = self.single_word()?.text;
        Ok(Some((name, text)))
    }

    fn only_assignments(
        &self,
        assignments: &[(String, String)],
        redirections: &[String],
    ) -> Read<String> {
        if assignments.is_empty() || !redirections.is_empty() {
            return Err("a command is missing".to_owned());
        }
        let mut all = Vec::new();
        for (name, value) in assignments {
            check_variable(name)?;
            all.push(format!("{name}={}", emit::word(value, &self.expansions)));
        }
        Ok(all.join(" "))
    }

    /// One command, written anew.
    pub(super) fn judged(&mut self, words: &[String]) -> Read<String> {
        let Some((name, arguments)) = words.split_first() else {
            return Err("a command is missing".to_owned());
        };
        if !unknown::is_known(name) {
            return Err("which program runs is not known".to_owned());
        }
        match name.as_str() {
            ":" => Ok(":".to_owned()),
            "true" | "false" if arguments.is_empty() => Ok(name.clone()),
            "break" | "continue" | "exit" => numbered(name, arguments),
            "cd" => self.enter(arguments),
            "read" => read(arguments),
            "set" => set(arguments),
            "xargs" => self.xargs(arguments),
            "find" if arguments.iter().any(|word| word == "-exec") => self.find_exec(arguments),
            "timeout" | "nice" | "stdbuf" => self.wrapper(name, arguments),
            _ => {
                let argv = table::check(words, self.known)?;
                self.command_text(&argv)
            }
        }
    }

    /// A program of the table with its arguments.
    fn command_text(&mut self, argv: &Argv) -> Read<String> {
        let text = self.words_text(argv)?;
        match &argv.folder {
            Some(folder) => Ok(format!("(\ncd {} && {text}\n)", emit::quoted(folder))),
            None => Ok(text),
        }
    }

    fn words_text(&mut self, argv: &Argv) -> Read<String> {
        let path = self.program(argv)?;
        let mut all = vec![emit::quoted(&path)];
        all.extend(argv.words.iter().skip(1).map(|word| emit::word(word, &self.expansions)));
        Ok(all.join(" "))
    }

    /// Notes that a program runs, and gives its path.
    fn program(&mut self, argv: &Argv) -> Read<String> {
        let name = argv.words.first().cloned().unwrap_or_default();
        let path = argv.path.clone().unwrap_or_else(|| {
            self.missing.get_or_insert_with(|| name.clone());
            name
        });
        if path.ends_with("/git") {
            if argv.words.get(1).is_some_and(|word| word == "-C") {
                return Err("`git -C` is only known to be harmless by itself".to_owned());
            }
            self.git = Some(path.clone());
        }
        for (name, value) in &argv.env {
            if name == "PATH" {
                continue;
            }
            if !self.env.iter().any(|(known, _)| known == name) {
                self.env.push((name.clone(), value.clone()));
            }
        }
        self.finds_programs |= !argv.env.iter().any(|(name, _)| name == "PATH");
        self.programs.insert(path.clone());
        Ok(path)
    }

    fn find_program(&mut self, name: &str) -> String {
        let path = (self.known.find)(name).unwrap_or_else(|| {
            self.missing.get_or_insert_with(|| name.to_owned());
            name.to_owned()
        });
        self.programs.insert(path.clone());
        emit::quoted(&path)
    }

    fn enter(&mut self, arguments: &[String]) -> Read<String> {
        let [folder] = arguments else {
            return Err("`cd` is only known to be harmless with one folder".to_owned());
        };
        if !unknown::is_known(folder) {
            return Err("`cd` to a folder that is not known".to_owned());
        }
        path::check(folder)?;
        self.moves = true;
        Ok(format!("cd {}", emit::quoted(folder)))
    }

    /// `xargs` puts what it reads behind the words of a command.
    fn xargs(&mut self, arguments: &[String]) -> Read<String> {
        let refuse = |word: &str| Err(format!("`{word}` of `xargs` is not known to be harmless"));
        let mut words = arguments.iter();
        let (mut options, mut mark) = (Vec::new(), None);
        let mut inner: Vec<String> = Vec::new();
        while let Some(word) = words.next() {
            let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
            match word.as_str() {
                "-0" | "-r" | "-t" | "-x" | "--null" | "--no-run-if-empty" | "--verbose"
                | "-0r" | "-r0" => {
                    options.push(word.clone());
                }
                "-n" | "-P" | "-L" => match words.next() {
                    Some(value) if number(value) => options.push(format!("{word}{value}")),
                    _ => return refuse(word),
                },
                "-d" => match words.next() {
                    Some(value) if unknown::is_known(value) => options.push(format!("-d{value}")),
                    _ => return refuse(word),
                },
                "-I" => match words.next() {
                    Some(value) if unknown::is_known(value) && !value.is_empty() => {
                        mark = Some(value.clone());
                    }
                    _ => return refuse(word),
                },
                _ if word.starts_with("-I") => mark = word.strip_prefix("-I").map(str::to_owned),
                _ if ["-n", "-P", "-L"]
                    .iter()
                    .any(|option| word.strip_prefix(option).is_some_and(number)) =>
                {
                    options.push(word.clone());
                }
                _ if word.starts_with("-d") && unknown::is_known(word) => {
                    options.push(word.clone());
                }
                _ if word.starts_with('-') || !unknown::is_known(word) => return refuse(word),
                _ => {
                    inner.push(word.clone());
                    inner.extend(words.by_ref().cloned());
                }
            }
        }
        if inner.is_empty() {
            inner.push("echo".to_owned());
        }
        if inner.iter().any(|word| !unknown::is_known(word)) {
            return Err("`xargs` with expansions is not known to be harmless".to_owned());
        }
        let (judged, appended) = self.completed(inner, mark.as_deref())?;
        let argv = table::check(&judged, self.known)?;
        no_folder(&argv)?;
        let mut text = vec![self.find_program("xargs")];
        text.extend(options.iter().map(|option| emit::quoted(option)));
        text.extend(mark.as_deref().map(|mark| emit::quoted(&format!("-I{mark}"))));
        let mut command = argv;
        if appended {
            // What is put behind is a word of its own, and the last.
            let last = command.words.pop();
            if last.as_deref() != judged.last().map(String::as_str) {
                return Err("`xargs` would put its words elsewhere".to_owned());
            }
        }
        text.push(self.words_text(&command)?);
        Ok(text.join(" "))
    }

    /// The words with a character in place of what is put in when the line runs.
    fn completed(&mut self, words: Vec<String>, mark: Option<&str>) -> Read<(Vec<String>, bool)> {
        use super::super::unknown::{ExpansionKind, mark as mark_of};
        let Some(mark) = mark else {
            let index = self.keep(String::new())?;
            let more = mark_of(ExpansionKind::Many, index).ok_or("it has too many expansions")?;
            return Ok((words.into_iter().chain([more.to_string()]).collect(), true));
        };
        let index = self.keep(emit::quoted(mark))?;
        let one = mark_of(ExpansionKind::One, index).ok_or("it has too many expansions")?;
        let filled: Vec<_> =
            words.iter().map(|word| word.replace(mark, &one.to_string())).collect();
        if filled.first() != words.first() {
            return Err("which program `xargs` runs is not known".to_owned());
        }
        Ok((filled, false))
    }

    /// `find … -exec command {} +`. What is put in starts with the folder that is searched.
    fn find_exec(&mut self, arguments: &[String]) -> Read<String> {
        use super::super::unknown::{ExpansionKind, mark as mark_of};
        let mut plain = Vec::new();
        let mut commands = Vec::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if word != "-exec" {
                plain.push(word.clone());
                continue;
            }
            let mut inner = Vec::new();
            let end = loop {
                match words.next().map(String::as_str) {
                    Some(end @ (";" | "+")) => break end,
                    Some(word) => inner.push(word.to_owned()),
                    None => return Err("`-exec` is not ended".to_owned()),
                }
            };
            if inner.iter().any(|word| !unknown::is_known(word)) {
                return Err("`-exec` with expansions is not known to be harmless".to_owned());
            }
            let index = self.keep("'{}'".to_owned())?;
            let kind = if end == "+" { ExpansionKind::Many } else { ExpansionKind::One };
            let one = mark_of(kind, index).ok_or("it has too many expansions")?;
            let filled: Vec<_> =
                inner.iter().map(|word| word.replace("{}", &one.to_string())).collect();
            if filled.first() != inner.first() {
                return Err("which program `find` runs is not known".to_owned());
            }
            let argv = table::check(&filled, self.known)?;
            no_folder(&argv)?;
            let text = self.words_text(&argv)?;
            // A test of that kind stands in its place while the rest is judged.
            plain.push("-true".to_owned());
            commands.push(format!("-exec {text} '{end}'"));
        }
        let mut find = vec!["find".to_owned()];
        find.extend(plain.iter().cloned());
        let argv = table::check(&find, self.known)?;
        let path = self.program(&argv)?;
        let mut text = vec![emit::quoted(&path)];
        let mut commands = commands.into_iter();
        for word in argv.words.iter().skip(1) {
            if word == "-true" {
                text.extend(commands.next());
            } else {
                text.push(emit::word(word, &self.expansions));
            }
        }
        if commands.next().is_some() || arguments.iter().any(|word| word == "-true") {
            return Err("`-exec` is not known to be harmless there".to_owned());
        }
        Ok(text.join(" "))
    }

    /// `timeout 5 command` and the like.
    fn wrapper(&mut self, name: &str, arguments: &[String]) -> Read<String> {
        let number = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || "smh.".contains(c))
        };
        let (options, inner) = match (name, arguments) {
            ("timeout", [time, inner @ ..]) if number(time) => (vec![time.clone()], inner),
            ("nice", [option, level, inner @ ..]) if option == "-n" && number(level) => {
                (vec![format!("-n{level}")], inner)
            }
            ("stdbuf", [mode, inner @ ..])
                if matches!(mode.as_str(), "-oL" | "-o0" | "-eL" | "-i0") =>
            {
                (vec![mode.clone()], inner)
            }
            ("nice", inner @ [first, ..]) if !first.starts_with('-') => (Vec::new(), inner),
            _ => return Err(format!("`{name}` is not known to be harmless like this")),
        };
        if !inner.iter().all(|word| !word.is_empty()) || inner.is_empty() {
            return Err(format!("`{name}` runs nothing"));
        }
        let argv = table::check(inner, self.known)?;
        no_folder(&argv)?;
        let mut text = vec![self.find_program(name)];
        text.extend(options.iter().map(|option| emit::quoted(option)));
        text.push(self.words_text(&argv)?);
        Ok(text.join(" "))
    }

    /// `2>&1`, what leads to nowhere, and input from a file or a text.
    pub(super) fn redirection(&mut self) -> Read<Option<String>> {
        const TO_NOWHERE: &[(&str, &str)] = &[
            ("2>", "2>/dev/null"),
            ("1>", ">/dev/null"),
            ("&>", "&>/dev/null"),
            (">", ">/dev/null"),
        ];
        for copy in ["2>&1", "1>&2", ">&2"] {
            if let Some(rest) = self.rest.strip_prefix(copy)
                && (rest.is_empty() || rest.starts_with([' ', '\t', ';', '|', '\n', ')', '&']))
            {
                self.rest = rest;
                return Ok(Some(copy.to_owned()));
            }
        }
        for (operator, written) in TO_NOWHERE {
            if let Some(rest) = self.rest.strip_prefix(operator)
                && let Some(rest) = rest.trim_start_matches([' ', '\t']).strip_prefix("/dev/null")
                && (rest.is_empty() || rest.starts_with([' ', '\t', ';', '|', '\n', ')', '&']))
            {
                self.rest = rest;
                return Ok(Some((*written).to_owned()));
            }
        }
        if self.rest.starts_with("<<<") {
            self.expect("<<<")?;
            self.blanks();
            let word = self.single_word()?;
            return Ok(Some(format!("<<< {}", emit::word(&word.text, &self.expansions))));
        }
        if self.rest.starts_with("<<") || self.rest.starts_with("<>") || self.rest.starts_with("<&")
        {
            return Err("a redirection is not known to be harmless".to_owned());
        }
        if self.rest.starts_with('<') && !self.rest.starts_with("<(") {
            self.expect("<")?;
            self.blanks();
            let word = self.single_word()?;
            if word.text.is_empty() {
                return Err("a file is missing".to_owned());
            }
            if word.text != "/dev/null" {
                path::check(&word.text)?;
            }
            return Ok(Some(format!("< {}", emit::word(&word.text, &self.expansions))));
        }
        Ok(None)
    }
}

fn numbered(name: &str, arguments: &[String]) -> Read<String> {
    match arguments {
        [] => Ok(name.to_owned()),
        [number] if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => {
            Ok(format!("{name} {number}"))
        }
        _ => Err(format!("`{name}` is not known to be harmless like this")),
    }
}

/// Into variables that mean nothing to programs.
fn read(arguments: &[String]) -> Read<String> {
    let mut written = vec!["read".to_owned()];
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-r" => written.push("-r".to_owned()),
            "-d" => match words.next() {
                Some(value) if unknown::is_known(value) && value.chars().count() <= 1 => {
                    written.push(format!("-d {}", emit::quoted(value)));
                }
                _ => return Err("`read -d` is not known to be harmless".to_owned()),
            },
            name => {
                check_variable(name)?;
                written.push(name.to_owned());
            }
        }
    }
    Ok(written.join(" "))
}

fn set(arguments: &[String]) -> Read<String> {
    let known =
        ["-e", "-u", "-x", "-eu", "-ex", "-euo", "-eo", "-o", "-euxo", "pipefail", "-f", "+e"];
    if arguments.is_empty() || !arguments.iter().all(|word| known.contains(&word.as_str())) {
        return Err("`set` is not known to be harmless like this".to_owned());
    }
    Ok(format!("set {}", arguments.join(" ")))
}

fn no_folder(argv: &Argv) -> Read<()> {
    if argv.folder.is_some() { Err("it runs in another folder".to_owned()) } else { Ok(()) }
}

/// Variables for one program.
fn settings(assignments: &[(String, String)], program: Option<&String>) -> Read<String> {
    let is_read = program.is_some_and(|name| name == "read");
    let mut prefix = String::new();
    for (name, value) in assignments {
        let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "_./+-,:;|\t ".contains(c));
        let known = SETTINGS.contains(&name.as_str()) && (name != "IFS" || is_read);
        // `TZ` can name a file.
        let is_file = name == "TZ" && (value.starts_with([':', '/', '.']) || value.contains(".."));
        if !known || !plain || is_file {
            return Err(format!("setting `{name}` is not known to be harmless"));
        }
        prefix += name;
        prefix.push('=');
        prefix += &emit::quoted(value);
        prefix.push(' ');
    }
    Ok(prefix)
}
