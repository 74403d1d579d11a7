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
    /// Go on with other arguments. They are validated and decided about like any. The journal keeps the old ones
    /// too, with the name of the hook.
    Rewrite(Value),
    /// The same, for a hook that asks several others: each with its own name, in order.
    Rewrites(Vec<HookRewrite>),
    /// Refuse it, with a reason for the model.
    Block(String),
    /// Answer in the tool's place. The outcome says that the hook did.
    Answer(ToolOutput),
}

/// New arguments, and the hook that wants them.
#[derive(Debug, Clone, PartialEq)]
pub struct HookRewrite {
    /// The name of the hook, for the journal.
    pub by: String,
    /// The arguments from here on.
    pub arguments: Value,
}

/// What a transcript keeps of a result: nothing said, or these blocks instead of the output.
pub type PersistedBlocks = Option<Vec<Block>>;

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

    /// After the call, exactly once, whatever came of it. The arguments are those that ran: after all rewrites, and in
    /// the form of the tool's schema.
    fn after_tool_call<'a>(
        &'a self,
        _: HookCall<'a>,
        _: &'a ToolResult,
        _: Duration,
    ) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }

    /// What a transcript shall keep instead of the output; `None` keeps it as it is. After an error, a panic or too
    /// long a wait the transcript keeps nothing of the output.
    fn tool_result_persist<'a>(
        &'a self,
        _: HookCall<'a>,
        _: &'a ToolOutput,
    ) -> BoxFuture<'a, Result<PersistedBlocks, String>> {
        Box::pin(ready(Ok(None)))
    }
}
