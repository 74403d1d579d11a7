//! What an operator plugs in around calls.

use std::{fmt, future::ready, time::Duration};

use serde_json::Value;
use tool::{Block, BoxFuture, CallId, Caller, ToolInfo, ToolOutput, ToolResult};

/// A call, as a hook sees it.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say it")]
pub struct HookCall<'a> {
    pub id: CallId,
    pub caller: &'a Caller,
    pub tool: &'a ToolInfo,
    pub args: &'a Value,
}

/// What a hook wants done with a call before it runs.
#[derive(Debug)]
pub enum Before {
    /// Go on.
    Continue,
    /// Go on with other arguments. They are validated and decided about like any.
    Rewrite(Value),
    /// Refuse it, with a reason for the model.
    Block(String),
    /// Answer in the tool's place. The outcome says that the hook did.
    Answer(ToolOutput),
}

/// Code of the operator's that sees every call. It can change neither tool nor caller.
pub trait Hook: fmt::Debug + Send + Sync {
    /// Shown in refusals and outcomes.
    fn name(&self) -> &str;

    /// Whether it has nothing to do at present, so that nobody need ask it.
    fn is_idle(&self) -> bool {
        false
    }

    /// How long it may take altogether, if one check may take `each`.
    fn patience(&self, each: Duration) -> Duration {
        each
    }

    /// Before the call is validated. An error, a panic or too long a wait blocks the call.
    fn before_tool_call<'a>(&'a self, _: HookCall<'a>) -> BoxFuture<'a, Result<Before, String>> {
        Box::pin(ready(Ok(Before::Continue)))
    }

    /// After the call, exactly once, whatever came of it.
    fn after_tool_call<'a>(
        &'a self,
        _: HookCall<'a>,
        _: &'a ToolResult,
        _: Duration,
    ) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }

    /// What a transcript shall keep instead of the output; `None` keeps it as it is.
    fn tool_result_persist(&self, _: HookCall<'_>, _: &ToolOutput) -> Option<Vec<Block>> {
        None
    }
}
