//! The official SDKs as judges of our formats: `check.py` holds everything we send against their typed
//! models, and a large collection of schemas from real APIs too; `clients.py` lets their clients talk to
//! a server on loopback that answers with what we write.
//!
//! Needs Python 3 and a package index the first time; what is installed is kept in the target folder.
#![expect(clippy::disallowed_methods, reason = "a test runs the programs it needs")]
#![expect(clippy::print_stderr, reason = "whoever waits should see what for")]

mod installed;
mod wire;

use std::{env, path::Path, process::Command};

use installed::{Result, installed, run};

fn main() -> Result<()> {
    // The script asks this program line by line.
    if env::args().nth(1).as_deref() == Some("wire") {
        return wire::serve();
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk");
    let folder = installed()?;
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
