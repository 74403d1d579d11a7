//! The sandbox where there is none: it says so instead of pretending.

use crate::{HostJob, Job, Level, Limits, Report, SandboxError, SandboxSettings, SandboxStats};

/// There is nothing to start here.
pub fn init() {}

/// There are no commands here.
pub fn descends_from_command() -> bool {
    false
}

/// Runs nothing.
#[derive(Debug)]
pub struct Sandbox(());

/// There is never one.
#[derive(Debug)]
pub enum Process {}

impl Sandbox {
    /// Starts nothing.
    pub fn new(_: SandboxSettings) -> Self {
        Self(())
    }

    /// There is nothing to report.
    #[expect(clippy::unused_async, reason = "as on Linux")]
    pub async fn report(&self) -> Result<&Report, SandboxError> {
        Err(SandboxError::Unsupported)
    }

    /// There is nothing to report.
    pub fn report_now(&self) -> Result<&Report, SandboxError> {
        Err(SandboxError::Unsupported)
    }

    /// Refuses.
    pub fn check(&self, _: Level, _: &Limits) -> Result<(), SandboxError> {
        Err(SandboxError::Unsupported)
    }

    /// Refuses.
    #[expect(clippy::unused_async, reason = "as on Linux")]
    pub async fn start(&self, _: Job) -> Result<Process, SandboxError> {
        Err(SandboxError::Unsupported)
    }

    /// Refuses.
    #[expect(clippy::unused_async, reason = "as on Linux")]
    pub async fn start_on_host(&self, _: HostJob) -> Result<Process, SandboxError> {
        Err(SandboxError::Unsupported)
    }

    /// It does nothing.
    pub fn stats(&self) -> SandboxStats {
        SandboxStats::default()
    }

    /// There is nothing to end.
    #[expect(clippy::unused_async, reason = "as on Linux")]
    pub async fn shutdown(&self) {}
}
