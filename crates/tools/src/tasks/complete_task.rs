//! `complete_task`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{
    Effect, Info, ItemId, Plan, TaskChange, TaskStatus, Tool, ToolContext, ToolResult, schema_of,
};

use super::{INFO, change, shown::Changed, task_id};

/// Mark a task of the user as done.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompleteTask {
    /// Id of the task, from `list_tasks` or `add_task`.
    #[serde(deserialize_with = "task_id")]
    #[schemars(with = "String")]
    task_id: ItemId,
}

/// What changes.
fn done() -> TaskChange {
    TaskChange { status: Some(TaskStatus::Completed), ..TaskChange::default() }
}

impl Tool for CompleteTask {
    const NAME: &'static str = "complete_task";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info { repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Changed>())
    }

    fn plan(&self) -> Plan {
        [done().need(&self.task_id)].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        change(Self::NAME, ctx, self.task_id, done()).await
    }
}
