//! `sessions_list`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Conversations, Effect, Info, Plan, SessionInfo, SessionQuery, Tool, ToolContext, ToolOutput,
    ToolResult, schema_of,
};

use super::INFO;

/// List your conversations, newest first: their keys, what state they are in, what they cost. Those
/// of other agents are listed only where the operator allows it.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SessionsList {
    /// Only these kinds: `chat` (people talk to an agent), `request` (one request that named no
    /// session), `child` (an agent that another one started).
    #[serde(default)]
    kinds: Vec<Kind>,
    /// List at most so many.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    /// Only those that did something in the last so many minutes.
    active_minutes: Option<u64>,
    /// Show so many of the last messages of each.
    #[serde(default)]
    #[schemars(range(max = 20))]
    message_limit: usize,
    /// Only the one with this label.
    label: Option<String>,
    /// Only those of this agent.
    agent_id: Option<String>,
    /// Only those whose name or label contains this.
    search: Option<String>,
}

const fn default_limit() -> usize {
    50
}

/// What kind of conversation.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Chat,
    Request,
    Child,
}

/// What there is.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// How many are listed.
    count: usize,
    /// The sessions, newest first.
    sessions: Vec<SessionInfo>,
}

impl Tool for SessionsList {
    const NAME: &'static str = "sessions_list";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = INFO;

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Listed>())
    }

    fn plan(&self) -> Plan {
        [Conversations::look()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let kind = |kind: &Kind| match kind {
            Kind::Chat => "chat",
            Kind::Request => "request",
            Kind::Child => "child",
        };
        let query = SessionQuery {
            kinds: self.kinds.iter().map(|one| kind(one).to_owned()).collect(),
            limit: self.limit,
            active: self
                .active_minutes
                .map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            messages: self.message_limit,
            label: self.label,
            agent: self.agent_id,
            search: self.search,
        };
        let sessions = ctx.sessions().reading()?.list(ctx.caller(), query).await?;
        let untrusted: Vec<_> =
            sessions.iter().filter_map(|session| session.untrusted.clone()).collect();
        let output = ToolOutput::json(Listed { count: sessions.len(), sessions });
        let untrusted = (!untrusted.is_empty()).then(|| untrusted.join("; "));
        Ok(ToolOutput { untrusted, ..output })
    }
}
