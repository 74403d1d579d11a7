//! `add_task`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    DueDate, Effect, Info, ItemId, NewTask, Plan, Priority, Profile, Rate, Tool, ToolContext,
    ToolOutput, ToolResult, schema_of,
};

use super::INFO;

/// Add a task to the user's list of things to do. `list_tasks` shows the list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddTask {
    /// What is to be done, in a few words.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// By when, in ISO 8601: a date such as `2026-11-20`, or a date and time such as
    /// `2026-11-20T15:00` or `2026-11-20T15:00:00+01:00`. Left out, it is never due.
    #[schemars(with = "Option<String>")]
    due_date: Option<DueDate>,
    /// How much it matters.
    #[serde(default)]
    priority: Priority,
}

/// What was added.
#[derive(Serialize, JsonSchema)]
struct Added {
    /// Id of the task.
    #[schemars(with = "String")]
    task_id: ItemId,
    /// That it was added.
    created: bool,
}

impl Tool for AddTask {
    const NAME: &'static str = "add_task";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info {
        profiles: &[Profile::Gateway],
        rate: Some(Rate { calls: 30, per: Duration::from_mins(1) }),
        ..INFO
    };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Added>())
    }

    fn plan(&self) -> Plan {
        [self.task().need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let task = ctx.tasks()?.add(self.task()).await?;
        Ok(ToolOutput::json(Added { task_id: task.id, created: true }))
    }
}

impl AddTask {
    fn task(&self) -> NewTask {
        let Self { title, due_date, priority } = self;
        NewTask { title: title.clone(), due_date: due_date.clone(), priority: *priority }
    }
}
