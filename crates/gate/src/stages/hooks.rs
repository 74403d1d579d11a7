//! Lets the operator's own code look at a call, change it, block it or answer it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use policy::{Decision, Verdict};
use serde_json::Value;
use tool::{Block, ToolError, ToolOutput, ToolResult};

use crate::{
    call::{ArgumentRewrite, Call, Origin},
    hook::{Before, Hook, HookCall, HookRewrite},
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
        let mut seen = Seen::new(&call)?;
        let learnt = call.learnt.clone();
        let started = Instant::now();
        let mut result = match self.before(&mut call, timeout).await {
            Ok(None) => next.run(call).await,
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
        };
        // As `validate` left them, which is what ran.
        seen.args = learnt.now().input.clone();
        if let Ok(output) = &mut result {
            self.persist(&seen, output, timeout).await;
        }
        self.after(&seen, &result, started.elapsed(), timeout).await;
        result
    }
}

/// A call, as the hooks are shown it.
struct Seen {
    id: tool::CallId,
    caller: Arc<tool::Caller>,
    tool: Arc<tool::ToolInfo>,
    args: Arc<Value>,
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
                Before::Rewrite(args) => rewrite(call, hook.name(), args),
                Before::Rewrites(all) => {
                    for HookRewrite { by, arguments } in all {
                        rewrite(call, &by, arguments);
                    }
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

    /// The last hook with an opinion decides what a transcript keeps. One that fails may have been there to take
    /// something out, so then nothing of the output is kept.
    async fn persist(&self, seen: &Seen, output: &mut ToolOutput, timeout: Duration) {
        for hook in &self.0.hooks {
            let asked = std::panic::AssertUnwindSafe(hook.tool_result_persist(seen.call(), output));
            let timeout = hook.patience(timeout);
            let problem = match tokio::time::timeout(timeout, asked.catch_unwind()).await {
                Ok(Ok(Ok(None))) => continue,
                Ok(Ok(Ok(Some(blocks)))) => {
                    output.transcript = Some(blocks);
                    continue;
                }
                Ok(Ok(Err(problem))) => problem,
                Ok(Err(_)) => "it crashed".to_owned(),
                Err(_) => format!("no answer within {} ms", timeout.as_millis()),
            };
            tracing::warn!(hook = hook.name(), call = %seen.id, problem, "tool_result_persist failed");
            let text = "[the result is not kept: a hook of the operator's failed]".to_owned();
            output.transcript = Some(vec![Block::Text(text)]);
            return;
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

/// Goes on with other arguments, and remembers whose they are.
fn rewrite(call: &mut Call, by: &str, arguments: Value) {
    let before = std::mem::replace(&mut call.args, Arc::new(arguments));
    let mut learnt = call.learnt.now();
    if *before == *call.args {
        return;
    }
    learnt.rewrites.push(ArgumentRewrite { by: format!("hook:{by}"), before });
    learnt.input = call.args.clone();
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
