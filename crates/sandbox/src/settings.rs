//! How a sandbox is set up.

use std::path::PathBuf;

/// How a sandbox is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The user and group of the host that commands run as when we run as root; nobody else's files
    /// or processes should belong to it. As any other user, commands run as that user.
    pub dedicated_id: u32,
    /// Folders of the system that can be seen inside, read-only, where they exist.
    pub system: Vec<PathBuf>,
    /// How many launchers may wait for a call, so that one starts at once. The first call makes two.
    pub parked: usize,
    /// How many commands may run at the same time.
    pub max_running: usize,
    /// Whether cgroups are used; without them memory and processes are watched.
    pub cgroups: Cgroups,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        let system = [
            "/usr",
            "/bin",
            "/sbin",
            "/lib",
            "/lib32",
            "/lib64",
            "/libx32",
            "/nix/store",
            "/gnu/store",
        ];
        Self {
            dedicated_id: 64990,
            system: system.map(PathBuf::from).to_vec(),
            parked: 8,
            max_running: 512,
            cgroups: Cgroups::Used,
        }
    }
}

/// Whether cgroups are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cgroups {
    /// Where they are writable.
    Used,
    /// Never; for tests, and for machines where something else owns them.
    Unused,
}
