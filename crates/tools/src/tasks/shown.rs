//! Tasks as results show them.

use schemars::JsonSchema;
use serde::Serialize;
use tool::{DueDate, ItemId, Priority, Task, TaskStatus, ToolOutput};

use crate::vouched::vouched;

/// A task.
#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    /// Id of the task.
    #[schemars(with = "String")]
    id: ItemId,
    /// What is to be done.
    title: String,
    /// By when, in ISO 8601; `null` if it is never due.
    // Without a type: a schema is plain, and says no `null`.
    #[schemars(with = "serde_json::Value")]
    due_date: Option<DueDate>,
    /// Whether it is done.
    status: TaskStatus,
    /// How much it matters.
    priority: Priority,
}

impl From<Task> for Shown {
    fn from(task: Task) -> Self {
        let Task { id, title, due_date, status, priority, .. } = task;
        Self { id, title, due_date, status, priority }
    }
}

/// Where what stands in a task comes from, if nobody vouches for it.
pub(super) fn source(task: &Task) -> Option<String> {
    Some(format!("task `{}` (from {})", task.id, task.untrusted.as_ref()?))
}

/// What a task is now.
#[derive(Serialize, JsonSchema)]
pub(super) struct Changed {
    /// The task as it is now.
    task: Shown,
}

pub(super) fn changed(task: Task) -> ToolOutput {
    let sources = source(&task).into_iter().collect();
    vouched(Changed { task: task.into() }, sources)
}
