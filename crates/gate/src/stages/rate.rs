//! Keeps anybody from calling too often.

use std::{sync::Arc, time::Duration};

use tool::{ToolError, ToolResult};

use crate::{
    call::Call,
    pipeline::{Next, Stage},
    shared::Shared,
};

/// Counts calls per tool and user, and questions per session.
#[derive(Debug)]
pub(crate) struct RateLimit(pub(crate) Arc<Shared>);

impl Stage for RateLimit {
    const NAME: &'static str = "rate";

    async fn handle(&self, call: Box<Call>, next: Next<'_>) -> ToolResult {
        let info = call.tool()?.info();
        let settings = self.0.settings.load();
        if let Some(rate) = settings.rate(info) {
            self.0.rates.take(&call.caller.user, &info.name, rate).map_err(|wait| {
                ToolError::RateLimited {
                    reason: format!(
                        "`{}` may be called {} times in {} s",
                        info.name,
                        rate.calls,
                        rate.per.as_secs()
                    ),
                    retry_after: wait,
                }
            })?;
        }
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
