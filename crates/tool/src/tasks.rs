//! The tasks of a user.

use std::{fmt, sync::Arc, time::SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    BoxFuture, CallId, DueDate, ItemId, Need, ToolError,
    own_data::Desk,
    time::{shown, shown_if_any},
};

/// How much a task matters.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Priority {
    Low,
    #[default]
    Medium,
    High,
}

impl Priority {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a task is done.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum TaskStatus {
    #[default]
    Pending,
    Completed,
}

impl TaskStatus {
    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something a user wants to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Its name.
    pub id: ItemId,
    /// What is to be done.
    pub title: String,
    /// By when.
    pub due_date: Option<DueDate>,
    /// Whether it is done.
    pub status: TaskStatus,
    /// How much it matters.
    pub priority: Priority,
    /// When it was added.
    #[serde(serialize_with = "shown")]
    pub created_at: SystemTime,
    /// When it was done.
    #[serde(serialize_with = "shown_if_any")]
    pub completed_at: Option<SystemTime>,
    /// What untrusted content its title may come from: nobody vouches for it then.
    pub untrusted: Option<String>,
}

/// A task that is to be added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTask {
    /// What is to be done.
    pub title: String,
    /// By when.
    pub due_date: Option<DueDate>,
    /// How much it matters.
    pub priority: Priority,
}

impl NewTask {
    /// What adding it needs.
    pub fn need(&self) -> Need {
        Need::Keep(format!("add the task `{}`", self.title))
    }
}

/// What is to change about a task; what is not given stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskChange {
    /// What is to be done.
    pub title: Option<String>,
    /// By when.
    pub due_date: Option<NewDueDate>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// Whether it is done.
    pub status: Option<TaskStatus>,
}

impl TaskChange {
    /// What changing the task `id` so needs.
    pub fn need(&self, id: &ItemId) -> Need {
        let Self { title, due_date, priority, status } = self;
        let parts = [
            title.as_ref().map(|title| format!("title `{title}`")),
            due_date.as_ref().map(|due| match due {
                NewDueDate::By(due) => format!("due {due}"),
                NewDueDate::Never => "never due".to_owned(),
            }),
            priority.map(|priority| format!("priority {priority}")),
            status.map(|status| status.to_string()),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        Need::Keep(format!("change the task `{id}`: {}", parts.join(", ")))
    }
}

/// Which tasks are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskFilter {
    /// Only these, or all.
    pub status: Option<TaskStatus>,
    /// At most so many.
    pub limit: u32,
}

impl TaskFilter {
    /// What looking at them needs.
    pub fn need() -> Need {
        Need::Recall("tasks".to_owned())
    }
}

/// What becomes of a due date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewDueDate {
    /// The task is due then.
    By(DueDate),
    /// The task is never due.
    Never,
}

/// The tasks of one user.
pub trait Tasks: fmt::Debug + Send + Sync {
    /// Adds a task, because of `call`.
    fn add(&self, call: CallId, new: NewTask) -> BoxFuture<'_, Result<Task, ToolError>>;
    /// The tasks that pass `filter`, what is to be done next first.
    fn list(&self, filter: TaskFilter) -> BoxFuture<'_, Result<Vec<Task>, ToolError>>;
    /// Changes a task, because of `call`. Says what it is now; `None` if the user has no such task.
    fn change(
        &self,
        call: CallId,
        id: ItemId,
        change: TaskChange,
    ) -> BoxFuture<'_, Result<Option<Task>, ToolError>>;
}

/// The tasks of the user of one call, as far as it planned to look at them or to change one.
#[derive(Debug)]
pub struct TaskList {
    pub(crate) desk: Desk,
    pub(crate) tasks: Arc<dyn Tasks>,
}

impl TaskList {
    /// Adds a task.
    pub async fn add(&self, new: NewTask) -> Result<Task, ToolError> {
        let (need, tasks, call) = (new.need(), self.tasks.clone(), self.desk.call);
        self.desk.keep(&need, async move { tasks.add(call, new).await }).await
    }

    /// The tasks that pass `filter`, what is to be done next first.
    pub async fn list(&self, filter: TaskFilter) -> Result<Vec<Task>, ToolError> {
        self.desk.recall(&TaskFilter::need(), async { self.tasks.list(filter).await }).await
    }

    /// Changes a task. Says what it is now; `None` if there is no such task.
    pub async fn change(&self, id: ItemId, change: TaskChange) -> Result<Option<Task>, ToolError> {
        let (need, tasks, call) = (change.need(&id), self.tasks.clone(), self.desk.call);
        self.desk.keep(&need, async move { tasks.change(call, id, change).await }).await
    }
}
