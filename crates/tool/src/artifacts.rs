//! Something large a call left behind.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, Caller, ToolError};

/// Names an artifact: the call it came from and a number within it. Read it as `artifact:ID`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ArtifactId(String);

impl ArtifactId {
    /// The `number`th artifact of `call`.
    pub fn new(call: CallId, number: usize) -> Self {
        Self(format!("{call}-{number}"))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An artifact, as an outcome names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactRef {
    /// Its name.
    pub id: ArtifactId,
    /// Such as `text/plain`.
    pub mime: String,
    /// How large it is.
    pub bytes: u64,
}

/// Keeps artifacts. Each belongs to one user.
pub trait ArtifactStore: fmt::Debug + Send + Sync {
    /// Keeps `content`. May block.
    fn put(
        &self,
        caller: &Caller,
        id: ArtifactId,
        mime: &str,
        content: &[u8],
    ) -> Result<ArtifactRef, ToolError>;
}
