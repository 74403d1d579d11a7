//! Git, whose repositories name programs that it runs on their files.
//!
//! Which of them there are is the repository's to say, so git is asked for their names, and each is
//! switched off. Newer versions need none of this: they take no attributes from the repository
//! (`GIT_ATTR_SOURCE`), and without an attribute no program is run.

use std::path::Path;

use tool::{Argv, Streams, ToolError};

/// The settings that name such a program, and one of our own.
const NAMED: &str =
    r"^(toolgate\.asked|core\.worktree|filter\..*\.(clean|smudge|process|required))$";
/// If this is set, the files of the repository lie elsewhere.
const WORKTREE: &str = "core.worktree";
/// If this comes back, what is set by variables counts.
const ASKED: &str = "toolgate.asked";
/// No repository needs so many.
const MOST: usize = 200;

/// Says where git is for a script that runs it.
const PROGRAM: &str = "TOOLGATE_GIT";

/// The command that tells what has to be switched off for `argv`, if it is git in a repository, or a
/// script that runs git.
pub(super) fn question(argv: &Argv) -> Option<Argv> {
    let words = ["config", "-z", "--name-only", "--get-regexp", NAMED];
    let mut question = asked(argv, &words)?;
    question.env.extend(variables(&[(ASKED, "true")]));
    Some(question)
}

/// Git with these words, where `argv` would run it.
fn asked(argv: &Argv, words: &[&str]) -> Option<Argv> {
    let is_git = argv.path.as_ref().is_some_and(|path| path.ends_with("/git"));
    let named = argv.env.iter().find(|(name, _)| name == PROGRAM).map(|(_, path)| path.clone());
    let path = if is_git { argv.path.clone() } else { named };
    let path = path.filter(|_| argv.folder.is_none())?;
    let folder = match argv.words.get(1..3) {
        Some([option, folder]) if is_git && option == "-C" => vec![option.clone(), folder.clone()],
        _ => Vec::new(),
    };
    let first = std::iter::once("git".to_owned()).chain(folder).chain(["--no-pager".to_owned()]);
    Some(Argv {
        path: Some(path),
        words: first.chain(words.iter().map(|&word| word.to_owned())).collect(),
        env: argv.env.clone(),
        streams: Streams::default(),
        folder: None,
    })
}

/// The variables that switch off what git named.
pub(super) fn answer(output: &[u8]) -> Result<Vec<(String, String)>, ToolError> {
    let output = str::from_utf8(output).map_err(|_| unknown("its settings are not UTF-8"))?;
    let names: Vec<_> = output.split_terminator('\0').collect();
    if !names.contains(&ASKED) {
        return Err(unknown("version 2.31 or a later one is needed"));
    }
    if names.len() > MOST {
        return Err(unknown("it names too many programs"));
    }
    let off = |name: &&str| if name.ends_with(".required") { "false" } else { "" };
    let names = names.iter().filter(|name| **name != WORKTREE);
    let all: Vec<_> = names.map(|name| (*name, off(name))).collect();
    Ok(variables(&all))
}

/// The command that tells where a repository keeps its history.
pub(super) fn folders_question(argv: &Argv) -> Option<Argv> {
    asked(argv, &["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"])
}

/// Refuses a repository that brings in files or a history from outside the workspace: by
/// `core.worktree`, by a `.git` that names another folder, or by objects it borrows.
pub(super) fn refuse_elsewhere(
    settings: &[u8],
    folders: &[u8],
    root: &Path,
) -> Result<(), ToolError> {
    let refuse = |what: &str| {
        Err(ToolError::failed(format!("this repository has its {what} outside the workspace")))
    };
    if settings.split(|byte| *byte == 0).any(|name| name == WORKTREE.as_bytes()) {
        return refuse("files");
    }
    let folders = String::from_utf8_lossy(folders);
    let root = std::fs::canonicalize(root).map_err(ToolError::internal)?;
    for folder in folders.lines().map(Path::new) {
        let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        if !real.starts_with(&root) || real.join("objects/info/alternates").exists() {
            return refuse("history");
        }
    }
    Ok(())
}

fn unknown(why: &str) -> ToolError {
    ToolError::failed(format!(
        "what git would run in this repository cannot be switched off: {why}"
    ))
}

/// Settings, as git takes them from the environment.
fn variables(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let count = ("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string());
    let pair = |(index, (key, value)): (usize, &(&str, &str))| {
        [
            (format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned()),
            (format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned()),
        ]
    };
    std::iter::once(count).chain(settings.iter().enumerate().flat_map(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_names_is_switched_off() {
        let said = b"toolgate.asked\0filter.a=b.clean\0filter.lfs.required\0";
        let variables = answer(said).unwrap();
        let shown: Vec<_> =
            variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(
            shown.join(" "),
            "GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=toolgate.asked GIT_CONFIG_VALUE_0= \
             GIT_CONFIG_KEY_1=filter.a=b.clean GIT_CONFIG_VALUE_1= \
             GIT_CONFIG_KEY_2=filter.lfs.required GIT_CONFIG_VALUE_2=false"
        );
        for wrong in [&b""[..], b"filter.a.clean\0", b"toolgate.asked\0\xff\0"] {
            assert!(answer(wrong).is_err(), "{wrong:?}");
        }
        assert!(answer(&b"toolgate.asked\0".repeat(201)).is_err());
    }
}
