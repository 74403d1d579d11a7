//! How commands are isolated and limited on a machine.

use std::fmt;

use serde::Serialize;

/// How commands are isolated and limited on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IsolationMode {
    /// What stands around a command.
    pub walls: IsolationWalls,
    /// What holds it to its limits.
    pub limits: LimitKeeper,
}

/// What stands around a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IsolationWalls {
    /// Namespaces, with Landlock and seccomp behind them.
    Namespaces,
    /// Landlock and seccomp alone.
    Landlock,
}

/// What holds a command to its limits of memory and processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LimitKeeper {
    /// The kernel, by a cgroup.
    Cgroup,
    /// The launcher, looking at all processes of the command.
    Watching,
}

impl fmt::Display for IsolationMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let walls = match self.walls {
            IsolationWalls::Namespaces => "namespaces",
            IsolationWalls::Landlock => "landlock",
        };
        let limits = match self.limits {
            LimitKeeper::Cgroup => "cgroup",
            LimitKeeper::Watching => "watching",
        };
        write!(f, "{walls}+{limits}")
    }
}

impl Serialize for IsolationMode {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}
