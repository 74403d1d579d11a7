//! The official SDKs hold conversations with a server, unmodified, with a scripted model of every vendor behind it.
//!
//! Needs Python 3 and a package index the first time; what is installed is kept in the target folder.
#![expect(clippy::disallowed_methods, reason = "a test runs the programs it needs")]
#![expect(clippy::unwrap_used, reason = "a failed setup should fail the test")]
#![expect(clippy::print_stderr, reason = "whoever waits should see what for")]

mod api;
#[path = "../../../provider/tests/sdk/installed.rs"]
mod installed;
mod script;
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod served;
mod talks;

use installed::Result;

fn main() -> Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let folder = installed::installed()?;
    let python = folder.join("venv/bin/python");
    runtime.block_on(talks::talks(&python))?;
    eprintln!("the SDKs have talked");
    runtime.block_on(api::described(&folder.join("venv/bin/schemathesis")))?;
    eprintln!("2 passed, 0 failed");
    Ok(())
}
