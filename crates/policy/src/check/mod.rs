//! What would be decided about a command, a URL or a path, as if a call asked for it.

mod command;
mod path;
mod url;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tool::Plan;

pub use self::{
    command::{CommandCheck, MISSING},
    path::check_path,
    url::{Resolved, UrlCheck},
};
use crate::{Decision, Verdict};

/// The rule for what cannot be understood at all.
const UNREADABLE: &str = "input";

/// What would happen, and why.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Checked {
    /// What was asked about.
    pub input: Value,
    /// What would be decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// What it would need.
    #[serde(skip)]
    pub plan: Option<Arc<Plan>>,
}

impl Checked {
    /// About something that cannot be understood at all.
    pub fn unreadable(input: Value, problem: &str) -> Self {
        let decision = Decision::new(Verdict::Deny, UNREADABLE, problem);
        Self { input, decision, plan: None }
    }
}
