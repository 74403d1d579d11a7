//! The name of an approval.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool::ItemId;

/// Names an approval, and the grant it led to. People type the beginning of it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ApprovalId(ItemId);

impl ApprovalId {
    /// A random one.
    pub(super) fn random() -> Self {
        Self(ItemId::random())
    }

    /// The beginning of it, for people.
    pub fn short(&self) -> &str {
        self.0.short()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Forgives what people mistype; see [`ItemId`].
impl FromStr for ApprovalId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| {
            format!("`{text}` is not an approval id; `toolgate approvals list` shows them")
        })
    }
}
