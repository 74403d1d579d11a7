//! What a call may use up.

const MIB: u64 = 1 << 20;

/// What one call may use up, all its processes together unless said otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Memory, swap included.
    pub memory_bytes: u64,
    /// Processes and threads.
    pub processes: u32,
    /// Processor time, in per cent of one core; 150 is one and a half. All there is if unset.
    pub cpu_percent: Option<u32>,
    /// Size of any one file.
    pub file_bytes: u64,
    /// Open files of any one process.
    pub open_files: u32,
    /// What may be written to disk.
    pub written_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 512 * MIB,
            processes: 256,
            cpu_percent: None,
            file_bytes: 1024 * MIB,
            open_files: 1024,
            written_bytes: 1024 * MIB,
        }
    }
}
