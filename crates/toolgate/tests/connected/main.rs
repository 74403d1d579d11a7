//! Clients read what `toolgate connect` writes: with their own programs where those can be installed, else with
//! the parser they use and their own description of the form.
//!
//! Needs npm and a package registry the first time; what is installed is kept in the target folder.
#![expect(clippy::disallowed_methods, reason = "a test runs the programs it needs")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what fails should fail the test"
)]
#![expect(clippy::print_stderr, reason = "whoever waits should see what for")]

mod forms;
#[cfg(target_arch = "x86_64")]
mod goose;
mod hook;
mod install;
mod own;
mod person;

use install::{Installed, Result};

fn main() -> Result<()> {
    let installed = Installed::all()?;
    own::claude_code_connects(&installed);
    own::codex_lists_it(&installed);
    own::openclaw_finds_it_valid(&installed);
    forms::the_others_can_read_it(&installed);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(hook::claude_code_asks(&installed));
    #[cfg(target_arch = "x86_64")]
    runtime.block_on(goose::goose_offers_it(&installed));
    let passed = if cfg!(target_arch = "x86_64") { 6 } else { 5 };
    eprintln!("{passed} passed, 0 failed");
    Ok(())
}
