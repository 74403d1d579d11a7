//! `sessions_spawn`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{
    Cleanup, Effect, Info, Need, Plan, Profile, Spawn, SpawnContext, Spawned, Tool, ToolContext,
    ToolOutput, ToolResult, schema_of,
};

use super::{INFO, beginning, result};

/// Start an agent that works on a task by itself while you go on. It has at most your rights, and
/// works on the same files. You are told what came of it when it is done; `subagents` shows how it
/// stands, ends it, or tells it something.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SessionsSpawn {
    /// What it is to do, with all it needs to know.
    task: String,
    /// What to call it.
    label: Option<String>,
    /// Which agent; `agents_list` shows those you may start. Left out, one like you.
    agent_id: Option<String>,
    /// Its model, as `provider/model`. Left out, that of the agent.
    model: Option<String>,
    /// What it begins with: `isolated` its task alone, `fork` what was said here so far too.
    #[serde(default)]
    context: SpawnContext,
    /// Only these tools, out of yours.
    tools_allow: Option<Vec<String>>,
    /// Never these tools.
    #[serde(default)]
    tools_deny: Vec<String>,
    /// Whether its conversation stays when it is done.
    #[serde(default)]
    cleanup: Cleanup,
    /// End it after so many seconds.
    #[schemars(range(min = 1, max = 86_400))]
    timeout_seconds: Option<u64>,
}

impl Tool for SessionsSpawn {
    const NAME: &'static str = "sessions_spawn";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info { profiles: &[Profile::Coding], ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Spawned>())
    }

    fn plan(&self) -> Plan {
        [self.need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let sessions = ctx.sessions().changing(&self.need())?;
        let spawn = Spawn {
            task: self.task,
            label: self.label,
            agent: self.agent_id,
            model: self.model,
            context: self.context,
            allow: self.tools_allow,
            deny: self.tools_deny,
            cleanup: self.cleanup,
            timeout: self.timeout_seconds.map(Duration::from_secs),
        };
        let spawned = sessions.spawn(ctx.caller(), spawn).await?;
        result(spawned.status, spawned.reason.as_deref(), ToolOutput::json(&spawned))
    }
}

impl SessionsSpawn {
    fn need(&self) -> Need {
        let which = self.agent_id.as_ref().map(|id| format!(" `{id}`")).unwrap_or_default();
        Need::Keep(format!("start an agent{which}: {}", beginning(&self.task)))
    }
}
