//! What a gate is doing, in numbers.

/// What a gate is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Calls that have a slot.
    pub running: usize,
    /// Calls that wait for one.
    pub waiting: usize,
    /// Questions that wait for a person's answer.
    pub open_questions: usize,
    /// Calls that were refused without a record, because so many of their user's were.
    pub unrecorded: u64,
    /// Results that are kept.
    pub cache_entries: u64,
    /// Calls that were answered with one.
    pub cache_hits: u64,
    /// Calls that could have been, and were not.
    pub cache_misses: u64,
}
