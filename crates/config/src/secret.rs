//! Where a secret is.

use std::{fmt, path::PathBuf};

/// Where a secret is; never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// In the environment variable of this name.
    Env(String),
    /// In this file, less the line end after it.
    File(PathBuf),
}

/// The name of one of `secrets`. Not shown by `Debug`: somebody may have written the secret itself.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretName(pub(crate) String);

impl SecretName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// For programs that make their own configuration.
impl From<&str> for SecretName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl fmt::Debug for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretName(…)")
    }
}
