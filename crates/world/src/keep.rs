//! How long pre-images and artifacts stay.

use std::time::Duration;

/// How much of the past is kept: pre-images and artifacts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// At most this many bytes.
    pub bytes: u64,
    /// At most this long.
    pub age: Duration,
}

impl Default for Keep {
    fn default() -> Self {
        Self { bytes: 10 * 1024 * 1024 * 1024, age: Duration::from_hours(30 * 24) }
    }
}

/// What [`crate::World::prune`] dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many pre-images and artifacts.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
}
