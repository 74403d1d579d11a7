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
        self.count(&call.caller, info, &settings)?;
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

impl RateLimit {
    /// Counts a call against what its user may do in all, through its agent, and with its tool.
    fn count(
        &self,
        caller: &Caller,
        tool: &ToolInfo,
        settings: &Settings,
    ) -> Result<(), ToolError> {
        let Caller { user, agent, .. } = caller;
        let tools = |rate| (format!("`{}` may be called", tool.name), tool.name.clone(), rate);
        // What stands here in place of the name of a tool is none.
        let all = |rate| ("you may call tools".to_owned(), Arc::from("*"), rate);
        let through = |rate| {
            (
                format!("agent `{agent}` may call tools for you"),
                Arc::from(format!("@{agent}")),
                rate,
            )
        };
        let limits: [Option<(String, Arc<str>, Rate)>; 3] = [
            settings.rate(tool).map(tools),
            settings.agent_rate(caller).map(through),
            settings.user_rate(caller).map(all),
        ];
        for (what, name, rate) in limits.into_iter().flatten() {
            self.0.rates.take(user, &name, rate).map_err(|wait| ToolError::RateLimited {
                reason: format!("{what} {} times in {} s", rate.calls, rate.per.as_secs()),
                retry_after: wait,
            })?;
        }
        Ok(())
    }
}
