//! When a person is asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a person is asked; a later one is stricter.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Never.
    Auto,
    /// When a call changes something that cannot be undone.
    #[default]
    Smart,
    /// Whenever a call changes something.
    Always,
}

impl Ask {
    /// Every variant, mildest first.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Smart, Self::Always];

    /// The names people write, in the same order.
    pub const NAMES: &'static [&'static str] =
        &[Self::Auto.name(), Self::Smart.name(), Self::Always.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Smart => "smart",
            Self::Always => "always",
        }
    }
}
