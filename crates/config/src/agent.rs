//! The section `agents.<id>`.

use std::path::PathBuf;

use crate::{Names, Spanned};

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
    /// Only these; unset is no opinion, empty is nothing.
    pub allow: Option<Names>,
    /// Never these.
    pub deny: Option<Names>,
}
