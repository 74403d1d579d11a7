//! Git, whose repositories name programs that it runs on their files.
//!
//! Which of them there are is the repository's to say, so git is asked for their names, and each is
//! switched off. Newer versions need none of this: they take no attributes from the repository
//! (`GIT_ATTR_SOURCE`), and without an attribute no program is run.

use tool::{Argv, Streams, ToolError};

/// The settings that name such a program, and one of our own.
const NAMED: &str = r"^(toolgate\.asked|filter\..*\.(clean|smudge|process|required))$";
/// If this comes back, what is set by variables counts.
const ASKED: &str = "toolgate.asked";
/// No repository needs so many.
const MOST: usize = 200;

/// The command that tells what has to be switched off for `argv`, if it is git in a repository.
pub(super) fn question(argv: &Argv) -> Option<Argv> {
    let is_git = argv.path.as_ref().is_some_and(|path| path.ends_with("/git"));
    let words = ["git", "--no-pager", "config", "-z", "--name-only", "--get-regexp", NAMED];
    (is_git && argv.folder.is_none()).then(|| Argv {
        words: words.map(str::to_owned).to_vec(),
        env: argv.env.iter().cloned().chain(variables(&[(ASKED, "true")])).collect(),
        streams: Streams::default(),
        ..argv.clone()
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
    let all: Vec<_> = names.iter().map(|name| (*name, off(name))).collect();
    Ok(variables(&all))
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
