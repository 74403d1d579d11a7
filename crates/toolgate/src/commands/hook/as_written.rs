//! Whether a command is harmless in any shell, and not only as Toolgate runs it.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use config::Exec;
use policy::{
    is_credential,
    shell::{SafeList, is_bare},
};
use tool::{Action, Argv, Inlet, Run, Step};

/// Why a command is not harmless where a shell runs it as it is written; `None` if it is. Toolgate starts
/// each program by itself, from a trusted folder, often with more options and without what a repository
/// says; a shell does none of that.
pub(super) fn doubt(run: &Run, exec: &Exec, root: &Path) -> Option<String> {
    if !run.is_harmless() {
        let why = if run.doubt.is_empty() { "it is not known to be harmless" } else { &run.doubt };
        return Some(why.to_owned());
    }
    if !reads_alike(&run.command) {
        return Some("other shells than bash read it in another way".to_owned());
    }
    if run.steps.iter().any(|step| matches!(step.action, Action::Enter(_))) {
        return Some("it goes to another folder first".to_owned());
    }
    if !is_bare(&run.command, SafeList::new(exec).known(&|_| None)) {
        return Some("it is harmless only with what Toolgate adds to it".to_owned());
    }
    let programs = run.steps.iter().flat_map(Step::programs);
    programs.into_iter().find_map(|argv| doubt_of(argv, run, root))
}

fn doubt_of(argv: &Argv, run: &Run, root: &Path) -> Option<String> {
    let Argv { path, words, env: _, folder: _, streams } = argv;
    let name = words.first()?;
    let judged = path.as_ref().and_then(|path| fs::canonicalize(path).ok());
    if judged.is_none() || found(name, root) != judged {
        return Some(format!("`{name}` may be another program there"));
    }
    let input = if let Inlet::File(file) = &streams.input { Some(file.clone()) } else { None };
    let words: Vec<_> = words.iter().cloned().chain(input).collect();
    if let Err(error) = services::refuse_outside(root, &run.cwd, &words) {
        return Some(error.to_string());
    }
    let secret = |word: &&String| {
        let file = fs::canonicalize(root.join(run.cwd.as_str()).join(word));
        file.is_ok_and(|file| is_credential(&file.to_string_lossy()))
    };
    let secret = words.iter().skip(1).find(secret)?;
    Some(format!("`{secret}` may hold credentials"))
}

/// Whether zsh and fish read a line as bash does. They expand more: `=ls`, `^a`, `a~b`, `(a)`. The
/// agent's shell is not known, so outside quotes only characters that mean the same to all are let
/// through.
fn reads_alike(line: &str) -> bool {
    let (mut quote, mut before) = (None, ' ');
    for letter in line.chars() {
        let alike = match quote {
            // A backslash means something to fish in single quotes, and an exclamation mark to
            // others in double ones.
            Some('\'') => letter != '\\',
            Some(_) => !matches!(letter, '\\' | '!' | '$' | '`'),
            None if matches!(letter, '=') => !matches!(before, ' ' | '|' | ';' | '&'),
            None => letter.is_ascii_alphanumeric() || "'\" _./,:@%+-|;&<>\n".contains(letter),
        };
        if !alike {
            return false;
        }
        quote = match (quote, letter) {
            (None, '\'' | '"') => Some(letter),
            (Some(open), letter) if open == letter => None,
            (quote, _) => quote,
        };
        before = letter;
    }
    true
}

/// The program that a shell would start, by the `PATH` of whoever asks. A program may start others by their
/// names, so no folder of the `PATH` may be one that a project fills.
fn found(name: &str, root: &Path) -> Option<PathBuf> {
    let path = config::environment("PATH")?;
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let is_theirs = |folder: &PathBuf| {
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        !folder.is_absolute() || real.starts_with(root)
    };
    if folders.iter().any(is_theirs) {
        return None;
    }
    let runs = |file: &PathBuf| {
        let known = fs::metadata(file);
        known.is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0)
    };
    let file = folders.into_iter().map(|folder| folder.join(name)).find(runs)?;
    fs::canonicalize(file).ok()
}

#[cfg(test)]
mod tests {
    use super::reads_alike;

    #[test]
    fn what_only_some_shells_expand_is_found() {
        for (line, expected) in [
            ("ls -la src/a.rs | wc -l", true),
            ("cut -d= -f1 a 2>/dev/null", true),
            ("grep 'a(b|^c)' x && echo \"a b\"", true),
            ("sort --key=2 a; uniq -c", true),
            ("cat =ls", false),
            ("cat a|=ls", false),
            ("cat ^a", false),
            ("cat a^b", false),
            ("cat a~b", false),
            ("cat a#b", false),
            ("cat a\\ b", false),
            ("cat {a,b}", false),
            ("cat a(b)", false),
            ("cat a[1]", false),
            ("echo \"a!b\"", false),
            ("echo 'a\\' b'", false),
        ] {
            assert_eq!(reads_alike(line), expected, "{line}");
        }
    }
}
