//! What would happen to a call.

use std::sync::Arc;

use policy::{Decision, Verdict};
use serde_json::Value;
use tool::{Caller, Plan, ToolError};

use crate::{
    ask::{EarlierAnswers, remembered},
    call::Planned,
    emergency::refuse_if_stopped,
    shared::Shared,
    stages::{
        Considered, Standing, consider, find, plan, scope, scopes, standing, with_permissions,
    },
    subject::{Exact, bound, pin},
    views::{Found, View},
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

/// The same, for whoever owns the policy and may see which rule it was.
pub(crate) async fn check_openly(
    shared: &Shared,
    caller: &Caller,
    name: &str,
    args: &Value,
) -> Check {
    let mut check = check(shared, caller, name, args).await;
    if matches!(check.error, Some(ToolError::NotAvailable(_) | ToolError::NotWorking { .. })) {
        check.decision = not_available(&shared.view(caller), name);
    }
    check
}

fn not_available(view: &View, name: &str) -> Decision {
    let deny = |rule: &str, why: String| {
        let reason = format!("tool `{name}` is not available: {why}");
        Decision::new(Verdict::Deny, rule, reason)
    };
    match view.find(name) {
        Found::Withheld(_, rule) => {
            let at = rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
            deny(&format!("policy.{}", rule.layer), format!("{}{at}", rule.text))
        }
        Found::Unavailable(_, reason) => deny("unavailable", reason.to_owned()),
        Found::Tool(_) | Found::Unknown => {
            deny("unknown", "there is no such tool; `toolgate tools` lists them".to_owned())
        }
    }
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
    let (mut overridden, mut lacking) = (None, Vec::new());
    for capability in planned.plan().capabilities() {
        match standing(shared, caller, planned.plan(), capability).await? {
            Standing::Granted | Standing::Unasked => {}
            Standing::Overridden(decision) => overridden = Some(decision),
            Standing::Ask(decision) => {
                let (rule, scopes) = (&decision.rule, [scope(capability)]);
                if remembered(shared, &exact().await?, rule, &scopes).await?.is_none() {
                    lacking.push(decision);
                }
            }
        }
    }
    let mut considered = consider(shared, caller, planned.plan()).await?;
    if considered.decision.verdict == Verdict::Allow {
        considered.decision = overridden.unwrap_or(considered.decision);
    }
    considered.decision = with_permissions(considered.decision, &lacking);
    if considered.decision.verdict == Verdict::Ask {
        let pinned = pin(shared, caller, planned.plan()).await?;
        let (decision, earlier) = bound(&considered.decision, planned.plan(), pinned.as_deref());
        considered.decision = decision;
        let (rule, scopes) = (&considered.decision.rule, scopes(shared, planned));
        if earlier == EarlierAnswers::Count
            && let Some(grant) = remembered(shared, &exact().await?, rule, &scopes).await?
        {
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

/// A call as text, `{"tool": …, "arguments": …}`: the tool, the arguments, and all of it.
pub fn named(text: &str) -> Result<(String, Value, Value), String> {
    let form = r#"expected {"tool": …, "arguments": …}"#;
    let call = tool::parse_json(text).map_err(|error| format!("{form}: {error}"))?;
    let fields = call.as_object().ok_or_else(|| form.to_owned())?;
    if let Some(other) = fields.keys().find(|key| !matches!(key.as_str(), "tool" | "arguments")) {
        return Err(format!("{form}: `{other}` is neither"));
    }
    let name = fields.get("tool").and_then(Value::as_str);
    let name = name.ok_or_else(|| format!("{form}: `tool` must be a string"))?.to_owned();
    let arguments = fields.get("arguments").cloned().unwrap_or_default();
    Ok((name, arguments, call))
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_call_names_its_tool() {
        for (text, expected) in [
            (r#"{"tool":"read","arguments":{"path":"a"}}"#, true),
            (r#"{"tool":"read"}"#, true),
            (r#"{"tool":1}"#, false),
            (r#"{"tool":"read","tool":"write"}"#, false),
            (r#"{"tool":"read","args":{}}"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(named(text).is_ok(), expected, "{text}");
        }
    }
}
