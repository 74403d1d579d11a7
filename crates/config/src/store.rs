//! The section `store`.

use crate::Spanned;

/// What is kept, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Undo data and artifacts together; the oldest of whoever has most go first.
    pub keep_bytes: Spanned<u64>,
    /// Undo data and artifacts older than this go.
    pub keep_days: Spanned<u32>,
    /// Arguments and outputs in the journal; unset is for ever.
    pub payload_days: Option<Spanned<u32>>,
}

impl Default for Store {
    fn default() -> Self {
        Self { keep_bytes: 1_000_000_000.into(), keep_days: 30.into(), payload_days: None }
    }
}
