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

/// What takes the place of counted memory where no cgroup is writable: so few processes with so
/// little address space each that they cannot exceed the limit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rationed {
    pub(crate) processes: u32,
    pub(crate) address_space: u64,
}

impl Rationed {
    // A shell, a compiler and its linker need some; a process with less than this cannot start.
    const FEWEST: u64 = 4;
    const USUAL: u64 = 256 * MIB;

    pub(crate) fn new(limits: &Limits) -> Self {
        let affordable = (limits.memory_bytes / Self::USUAL).max(Self::FEWEST);
        let processes = affordable.min(u64::from(limits.processes)).max(1);
        let address_space = limits.memory_bytes / processes;
        Self { processes: u32::try_from(processes).unwrap_or(u32::MAX), address_space }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rationed_processes_cannot_exceed_the_limit_together() {
        for (mib, processes, expected) in
            [(512, 256, (4, 128)), (2048, 2048, (8, 256)), (2048, 2, (2, 1024)), (64, 0, (1, 64))]
        {
            let limits = Limits { memory_bytes: mib * MIB, processes, ..Limits::default() };
            let Rationed { processes, address_space } = Rationed::new(&limits);
            assert_eq!((processes, address_space / MIB), expected);
            assert!(u64::from(processes) * address_space <= limits.memory_bytes);
        }
    }
}
