//! `sessions_history`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Conversations, Effect, Info, MessageInfo, Plan, Tool, ToolContext, ToolOutput, ToolResult,
    WithTools, schema_of,
};

use super::INFO;

/// Read what was said in a conversation, oldest first. Secrets are taken out and long messages are
/// cut.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SessionsHistory {
    /// Which conversation, as `sessions_list` names it: `agent:AGENT:NAME`.
    session_key: String,
    /// Read at most so many of the last messages.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    /// Show calls of tools and what they returned too.
    #[serde(default)]
    include_tools: bool,
}

const fn default_limit() -> usize {
    50
}

/// What was said.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Read {
    /// The conversation.
    session_key: String,
    /// The messages, oldest first.
    messages: Vec<MessageInfo>,
}

impl Tool for SessionsHistory {
    const NAME: &'static str = "sessions_history";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = INFO;

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Read>())
    }

    fn plan(&self) -> Plan {
        [Conversations::look()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let Self { session_key, limit, include_tools } = self;
        let tools = if include_tools { WithTools::Yes } else { WithTools::No };
        let sessions = ctx.sessions().reading()?;
        let history = sessions.history(ctx.caller(), &session_key, limit, tools).await?;
        let output = ToolOutput::json(Read { session_key, messages: history.messages });
        Ok(ToolOutput { untrusted: history.untrusted, ..output })
    }
}
