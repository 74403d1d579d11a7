//! Ends a call that takes too long, or that nobody wants any more.

use std::{pin::pin, sync::Arc, time::Instant};

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
        let began = Instant::now();
        call.deadline = Some(began + timeout);
        let live = call.live.clone();
        let mut work = pin!(Call::unless_stopped(&live, next.run(call)));
        if let Some(result) = self.0.soon.at_once(work.as_mut()).await {
            return result?;
        }
        tokio::select! {
            biased;
            result = work => return result?,
            // A person is waited for in nobody's time.
            () = live.spent(began, timeout) => {}
        }
        // What still runs on another thread sees this and stops.
        live.time_out(timeout);
        Err(ToolError::TimedOut(timeout))
    }
}
