//! How a command ended.

use std::time::Duration;

/// How a command ended and what it used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// What it returned, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Processor time of the whole tree.
    pub cpu: Duration,
    /// Most memory any one of its processes held.
    pub max_rss_bytes: u64,
    /// From when it was asked for until nothing of it was left.
    pub wall: Duration,
    /// Who or what ended it.
    pub ended_by: EndedBy,
    /// How many of its processes the kernel killed because memory was short; unknown counts as none.
    pub memory_kills: u64,
}

/// Who or what ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// It returned, or a signal from inside ended it.
    Itself,
    /// We were asked to.
    Killed,
    /// It used more memory than it may.
    Memory,
    /// It had more processes and threads than it may.
    Processes,
    /// It wrote more than it may.
    Written,
}
