//! Toolchains that people keep in their home folder.

use std::path::{Path, PathBuf};

use super::reachable::reachable;

/// A folder in the home folder that commands can read.
struct Toolchain {
    folder: &'static str,
    /// Where its programs are, within it.
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
    Toolchain { folder: ".nvm", programs: &[], variable: Some("NVM_DIR"), secret: &[] },
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
        let bins = programs.iter().map(|bin| folder.join(bin)).filter(|bin| bin.is_dir());
        found.programs.extend(bins);
        found.variables.extend(variable.map(|name| (name, folder.clone())));
        found.secret.extend(secret.iter().map(|name| folder.join(name)));
        found.folders.push(folder);
    }
    found
}
