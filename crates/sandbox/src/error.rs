//! Why a command did not run.

use std::{io, path::PathBuf};

use crate::Level;

/// Why a command did not run. Whatever it is: nothing of the command was executed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SandboxError {
    #[error(
        "the sandbox cannot start itself; call `toolgate::init()` first in `main` of the program"
    )]
    NotInitialised,
    #[error("the native sandbox needs Linux")]
    Unsupported,
    #[error("{0}")]
    Invalid(String),
    #[error(
        "this machine offers {found} isolation, and {minimum} isolation is the least allowed \
         (`tools.sandbox.minimum`): {why}"
    )]
    TooWeak { found: Level, minimum: Level, why: String },
    #[error("commands cannot be isolated here: {0}")]
    NoIsolation(String),
    #[error(
        "a limit of processor time (`tools.sandbox.cpu_percent`) needs a writable cgroup, and none \
         is: {0}"
    )]
    NoProcessorLimit(String),
    #[error("{0}")]
    NotHere(String),
    #[error("cannot open `{}` for the sandbox: {source}", path.display())]
    Source { path: PathBuf, source: io::Error },
    #[error("the sandbox could not be set up, so nothing ran: {step}: {source}")]
    SetUp { step: String, source: io::Error },
    #[error("cannot run `{program}`: {source}")]
    Exec { program: String, source: io::Error },
    #[error("cannot start a launcher: {0}")]
    Launcher(#[source] io::Error),
    #[error("the launcher died before the command had started")]
    LauncherDied,
    #[error("too many commands run at the same time ({0}); wait for one to end")]
    Busy(usize),
    #[error("the sandbox is shut down")]
    Stopped,
}
