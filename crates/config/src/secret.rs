//! Where a secret is.

use std::path::PathBuf;

/// Where a secret is; never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// In the environment variable of this name.
    Env(String),
    /// In this file, less the line end after it.
    File(PathBuf),
}
