//! What a sandbox is doing, in numbers.

/// What a sandbox is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxStats {
    /// Launchers that wait.
    pub parked: usize,
    /// Commands that run.
    pub running: usize,
    /// Commands that were started since the process was.
    pub jobs: u64,
}
