//! What would happen to a call.

use std::sync::Arc;

use policy::{Decision, Verdict};
use serde_json::Value;
use tool::{Caller, Plan, ToolError};

use crate::{
    ask::remembered,
    call::Planned,
    emergency::refuse_if_stopped,
    shared::Shared,
    stages::{Considered, Standing, consider, find, plan, scope, scopes, standing},
    subject::{Exact, pin},
};

/// What would happen to a call.
#[derive(Debug)]
pub struct Check {
    /// What policy says.
    pub decision: Decision,
    /// The outcome's error, where the call could not run at all.
    pub error: Option<ToolError>,
    /// What it needs.
    pub plan: Option<Arc<Plan>>,
}

/// Asks the same questions as the stages, in the same order, and runs nothing.
pub(crate) async fn check(shared: &Shared, caller: &Caller, name: &str, args: &Value) -> Check {
    if let Err(error) = refuse_if_stopped(shared) {
        return Check::refused(error, None);
    }
    let found = find(shared, caller, name).and_then(|(entry, _)| {
        Ok((entry.info().name.clone(), plan(shared, caller, &entry, args)?))
    });
    let (tool, planned) = match found {
        Ok(found) => found,
        Err(error) => return Check::refused(error, None),
    };
    let plan = Some(planned.plan().clone());
    match decided(shared, caller, &tool, &planned).await {
        Ok(Considered { decision, error, suspects: _ }) => Check { decision, error, plan },
        Err(error) => Check::refused(error, plan),
    }
}

async fn decided(
    shared: &Shared,
    caller: &Caller,
    tool: &str,
    planned: &Planned,
) -> Result<Considered, ToolError> {
    let exact = || async {
        let pinned = pin(shared, caller, planned.plan()).await?;
        let caller = Arc::new(caller.clone());
        Ok::<_, ToolError>(Exact::new(&caller, tool.into(), planned, pinned.as_deref()))
    };
    let mut overridden = None;
    for capability in planned.plan().capabilities() {
        match standing(shared, caller, planned.plan(), capability).await? {
            Standing::Granted | Standing::Unasked => {}
            Standing::Overridden(decision) => overridden = Some(decision),
            Standing::Ask(decision) => {
                let (rule, scopes) = (&decision.rule, [scope(capability)]);
                if remembered(shared, &exact().await?, rule, &scopes).await?.is_none() {
                    return Ok(Considered { decision, error: None, suspects: Vec::new() });
                }
            }
        }
    }
    let mut considered = consider(shared, caller, planned).await?;
    if considered.decision.verdict == Verdict::Allow {
        considered.decision = overridden.unwrap_or(considered.decision);
    }
    if considered.decision.verdict == Verdict::Ask {
        let (rule, scopes) = (&considered.decision.rule, scopes(shared, planned));
        if let Some(grant) = remembered(shared, &exact().await?, rule, &scopes).await? {
            let reason = format!("{} agreed to it before", grant.granted_by);
            let rule = format!("approval:{}", grant.id);
            considered.decision = Decision::new(Verdict::Allow, &rule, reason);
        }
    }
    Ok(considered)
}

impl Check {
    fn refused(error: ToolError, plan: Option<Arc<Plan>>) -> Self {
        let rule = if let ToolError::Denied { rule, .. } = &error { rule } else { error.kind() };
        let decision = Decision::new(Verdict::Deny, rule, error.to_string());
        Self { decision, error: Some(error), plan }
    }
}
