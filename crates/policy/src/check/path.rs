//! Paths.

use std::sync::Arc;

use config::Tools;
use tool::{Caller, Facts, Need, PathFact, Plan, ToolError};

use super::Checked;
use crate::{Situation, Untrusted, decide, url::UrlRules};

/// What would be decided about a path that is read or written; `fact` is what is there.
pub fn check_path(
    tools: &Tools,
    caller: &Caller,
    (path, need): (&str, Need),
    fact: Result<PathFact, ToolError>,
) -> Checked {
    let (plan, facts) = (Arc::new(Plan::from([need])), Facts { paths: vec![fact] });
    let urls = UrlRules::new(&tools.web.network);
    let situation = Situation { tools, urls: &urls, caller, untrusted: Untrusted::default() };
    let decision = decide(situation, &plan, &facts);
    Checked { input: path.into(), decision, plan: Some(plan) }
}
