//! What a model is told when a command did not run.

use sandbox::SandboxError;
use tool::ToolError;

/// Nothing of the command was executed.
pub(super) fn not_started(error: SandboxError) -> ToolError {
    match error {
        SandboxError::NotInitialised
        | SandboxError::Unsupported
        | SandboxError::NoIsolation(_)
        | SandboxError::NoProcessorLimit(_)
        | SandboxError::TooWeak { .. }
        | SandboxError::SetUp { .. } => {
            let reason = format!("{error}; `toolgate doctor` says what is missing");
            ToolError::denied("exec", "sandbox", reason)
        }
        SandboxError::NotHere(_) => ToolError::denied("exec", "sandbox", error.to_string()),
        SandboxError::Invalid(_) | SandboxError::Exec { .. } | SandboxError::Busy(_) => {
            ToolError::failed(error.to_string())
        }
        SandboxError::Source { .. }
        | SandboxError::Launcher(_)
        | SandboxError::LauncherDied
        | SandboxError::Stopped => {
            ToolError::failed_by(format!("the command could not be started: {error}"), error)
        }
    }
}
