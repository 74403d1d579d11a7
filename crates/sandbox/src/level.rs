//! How much a machine can hold a process.

use serde::{Deserialize, Serialize};

/// How well a process is held, from not at all to entirely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all: something that nothing can stand in for is missing.
    None,
    /// Isolated entirely, but limits are approximate: no cgroup is writable, so memory is bounded by
    /// few processes with a small address space each.
    Reduced,
    /// Isolated entirely, and the kernel counts memory and processes of the whole tree.
    Full,
}
