//! Tasks of a user.

mod add_task;
mod complete_task;
mod list_tasks;
mod update_task;

// What they are made of.
mod shown;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Deserializer, de::Error};
use tool::{AnyTool, Info, ItemId, Section, TaskChange, ToolContext, ToolError, ToolResult, Typed};

use self::shown::changed;

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Typed::<add_task::AddTask>::erased(),
        Typed::<complete_task::CompleteTask>::erased(),
        Typed::<list_tasks::ListTasks>::erased(),
        Typed::<update_task::UpdateTask>::erased(),
    ]
}

/// What the tools of this section have in common.
const INFO: Info =
    Info { section: Section::Tasks, timeout: Duration::from_secs(10), ..Info::DEFAULT };

/// An id, or the beginning of one.
fn task_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ItemId, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::custom(unknown(&text)))
}

fn unknown(id: &str) -> String {
    format!("there is no task `{id}`; `list_tasks` shows the tasks with their ids")
}

/// Changes a task for `tool` and says what it is now.
async fn change(tool: &str, ctx: &ToolContext, id: ItemId, change: TaskChange) -> ToolResult {
    match ctx.tasks()?.change(id.clone(), change).await? {
        Some(task) => Ok(changed(task)),
        None => Err(ToolError::invalid(tool, "task_id", unknown(id.as_str()))),
    }
}
