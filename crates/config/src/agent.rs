//! The section `agents.<id>`.

use std::{collections::BTreeMap, num::NonZeroUsize, path::PathBuf, time::Duration};

use tool::Rate;

use crate::{Decimal, Layer, Names, ProfileName, Prompt, Spanned, Text};

/// What is different for one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// What it is for, as other agents and people are told.
    pub description: Option<Spanned<Text>>,
    /// The model: `provider/model`, or a model of the default provider.
    pub model: Option<Spanned<String>>,
    /// What the model is told before anything else.
    pub prompt: Option<Spanned<Prompt>>,
    /// How long one answer of the model may be.
    pub max_tokens: Option<Spanned<u32>>,
    /// How much the model leaves to chance.
    pub temperature: Option<Spanned<Decimal>>,
    /// What one run may use up.
    pub limits: Budget,
    /// Agents it may start; unset is what `tools.subagents.agents` says.
    pub subagents: Option<Names>,
    /// Agents whose sessions it may see besides its own.
    pub sessions: Option<Names>,
    /// The folder its file tools work in; absolute.
    pub workspace: Option<Spanned<PathBuf>>,
    /// The tools it has.
    pub tools: AgentTools,
}

/// What one run of an agent may use up: from a question to its answer, with all calls in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Calls of tools; unset is no limit.
    pub calls: Option<Spanned<u32>>,
    /// Tokens of the model, read and written.
    pub tokens: Spanned<u32>,
    /// US dollars; unset is no limit.
    pub cost: Option<Spanned<Decimal>>,
    /// Time, waiting for people included.
    pub time: Spanned<Duration>,
    /// Calls that run at once for one user, whatever runs there are; unset is as for every agent.
    pub at_once: Option<Spanned<NonZeroUsize>>,
    /// How often one user may call tools through it; unset is no limit.
    pub rate: Option<Spanned<Rate>>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            calls: None,
            tokens: 2_000_000.into(),
            cost: None,
            time: Duration::from_hours(1).into(),
            at_once: None,
            rate: None,
        }
    }
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
