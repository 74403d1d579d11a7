//! `list_tasks`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, Info, Plan, Profile, Rate, TaskFilter, TaskStatus, Tool, ToolContext, ToolResult,
    schema_of,
};

use super::{
    INFO,
    shown::{Shown, source},
};
use crate::vouched::vouched;

/// Show the user's tasks: what is to be done before what is done, and what is due first before what is
/// due later.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListTasks {
    /// Which tasks to show.
    #[serde(default)]
    status: Which,
    /// Return at most this many tasks.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1_000))]
    limit: u32,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    #[default]
    All,
    Pending,
    Completed,
}

const fn default_limit() -> u32 {
    10
}

/// The tasks.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// The tasks, what is to be done next first.
    tasks: Vec<Shown>,
}

impl Tool for ListTasks {
    const NAME: &'static str = "list_tasks";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info {
        profiles: &[Profile::Gateway],
        rate: Some(Rate { calls: 60, per: Duration::from_mins(1) }),
        repeatable: true,
        ..INFO
    };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Listed>())
    }

    fn plan(&self) -> Plan {
        [TaskFilter::need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let status = match self.status {
            Which::All => None,
            Which::Pending => Some(TaskStatus::Pending),
            Which::Completed => Some(TaskStatus::Completed),
        };
        let tasks = ctx.tasks()?.list(TaskFilter { status, limit: self.limit }).await?;
        let sources = tasks.iter().filter_map(source).collect();
        Ok(vouched(Listed { tasks: tasks.into_iter().map(Shown::from).collect() }, sources))
    }
}
