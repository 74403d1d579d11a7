//! The official SDKs, installed once for every test that talks to them.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tool::Digest;

/// What is installed, from any crate beside this one.
const REQUIREMENTS: &str = "../provider/tests/sdk/requirements.txt";
/// Schemas from real APIs, many of them not quite JSON Schema.
const SCHEMAS: &str = "bfcl-eval==2026.3.23";

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Installs what the script needs, once for each set of versions.
pub(crate) fn installed() -> Result<PathBuf> {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join(REQUIREMENTS);
    let wanted = Digest::of(format!("{}{SCHEMAS}", fs::read_to_string(&requirements)?)).to_string();
    let name: String = wanted.chars().take(16).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sdk-{name}"));
    if folder.join("complete").exists() {
        return Ok(folder);
    }
    // What an interrupted run left is not to be trusted.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    eprintln!("installing the SDKs into {}", folder.display());
    let (venv, schemas) = (folder.join("venv"), folder.join("schemas"));
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let pip = || {
        let mut pip = Command::new(venv.join("bin/python"));
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
        pip
    };
    run(pip().arg("install").arg("-r").arg(requirements))?;
    run(pip().args(["download", "--no-deps", SCHEMAS, "-d"]).arg(&schemas))?;
    for wheel in fs::read_dir(&schemas)? {
        run(Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(wheel?.path())
            .arg(&schemas))?;
    }
    fs::write(folder.join("complete"), "")?;
    Ok(folder)
}

/// Runs a program that must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}
