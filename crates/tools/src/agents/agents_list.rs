//! `agents_list`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    AgentInfo, Conversations, Effect, Info, Plan, Section, Tool, ToolContext, ToolOutput,
    ToolResult, schema_of,
};

/// List the agents that you may start with `sessions_spawn`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentsList {}

/// What there is.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// The agents you may start.
    agents: Vec<AgentInfo>,
}

impl Tool for AgentsList {
    const NAME: &'static str = "agents_list";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info =
        Info { section: Section::Agents, timeout: Duration::from_secs(10), ..Info::DEFAULT };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Listed>())
    }

    fn plan(&self) -> Plan {
        [Conversations::look()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let agents = ctx.sessions().reading()?.agents(ctx.caller()).await?;
        Ok(ToolOutput::json(Listed { agents }))
    }
}
