//! How much a machine can hold a process.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How well a process is held, from not at all to entirely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not at all: something that nothing can stand in for is missing.
    None,
    /// Landlock and seccomp alone: a command shares the host's namespaces, and there is no overlay.
    Reduced,
    /// In namespaces of its own, with limits on the memory and the processes of the whole tree.
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no",
            Self::Reduced => "reduced",
            Self::Full => "full",
        })
    }
}
