//! Answers with an earlier result where the tool allows it.

use std::sync::Arc;

use tool::{Digest, ToolResult};

use crate::{
    call::Call,
    pipeline::{Next, Stage},
    shared::Shared,
};

/// Keeps results of tools that declare how long they last, for the same user, view and arguments.
#[derive(Debug)]
pub(crate) struct Reuse(pub(crate) Arc<Shared>);

impl Stage for Reuse {
    const NAME: &'static str = "reuse";

    async fn handle(&self, call: Box<Call>, next: Next<'_>) -> ToolResult {
        let lasts = call.tool()?.info().cache;
        let planned = call.planned()?;
        // What changes something must happen each time it is asked for.
        let Some(lasts) = lasts.filter(|_| !planned.plan().effects().changes()) else {
            return next.run(call).await;
        };
        let key = Digest::of_parts([
            planned.fingerprint().as_bytes().as_slice(),
            call.caller.user.as_bytes(),
            call.caller.agent.as_bytes(),
            call.caller.session.as_bytes(),
            &call.generation.to_le_bytes(),
        ]);
        if let Some(kept) = self.0.cache.get(&key) {
            let mut output = (*kept).clone();
            output.answered_by = Some("cache".to_owned());
            return Ok(output);
        }
        let result = next.run(call).await;
        if let Ok(output) = &result {
            self.0.cache.put(key, output, lasts);
        }
        result
    }
}
