//! Something large a call left behind.

use std::fs::File;

/// An artifact, open for reading.
#[derive(Debug)]
pub struct Artifact {
    /// Its content.
    pub file: File,
    /// Such as `text/plain`.
    pub mime: String,
    /// How large it is.
    pub bytes: u64,
}
