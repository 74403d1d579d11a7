//! The section `agents.<id>`.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{Layer, Names, ProfileName, Spanned};

/// What is different for one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// The folder its file tools work in; absolute.
    pub workspace: Option<Spanned<PathBuf>>,
    /// The tools it has.
    pub tools: AgentTools,
}

/// The tools one agent has, out of those everybody has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentTools {
    /// The set of tools to start from, instead of the one for everybody.
    pub profile: Option<Spanned<ProfileName>>,
    /// Only these; unset is no opinion, empty is nothing.
    pub allow: Option<Names>,
    /// These besides the profile or `allow`.
    pub also_allow: Option<Names>,
    /// Never these.
    pub deny: Option<Names>,
    /// By the name of the model provider, as written.
    pub by_provider: BTreeMap<String, Layer>,
}

impl AgentTools {
    /// What it says whatever the provider.
    pub fn layer(&self) -> Layer {
        Layer {
            profile: self.profile.clone(),
            allow: self.allow.clone(),
            also_allow: self.also_allow.clone(),
            deny: self.deny.clone(),
        }
    }
}
