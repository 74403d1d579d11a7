//! Finds the tool.

use std::sync::Arc;

use tool::{Caller, ToolError, ToolResult};

use super::rate::count_user;
use crate::{
    call::Call,
    emergency::admit,
    pipeline::{Next, Stage},
    registry::Entry,
    shared::Shared,
    views::Found,
};

/// What non-owners are told about a tool that is the owner's alone.
const OWNER_ONLY: &str = "Tool restricted to owner senders.";

/// Looks the name up in what the caller has. Nothing is learnt about a tool that is not theirs.
#[derive(Debug)]
pub(crate) struct Resolve(pub(crate) Arc<Shared>);

impl Stage for Resolve {
    const NAME: &'static str = "resolve";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        // Before anything else: nothing is learnt and nobody is disturbed while everything is stopped.
        admit(&self.0, &call)?;
        // The gate's own operations bring their tool along; it is in nobody's view.
        if call.tool.is_none() {
            let found = find(&self.0, &call.caller, &call.name);
            if found.is_err() {
                // Whoever tries names is counted as whoever calls.
                count_user(&self.0, &call.caller)?;
            }
            let (entry, generation) = found?;
            (call.tool, call.generation) = (Some(entry), generation);
        }
        let name = call.tool()?.info().name.clone();
        call.learnt.now().tool = Some(name);
        next.run(call).await
    }
}

/// The tool that `name` means to `caller`, and the generation of the view that said so.
pub(crate) fn find(
    shared: &Shared,
    caller: &Caller,
    name: &str,
) -> Result<(Arc<Entry>, u64), ToolError> {
    check_agents(shared, caller)?;
    let view = shared.view(caller);
    match view.find(name) {
        Found::Tool(entry) => Ok((entry.clone(), view.generation())),
        Found::Withheld(_, rule) if rule.layer == "owner" => {
            Err(ToolError::denied(Resolve::NAME, "owner", OWNER_ONLY))
        }
        Found::Withheld(_, rule) => Err(not_available(name, &rule.text)),
        // About the machine the owner may learn everything.
        Found::Unavailable(entry, reason) if caller.is_owner() => {
            let tool = entry.info().name.to_string();
            Err(ToolError::NotWorking { tool, reason: reason.to_owned() })
        }
        Found::Unavailable(_, reason) => Err(not_available(name, reason)),
        Found::Unknown => Err(not_available(name, "there is no such tool")),
    }
}

/// An agent that is gone has no rules any more, and neither has what it started.
fn check_agents(shared: &Shared, caller: &Caller) -> Result<(), ToolError> {
    let settings = shared.settings.load();
    let gone = &settings.config.gone;
    if gone.is_empty() {
        return Ok(());
    }
    match caller.chain().find(|caller| gone.contains(&*caller.agent)) {
        None => Ok(()),
        Some(Caller { agent, .. }) => {
            let reason = format!("agent `{agent}` was removed, or cannot work any more");
            Err(ToolError::denied(Resolve::NAME, "agent", reason))
        }
    }
}

/// The reason is for the operator alone.
fn not_available(name: &str, reason: &str) -> ToolError {
    tracing::info!(tool = name, reason, "not available");
    ToolError::NotAvailable(name.to_owned())
}
