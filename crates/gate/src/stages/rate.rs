//! Keeps anybody from calling too often.

use std::{sync::Arc, time::Duration};

use tool::{Caller, Rate, ToolError, ToolInfo, ToolResult};

use crate::{
    call::Call,
    pipeline::{Next, Stage},
    settings::Settings,
    shared::Shared,
};

/// Counts calls per user, agent and tool, and questions per session.
#[derive(Debug)]
pub(crate) struct RateLimit(pub(crate) Arc<Shared>);

impl Stage for RateLimit {
    const NAME: &'static str = "rate";

    async fn handle(&self, call: Box<Call>, next: Next<'_>) -> ToolResult {
        let info = call.tool()?.info();
        let settings = self.0.settings.load();
        count(&self.0, &call.caller, info, &settings)?;
        // A tool that changes nothing seldom asks; those that may are held off before hooks run.
        if info.effects.changes() {
            let open = self.0.questions.open(&call.caller);
            let max = settings.config.limits.open_questions.value;
            if open >= max {
                return Err(ToolError::RateLimited {
                    reason: format!("{open} questions of this session wait for an answer already"),
                    retry_after: Duration::from_secs(30),
                });
            }
        }
        next.run(call).await
    }
}

/// Counts a call against what its user may do in all, through its agent, and with its tool.
fn count(
    shared: &Shared,
    caller: &Caller,
    tool: &ToolInfo,
    settings: &Settings,
) -> Result<(), ToolError> {
    if let Some(rate) = settings.rate(tool) {
        take(shared, caller, (&tool.name, rate), || format!("`{}` may be called", tool.name))?;
    }
    if let Some(rate) = settings.agent_rate(caller) {
        let agent = &caller.agent;
        let name = Arc::from(format!("@{agent}"));
        take(shared, caller, (&name, rate), || format!("agent `{agent}` may call tools for you"))?;
    }
    count_user(shared, caller)
}

/// Counts a call against what its user may do in all.
pub(super) fn count_user(shared: &Shared, caller: &Caller) -> Result<(), ToolError> {
    let Some(rate) = shared.settings.load().user_rate(caller) else { return Ok(()) };
    // What stands here in place of the name of a tool is none.
    take(shared, caller, (&Arc::from("*"), rate), || "you may call tools".to_owned())
}

fn take(
    shared: &Shared,
    caller: &Caller,
    (name, rate): (&Arc<str>, Rate),
    what: impl FnOnce() -> String,
) -> Result<(), ToolError> {
    shared.rates.take(&caller.user, name, rate).map_err(|wait| ToolError::RateLimited {
        reason: format!("{} {} times in {} s", what(), rate.calls, rate.per.as_secs()),
        retry_after: wait,
    })
}
