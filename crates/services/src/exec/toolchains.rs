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

/// Names of files and folders that hold credentials wherever they stand.
const SECRET_FILES: &[&str] = &[
    ".credentials.json",
    ".env",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".yarnrc.yml",
    "auth.json",
    "credentials",
    "hosts.yml",
    "pip.conf",
];
const SECRET_FOLDERS: &[&str] =
    &[".aws", ".azure", ".config", ".docker", ".gnupg", ".kube", ".password-store", ".ssh", "gh"];
/// More entries of one folder are not looked at.
const MAX_ENTRIES: usize = 2_000;

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
        let others = secrets_in(&folder).into_iter().filter_map(|path| path.canonicalize().ok());
        found.secret.extend(others);
        found.folders.push(folder);
    }
    found
}

/// Files in a toolchain that hold credentials: by their name, in the folder and those in it; and
/// settings of cargo with a token in them. Certificates do not count, because programs need the
/// public ones that come along.
fn secrets_in(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        entries.take(MAX_ENTRIES).map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for path in entries(folder) {
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if is_secret(&path) {
            found.push(path);
        } else if is_folder {
            found.extend(entries(&path).into_iter().filter(|path| is_secret(path)));
        }
    }
    found
}

fn is_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    match path.symlink_metadata() {
        Ok(known) if known.is_dir() => SECRET_FOLDERS.contains(&name.as_str()),
        Ok(_) if matches!(name.as_str(), "config" | "config.toml") => has_token(path),
        Ok(_) => {
            SECRET_FILES.contains(&name.as_str())
                || ["credentials.", ".env."].iter().any(|start| name.starts_with(start))
        }
        Err(_) => false,
    }
}

/// Whether settings of cargo name a token, which is nobody's business.
fn has_token(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| line.trim_start().trim_start_matches('"')).any(|line| {
        ["token", "secret-key"].iter().any(|key| {
            line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', '"', '\t']))
        })
    })
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
        fs::write(path(".cargo/config.toml"), "[registries.x]\ntoken = \"t\"\n").unwrap();
        fs::write(path(".cargo/credentials.toml.bak"), "token").unwrap();
        fs::write(path(".nvm/.npmrc"), "//x/:_authToken=t").unwrap();
        fs::write(path(".nvm/config.toml"), "[build]\njobs = 1\n").unwrap();
        std::os::unix::fs::symlink(path("elsewhere"), path(".cargo/credentials.toml")).unwrap();
        let Found { folders, programs, variables, secret } = find(home.path(), Path::new("/w"));
        assert_eq!(folders, [path(".cargo"), path(".nvm")]);
        assert_eq!(programs, [path(".cargo/bin"), path(".nvm/versions/node/v22.10.1/bin")]);
        assert_eq!(variables, [("CARGO_HOME", path(".cargo")), ("NVM_DIR", path(".nvm"))]);
        let found: std::collections::BTreeSet<_> = secret.into_iter().collect();
        let expected = [".cargo/config.toml", ".cargo/credentials", ".nvm/.npmrc", "elsewhere"];
        let mut expected: Vec<_> = expected.iter().map(|name| path(name)).collect();
        expected.push(path(".cargo/credentials.toml.bak"));
        assert_eq!(found, expected.into_iter().collect());
    }
}
