//! The tasks of a user.

use std::{fmt, time::SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    DueDate, ItemId,
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

/// What becomes of a due date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewDueDate {
    /// The task is due then.
    By(DueDate),
    /// The task is never due.
    Never,
}
