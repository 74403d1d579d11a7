//! The section `tools`.

use std::{collections::BTreeMap, path::PathBuf};

use tool::{Ask, FilePath};

use crate::{Elevated, Exec, Isolation, Layer, ProfileName, Spanned, Web};

/// A list of names in which every name has its line, and an empty list has one too.
pub type Names = Spanned<Vec<Spanned<String>>>;

/// A list of names that stands in no file, for programs that make their own configuration.
pub fn names<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Names {
    names.into_iter().map(|name| Spanned::from(name.into())).collect::<Vec<_>>().into()
}

/// Which tools there are and when to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// The set of tools to start from; unset is what the role of the caller says.
    pub profile: Option<Spanned<ProfileName>>,
    /// Only these; unset is no opinion, empty is nothing.
    pub allow: Option<Names>,
    /// These besides the profile or `allow`.
    pub also_allow: Option<Names>,
    /// Never these.
    pub deny: Option<Names>,
    /// By the name of the model provider, as written.
    pub by_provider: BTreeMap<String, Layer>,
    /// By channel.
    pub by_channel: BTreeMap<String, Layer>,
    /// By sender.
    pub by_sender: BTreeMap<String, Layer>,
    /// For callers in a sandbox; never a profile.
    pub sandbox: Layer,
    /// For agents that another agent started; never a profile.
    pub subagents: Layer,
    /// Agents that any agent may start: `tools.subagents.agents`; unset is only itself.
    pub agents: Option<Names>,
    /// How deep agents may start agents: `tools.subagents.max_depth`.
    pub max_depth: Spanned<u32>,
    /// When a person is asked.
    pub ask: Spanned<Ask>,
    /// Who may answer besides the owner.
    pub approvers: Names,
    /// How commands run.
    pub exec: Exec,
    /// What the sandbox of a command offers and takes: `tools.sandbox`.
    pub isolation: Isolation,
    /// Who may run commands outside the sandbox.
    pub elevated: Elevated,
    /// What file tools can reach.
    pub fs: Fs,
    /// What tools do on the network.
    pub web: Web,
    /// Where `apply_patch` is offered.
    pub apply_patch: ApplyPatch,
}

/// Where `apply_patch` is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApplyPatch {
    /// Only to these models; unset is to all.
    pub models: Option<Names>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            profile: None,
            allow: None,
            also_allow: None,
            deny: None,
            by_provider: BTreeMap::new(),
            by_channel: BTreeMap::new(),
            by_sender: BTreeMap::new(),
            sandbox: Layer::default(),
            subagents: Layer::default(),
            agents: None,
            max_depth: 3.into(),
            ask: Spanned::default(),
            approvers: Spanned::default(),
            exec: Exec::default(),
            isolation: Isolation::default(),
            elevated: Elevated::default(),
            fs: Fs::default(),
            web: Web::default(),
            apply_patch: ApplyPatch::default(),
        }
    }
}

impl Tools {
    /// What it says about everybody.
    pub fn layer(&self) -> Layer {
        Layer {
            profile: self.profile.clone(),
            allow: self.allow.clone(),
            also_allow: self.also_allow.clone(),
            deny: self.deny.clone(),
        }
    }
}

/// What file tools can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fs {
    /// Folders besides the workspace; absolute.
    pub roots: Spanned<Vec<Spanned<PathBuf>>>,
    /// Paths nobody may write, besides the built-in list.
    pub protected: Spanned<Vec<Spanned<FilePath>>>,
}
