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
        return Some("it is not known to be harmless".to_owned());
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
    if let Some(why) = doubt_there(words) {
        return Some(why.to_owned());
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

/// What is harmless with our small environment, among processes and mounts of its own, or where links lead
/// nowhere else, and not there.
fn doubt_there(words: &[String]) -> Option<&'static str> {
    let (program, arguments) = words.split_first()?;
    let follows = |word: &String| {
        word.starts_with("--de")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['H', 'L']))
    };
    match Path::new(program).file_name()?.to_str()? {
        // Where a share is mounted from may name its user, and even the password.
        "df" => Some("it shows all that is mounted on this machine"),
        "env" | "printenv" => Some("it shows all of your environment"),
        "ls" if arguments.iter().any(follows) => Some("it follows links"),
        // Whoever gave a program a secret as an argument gave it to `ps`.
        "ps" => Some("it shows the command lines of all that runs on this machine"),
        _ => None,
    }
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
