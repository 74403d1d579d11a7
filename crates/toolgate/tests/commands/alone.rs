//! Tests in a process of their own.

use std::process::{Command, Stdio};

use crate::{environment, helper::block_on, lifetime, output, settings};

/// The first argument of such a process.
pub(crate) const ALONE: &str = "alone";
/// The same, of one that does not call `toolgate::init`.
pub(crate) const WITHOUT_INIT: &str = "alone-without-init";

/// Runs one of them in a process of its own, with these variables, and gives what it printed.
pub(crate) fn alone(role: &str, name: &str, env: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([role, name])
        .envs(env.iter().copied())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{name}: {}\n{printed}", output.status);
    printed
}

/// Is that process.
pub(crate) fn run() -> ! {
    let name = std::env::args().nth(2);
    match name.as_deref() {
        Some("environment") => block_on(environment::environment()),
        Some("flood") => block_on(output::flood()),
        Some("leaks") => block_on(lifetime::leaks()),
        Some("reduced") => block_on(settings::reduced()),
        Some("uninitialised") => block_on(environment::uninitialised()),
        other => panic!("there is no {other:?}"),
    }
    std::process::exit(0)
}
