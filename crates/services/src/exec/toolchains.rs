//! Toolchains that people keep in their home folder.

use std::path::{Path, PathBuf};

use super::reachable::reachable;

/// A folder in the home folder that commands can read.
struct Toolchain {
    folder: &'static str,
    /// Where its programs are, within it; a star stands for the newest version.
    programs: &'static [&'static str],
    /// The variable that says where it is.
    variable: Option<&'static str>,
    /// What must not be seen in it.
    secret: &'static [&'static str],
}

const TOOLCHAINS: &[Toolchain] = &[
    Toolchain {
        folder: ".cargo",
        programs: &["bin"],
        variable: Some("CARGO_HOME"),
        secret: &["credentials", "credentials.toml"],
    },
    Toolchain { folder: ".rustup", programs: &[], variable: Some("RUSTUP_HOME"), secret: &[] },
    Toolchain {
        folder: ".pyenv",
        programs: &["shims", "bin"],
        variable: Some("PYENV_ROOT"),
        secret: &[],
    },
    Toolchain {
        folder: ".nvm",
        programs: &["versions/node/*/bin"],
        variable: Some("NVM_DIR"),
        secret: &[],
    },
    Toolchain { folder: ".volta", programs: &["bin"], variable: Some("VOLTA_HOME"), secret: &[] },
    Toolchain { folder: ".asdf", programs: &["shims"], variable: Some("ASDF_DIR"), secret: &[] },
    Toolchain { folder: ".local/bin", programs: &[""], variable: None, secret: &[] },
    Toolchain { folder: ".local/share/mise", programs: &["shims"], variable: None, secret: &[] },
    Toolchain { folder: ".local/share/uv", programs: &[], variable: None, secret: &[] },
    Toolchain { folder: ".bun", programs: &["bin"], variable: Some("BUN_INSTALL"), secret: &[] },
    Toolchain { folder: ".deno", programs: &["bin"], variable: None, secret: &[] },
    Toolchain { folder: "go", programs: &["bin"], variable: None, secret: &[] },
    Toolchain { folder: ".sdkman", programs: &[], variable: Some("SDKMAN_DIR"), secret: &[] },
];

/// What of the home folder commands can read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) folders: Vec<PathBuf>,
    pub(super) programs: Vec<PathBuf>,
    pub(super) variables: Vec<(&'static str, PathBuf)>,
    pub(super) secret: Vec<PathBuf>,
}

/// The toolchains in `home`, links resolved, outside the workspace.
pub(super) fn find(home: &Path, workspace: &Path) -> Found {
    let mut found = Found::default();
    for Toolchain { folder, programs, variable, secret } in TOOLCHAINS {
        let Some(folder) = reachable(&home.join(folder), workspace) else { continue };
        if !folder.is_dir() || workspace.starts_with(&folder) {
            continue;
        }
        let bins = programs.iter().filter_map(|bin| programs_in(&folder, bin));
        found.programs.extend(bins);
        found.variables.extend(variable.map(|name| (name, folder.clone())));
        // A link cannot be hidden, but what it leads to can.
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        found.secret.extend(secret.iter().map(|name| real(folder.join(name))));
        found.folders.push(folder);
    }
    found
}

fn programs_in(folder: &Path, bin: &str) -> Option<PathBuf> {
    let path = match bin.split_once("*/") {
        None => folder.join(bin),
        Some((versions, bin)) => newest(&folder.join(versions))?.join(bin),
    };
    path.is_dir().then_some(path)
}

/// The folder whose name is the highest version, such as `v22.3.0`.
fn newest(versions: &Path) -> Option<PathBuf> {
    let entries = versions.read_dir().ok()?.flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).max_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = |part: &str| part.parse::<u64>().unwrap_or(0);
        name.trim_start_matches('v').split('.').map(number).collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn finds_what_is_there_and_the_newest_of_several() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().canonicalize().unwrap().join(name);
        for name in ["v9.0.0", "v22.3.0", "v22.10.1"] {
            fs::create_dir_all(path(".nvm/versions/node").join(name).join("bin")).unwrap();
        }
        fs::create_dir_all(path(".cargo/bin")).unwrap();
        fs::write(path("elsewhere"), "token").unwrap();
        std::os::unix::fs::symlink(path("elsewhere"), path(".cargo/credentials.toml")).unwrap();
        let Found { folders, programs, variables, secret } = find(home.path(), Path::new("/w"));
        assert_eq!(folders, [path(".cargo"), path(".nvm")]);
        assert_eq!(programs, [path(".cargo/bin"), path(".nvm/versions/node/v22.10.1/bin")]);
        assert_eq!(variables, [("CARGO_HOME", path(".cargo")), ("NVM_DIR", path(".nvm"))]);
        assert_eq!(secret, [path(".cargo/credentials"), path("elsewhere")]);
    }
}
