//! Ends a call that takes too long, or that nobody wants any more.

use std::sync::Arc;

use tool::{ToolError, ToolResult};

use crate::{
    call::Call,
    pipeline::{Next, Stage},
    shared::Shared,
};

/// Stops a call after its tool's time, and when the caller goes away.
#[derive(Debug)]
pub(crate) struct Deadline(pub(crate) Arc<Shared>);

impl Stage for Deadline {
    const NAME: &'static str = "deadline";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        let timeout = self.0.settings.load().timeout(call.tool()?.info());
        call.deadline = Some(std::time::Instant::now() + timeout);
        let live = call.live.clone();
        let run = Call::unless_stopped(&live, next.run(call));
        if let Ok(result) = tokio::time::timeout(timeout, run).await {
            return result?;
        }
        // What still runs on another thread sees this and stops.
        live.time_out(timeout);
        Err(ToolError::TimedOut(timeout))
    }
}
