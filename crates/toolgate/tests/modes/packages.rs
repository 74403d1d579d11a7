//! Programs that a machine may not have: installed as root, named otherwise.

use std::{path::Path, process::Command, sync::LazyLock};

/// A program, and the Debian package it comes with.
const NEEDED: &[(&str, &str)] = &[
    ("/usr/bin/node", "nodejs"),
    ("/usr/bin/java", "default-jre-headless"),
    ("/usr/bin/go", "golang-go"),
    ("/usr/bin/chromium", "chromium"),
    ("/usr/bin/python3", "python3"),
    ("/usr/bin/cc", "gcc"),
    ("/usr/bin/setpriv", "util-linux"),
];

/// Once for all tests.
static INSTALLED: LazyLock<Result<(), String>> = LazyLock::new(install);

/// Installs what is missing, or fails with the names of the packages.
pub(crate) fn install_missing() {
    if let Err(missing) = &*INSTALLED {
        panic!("install these packages, or run the tests as root: {missing}");
    }
}

fn missing() -> Vec<&'static str> {
    let is_missing = |path: &str| !Path::new(path).exists();
    let mut found: Vec<_> =
        NEEDED.iter().filter(|(path, _)| is_missing(path)).map(|(_, package)| *package).collect();
    let venv = Command::new("/usr/bin/python3").args(["-c", "import ensurepip"]).output();
    if !venv.is_ok_and(|output| output.status.success()) {
        found.push("python3-venv");
    }
    found
}

fn install() -> Result<(), String> {
    let packages = missing();
    if packages.is_empty() {
        return Ok(());
    }
    let named = || packages.join(" ");
    if !rustix::process::geteuid().is_root() || !Path::new("/usr/bin/apt-get").exists() {
        return Err(named());
    }
    eprintln!("installing {}", named());
    let mut update = Command::new("apt-get");
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends"]).args(&packages);
    for command in [update.arg("update"), &mut install] {
        let output = command.env("DEBIAN_FRONTEND", "noninteractive").output();
        let output = output.map_err(|error| format!("{} ({error})", named()))?;
        if !output.status.success() {
            return Err(format!("{} ({})", named(), String::from_utf8_lossy(&output.stderr)));
        }
    }
    if missing().is_empty() { Ok(()) } else { Err(missing().join(" ")) }
}
