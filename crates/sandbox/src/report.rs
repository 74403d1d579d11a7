//! What a machine offers.

use serde::{Deserialize, Serialize};

use crate::{IsolationMode, Level};

/// What a machine offers, feature by feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// What commands get here.
    pub level: Level,
    /// How they are isolated and limited; `None` if they cannot be.
    pub mode: Option<IsolationMode>,
    /// What a command in this mode lacks of full isolation: each a noun, and after a colon what that
    /// means.
    pub lacks: Vec<String>,
    /// The one command that gives this machine better isolation, if one does.
    pub fix: Option<String>,
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
    /// Why the level is not better, in a few words, with the command that helps.
    pub fn reason(&self) -> String {
        let missing = self.features.iter().find_map(|feature| match &feature.found {
            Found::Yes(_) | Found::NotNeeded(_) => None,
            Found::No { reason, fix } => Some((&feature.name, reason, fix)),
        });
        let Some((name, reason, fix)) = missing else { return String::new() };
        let fix = self.fix.as_ref().unwrap_or(fix);
        format!("{name} cannot be used ({reason}); to change that: {fix}")
    }

    /// What is missing, in a line; empty if nothing is.
    pub fn missing(&self) -> String {
        let line = |feature: &Feature| match &feature.found {
            Found::Yes(_) | Found::NotNeeded(_) => None,
            Found::No { reason, fix } => Some(format!("{}: {reason} ({fix})", feature.name)),
        };
        self.features.iter().filter_map(line).collect::<Vec<_>>().join("; ")
    }
}
