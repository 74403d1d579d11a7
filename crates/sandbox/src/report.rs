//! What a machine offers.

use serde::{Deserialize, Serialize};

use crate::Level;

/// What a machine offers, feature by feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What commands get here.
    pub level: Level,
    /// What was looked for, in a fixed order.
    pub features: Vec<Feature>,
}

/// One thing of the kernel that the sandbox is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feature {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Whether it is there.
    pub found: Found,
}

/// Whether a feature is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// It was tried and it works; with what is worth knowing about it.
    Yes(String),
    /// It is not needed here, for this reason.
    NotNeeded(String),
    /// It was tried and it does not work.
    No {
        /// What the kernel said.
        reason: String,
        /// What to do.
        fix: String,
    },
}

impl Report {
    /// What is missing, in a line; empty if nothing is.
    pub fn missing(&self) -> String {
        let line = |feature: &Feature| match &feature.found {
            Found::Yes(_) | Found::NotNeeded(_) => None,
            Found::No { reason, fix } => Some(format!("{}: {reason} ({fix})", feature.name)),
        };
        self.features.iter().filter_map(line).collect::<Vec<_>>().join("; ")
    }
}
