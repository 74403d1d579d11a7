//! Whether a command is harmless in any shell, and not only as Toolgate runs it.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use policy::{
    is_credential,
    shell::{Analysis, analyse},
};
use tool::{Action, Argv, Inlet, Run};

/// Why a command is not harmless where a shell runs it as it is written; `None` if it is. Toolgate starts
/// each program by itself, from a trusted folder, often with more options and without what a repository
/// says; a shell does none of that.
pub(super) fn doubt(run: &Run, root: &Path) -> Option<String> {
    if !run.is_harmless() {
        return Some("it is not known to be harmless".to_owned());
    }
    if run.steps.iter().any(|step| matches!(step.action, Action::Enter(_))) {
        return Some("it goes to another folder first".to_owned());
    }
    let Analysis::Commands(written) = analyse(&run.command) else {
        return Some("it cannot be taken apart".to_owned());
    };
    let programs: Vec<_> = run.steps.iter().flat_map(|step| step.programs()).collect();
    if written.len() != programs.len() {
        return Some("it cannot be taken apart".to_owned());
    }
    written.iter().zip(programs).find_map(|(written, argv)| {
        let words: Option<Vec<_>> = written.words.iter().map(|word| word.literal()).collect();
        let as_written = words.is_some_and(|words| words == argv.words);
        doubt_of(argv, as_written, (run, root))
    })
}

fn doubt_of(argv: &Argv, as_written: bool, (run, root): (&Run, &Path)) -> Option<String> {
    let Argv { path, words, env, folder, streams } = argv;
    let name = words.first()?;
    if !as_written || !env.is_empty() || folder.is_some() {
        return Some(format!("`{name}` is harmless only with what Toolgate adds to it"));
    }
    if found(name).is_none()
        || found(name) != path.as_ref().and_then(|path| fs::canonicalize(path).ok())
    {
        return Some(format!("`{name}` is another program there"));
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

/// The program that a shell would start, by the `PATH` of whoever asks.
fn found(name: &str) -> Option<std::path::PathBuf> {
    let path = config::environment("PATH")?;
    for folder in std::env::split_paths(&path) {
        // Wherever the command runs, which may be anywhere.
        if !folder.is_absolute() {
            return None;
        }
        let file = folder.join(name);
        let runs = fs::metadata(&file)
            .is_ok_and(|known| known.is_file() && known.permissions().mode() & 0o111 != 0);
        if runs {
            return fs::canonicalize(file).ok();
        }
    }
    None
}
