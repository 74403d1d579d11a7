//! What a record must survive.

/// What a record has survived once it is appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A killed process.
    Process,
    /// A power cut too.
    Disk,
}
