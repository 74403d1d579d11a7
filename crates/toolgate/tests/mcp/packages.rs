//! Programs of the protocol's own project, installed once for each set of versions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use tool::Digest;

/// The programs, and the version of Node.js that they need.
const PACKAGES: &str = include_str!("package.json");

/// Installed once, for all tests.
static INSTALLED: LazyLock<PathBuf> = LazyLock::new(installed);

/// Where a package is.
pub(crate) fn package(name: &str) -> PathBuf {
    INSTALLED.join("node_modules").join(name)
}

/// A script for Node.js.
pub(crate) fn node(script: &Path) -> Command {
    let mut command = Command::new(package(".bin/node"));
    command.arg(script).stdin(Stdio::null());
    command
}

fn installed() -> PathBuf {
    let name: String = Digest::of(PACKAGES).to_string().chars().take(16).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-{name}"));
    if folder.join("complete").exists() {
        return folder;
    }
    // What an interrupted run left is not to be trusted.
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    eprintln!("installing programs into {}", folder.display());
    fs::write(folder.join("package.json"), PACKAGES).unwrap();
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error"]).current_dir(&folder);
    let status = npm.status().unwrap();
    assert!(status.success(), "{npm:?}: {status}");
    fs::write(folder.join("complete"), "").unwrap();
    folder
}
