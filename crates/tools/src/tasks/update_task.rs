//! `update_task`.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;
use tool::{
    Effect, Info, ItemId, NewDueDate, Plan, Priority, TaskChange, TaskStatus, Tool, ToolContext,
    ToolError, ToolResult, schema_of,
};

use super::{INFO, change, shown::Changed, task_id};

/// Change a task of the user: its title, due date, priority or status. What is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateTask {
    /// Id of the task, from `list_tasks` or `add_task`.
    #[serde(deserialize_with = "task_id")]
    #[schemars(with = "String")]
    task_id: ItemId,
    /// What is to be done, in a few words.
    #[schemars(length(min = 1, max = 500))]
    title: Option<String>,
    /// By when, in ISO 8601: a date such as `2026-11-20`, or a date and time such as
    /// `2026-11-20T15:00` or `2026-11-20T15:00:00+01:00`; `none` if it is never due.
    #[serde(default, deserialize_with = "due_date")]
    #[schemars(with = "Option<String>")]
    due_date: Option<NewDueDate>,
    /// How much it matters.
    priority: Option<Priority>,
    /// Whether it is done.
    status: Option<TaskStatus>,
}

fn due_date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NewDueDate>, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().eq_ignore_ascii_case("none") {
        return Ok(Some(NewDueDate::Never));
    }
    text.parse().map(NewDueDate::By).map(Some).map_err(D::Error::custom)
}

impl Tool for UpdateTask {
    const NAME: &'static str = "update_task";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info { repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Changed>())
    }

    fn plan(&self) -> Plan {
        [self.change().need(&self.task_id)].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let wanted = self.change();
        if wanted == TaskChange::default() {
            let problem = "say what shall change: `title`, `due_date`, `priority` or `status`";
            return Err(ToolError::invalid(Self::NAME, "", problem));
        }
        change(Self::NAME, ctx, self.task_id, wanted).await
    }
}

impl UpdateTask {
    fn change(&self) -> TaskChange {
        let Self { task_id: _, title, due_date, priority, status } = self;
        TaskChange {
            title: title.clone(),
            due_date: due_date.clone(),
            priority: *priority,
            status: *status,
        }
    }
}
