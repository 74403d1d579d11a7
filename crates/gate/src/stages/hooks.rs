//! Lets the operator's own code look at a call, change it, block it or answer it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use policy::{Decision, Verdict};
use tool::{ToolError, ToolOutput, ToolResult};

use crate::{
    call::{Call, Origin},
    hook::{Before, Hook, HookCall},
    pipeline::{Next, Stage},
    shared::Shared,
};

/// Runs the hooks around everything that is decided about a call.
#[derive(Debug)]
pub(crate) struct Hooks(pub(crate) Arc<Shared>);

impl Stage for Hooks {
    const NAME: &'static str = "hooks";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        // What a person does themselves is not a tool call.
        if call.origin == Origin::Person || self.0.hooks.iter().all(|hook| hook.is_idle()) {
            return next.run(call).await;
        }
        let timeout = self.0.settings.load().config.limits.hook_timeout.value;
        let seen = Seen::new(&call)?;
        let started = Instant::now();
        let mut result = match self.before(&mut call, timeout).await {
            Ok(None) => next.run(call).await,
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
        };
        if let Ok(output) = &mut result {
            self.persist(&seen, output);
        }
        self.after(&seen, &result, started.elapsed(), timeout).await;
        result
    }
}

/// What the hooks after a call are shown: the call as it came in.
struct Seen {
    id: tool::CallId,
    caller: Arc<tool::Caller>,
    tool: Arc<tool::ToolInfo>,
    args: Arc<serde_json::Value>,
}

impl Seen {
    fn new(call: &Call) -> Result<Self, ToolError> {
        let tool = call.tool()?.info().clone();
        Ok(Self { id: call.id, caller: call.caller.clone(), tool, args: call.args.clone() })
    }

    fn call(&self) -> HookCall<'_> {
        HookCall { id: self.id, caller: &self.caller, tool: &self.tool, args: &self.args }
    }
}

impl Hooks {
    /// In order; each sees what the one before it made of the call.
    async fn before(
        &self,
        call: &mut Call,
        timeout: Duration,
    ) -> Result<Option<ToolOutput>, ToolError> {
        for hook in &self.0.hooks {
            let seen = Seen::new(call)?;
            let answer = Call::unless_stopped(&call.live, asked(hook.as_ref(), &seen, timeout));
            match answer.await?? {
                Before::Continue => {}
                Before::Rewrite(args) => {
                    call.args = Arc::new(args);
                    call.learnt.now().input = call.args.clone();
                }
                Before::Block(reason) => return Err(blocked(hook.as_ref(), reason)),
                Before::Answer(mut output) => {
                    let rule = format!("hook:{}", hook.name());
                    call.learnt.now().decision =
                        Some(Decision::new(Verdict::Allow, &rule, "the hook answered"));
                    output.answered_by = Some(rule);
                    return Ok(Some(output));
                }
            }
        }
        Ok(None)
    }

    /// The last hook with an opinion decides what a transcript keeps.
    fn persist(&self, seen: &Seen, output: &mut ToolOutput) {
        for hook in &self.0.hooks {
            if let Some(blocks) = hook.tool_result_persist(seen.call(), output) {
                output.transcript = Some(blocks);
            }
        }
    }

    /// Nothing a hook does here changes the outcome.
    async fn after(&self, seen: &Seen, result: &ToolResult, took: Duration, timeout: Duration) {
        for hook in &self.0.hooks {
            let watched =
                std::panic::AssertUnwindSafe(hook.after_tool_call(seen.call(), result, took));
            let timeout = hook.patience(timeout);
            let ended = tokio::time::timeout(timeout, watched.catch_unwind()).await;
            if !matches!(ended, Ok(Ok(()))) {
                tracing::warn!(hook = hook.name(), call = %seen.id, "after_tool_call failed");
            }
        }
    }
}

/// A hook that fails, panics or takes too long blocks the call.
async fn asked(hook: &dyn Hook, seen: &Seen, timeout: Duration) -> Result<Before, ToolError> {
    let watched = std::panic::AssertUnwindSafe(hook.before_tool_call(seen.call())).catch_unwind();
    let timeout = hook.patience(timeout);
    let problem = match tokio::time::timeout(timeout, watched).await {
        Ok(Ok(Ok(before))) => return Ok(before),
        Ok(Ok(Err(error))) => error,
        Ok(Err(_)) => "it crashed".to_owned(),
        Err(_) => format!("no answer within {} ms", timeout.as_millis()),
    };
    tracing::warn!(hook = hook.name(), call = %seen.id, problem, "before_tool_call failed");
    Err(blocked(hook, "a check of the operator's failed, so the call is refused"))
}

fn blocked(hook: &dyn Hook, reason: impl Into<String>) -> ToolError {
    ToolError::denied(Hooks::NAME, format!("hook:{}", hook.name()), reason)
}
