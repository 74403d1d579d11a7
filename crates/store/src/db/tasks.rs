//! The tasks of users.

use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Sqlite, Transaction};
use tool::{DueDate, ItemId, NewDueDate, NewTask, Priority, Task, TaskChange, TaskStatus};

use super::{
    By, Db,
    rows::{END, Kind, Target, new_target, remember, snapshot},
};
use crate::{
    StoreError,
    names::named,
    time::{from_micros, micros},
};

/// So many tasks one user can have.
const MAX_TASKS: i64 = 50_000;
const PRIORITIES: [Priority; 3] = [Priority::Low, Priority::Medium, Priority::High];

/// A task as it is stored, but for its number.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize, Deserialize)]
pub(super) struct TaskRow {
    id: String,
    user: String,
    title: String,
    due_date: Option<String>,
    due_at: Option<i64>,
    status: String,
    priority: i64,
    created_at: i64,
    changed_at: i64,
    completed_at: Option<i64>,
    untrusted: Option<String>,
}

impl TaskRow {
    fn new(target: &Target, new: NewTask, by: By<'_>) -> Self {
        let NewTask { title, due_date, priority } = new;
        Self {
            id: target.id.clone(),
            user: target.user.clone(),
            title,
            due_at: due_date.as_ref().map(|due| micros(due.at())),
            due_date: due_date.map(|due| due.to_string()),
            status: TaskStatus::Pending.name().to_owned(),
            priority: rank(priority),
            created_at: micros(by.now),
            changed_at: micros(by.now),
            completed_at: None,
            untrusted: by.untrusted.map(str::to_owned),
        }
    }

    fn change(&mut self, change: TaskChange, by: By<'_>) {
        let TaskChange { title, due_date, priority, status } = change;
        let now = micros(by.now);
        self.changed_at = now;
        if let Some(title) = title {
            self.title = title;
            self.untrusted = by.untrusted.map(str::to_owned);
        }
        if let Some(due_date) = due_date {
            let due = match due_date {
                NewDueDate::By(due) => Some(due),
                NewDueDate::Never => None,
            };
            self.due_at = due.as_ref().map(|due| micros(due.at()));
            self.due_date = due.map(|due| due.to_string());
        }
        if let Some(priority) = priority {
            self.priority = rank(priority);
        }
        if let Some(status) = status {
            status.name().clone_into(&mut self.status);
            self.completed_at = match status {
                TaskStatus::Pending => None,
                // One that was done already was done then.
                TaskStatus::Completed => self.completed_at.or(Some(now)),
            };
        }
    }

    pub(super) async fn find(
        read: &mut Transaction<'_, Sqlite>,
        target: &Target,
    ) -> Result<Option<Self>, StoreError> {
        let found = sqlx::query_as("SELECT * FROM tasks WHERE id = ? AND user = ?")
            .bind(&target.id)
            .bind(&target.user)
            .fetch_optional(&mut **read)
            .await?;
        Ok(found)
    }

    /// Also in place of what has the same id.
    pub(super) async fn insert(
        self,
        write: &mut Transaction<'_, Sqlite>,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO tasks (id, user, title, due_date, due_at, status, priority, created_at,
             changed_at, completed_at, untrusted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET title = excluded.title, due_date = excluded.due_date,
             due_at = excluded.due_at, status = excluded.status, priority = excluded.priority,
             changed_at = excluded.changed_at, completed_at = excluded.completed_at,
             untrusted = excluded.untrusted",
        )
        .bind(self.id)
        .bind(self.user)
        .bind(self.title)
        .bind(self.due_date)
        .bind(self.due_at)
        .bind(self.status)
        .bind(self.priority)
        .bind(self.created_at)
        .bind(self.changed_at)
        .bind(self.completed_at)
        .bind(self.untrusted)
        .execute(&mut **write)
        .await?;
        Ok(())
    }

    fn task(self) -> Result<Task, StoreError> {
        let due_date = self.due_date.map(|due| due.parse::<DueDate>()).transpose();
        let priority = usize::try_from(self.priority).ok().and_then(|rank| PRIORITIES.get(rank));
        let unknown = || StoreError::NotUnderstood(format!("no priority {}", self.priority));
        Ok(Task {
            id: self.id.parse().map_err(StoreError::NotUnderstood)?,
            title: self.title,
            due_date: due_date.map_err(StoreError::NotUnderstood)?,
            status: named(&self.status)?,
            priority: *priority.ok_or_else(unknown)?,
            created_at: from_micros(self.created_at),
            completed_at: self.completed_at.map(from_micros),
            untrusted: self.untrusted,
        })
    }
}

impl Db {
    /// Adds a task.
    pub async fn add_task(&self, user: &str, new: NewTask, by: By<'_>) -> Result<Task, StoreError> {
        let mut write = self.begin().await?;
        let have: i64 = sqlx::query_scalar("SELECT count(*) FROM tasks WHERE user = ?")
            .bind(user)
            .fetch_one(&mut *write)
            .await?;
        if have >= MAX_TASKS {
            return Err(StoreError::TooMany { what: "tasks", most: MAX_TASKS });
        }
        let target = new_target(Kind::Task, user);
        let row = TaskRow::new(&target, new, by);
        row.clone().insert(&mut write).await?;
        remember(&mut write, &target, None, by).await?;
        write.commit().await?;
        row.task()
    }

    /// The tasks of a user, of one status or of all: what is to be done before what is done, what is due
    /// first before what is due later or never, then what matters more, then what is older.
    pub async fn tasks(
        &self,
        user: &str,
        status: Option<TaskStatus>,
        limit: u32,
    ) -> Result<Vec<Task>, StoreError> {
        let found: Vec<TaskRow> = sqlx::query_as(
            "SELECT * FROM tasks WHERE user = ?1 AND (?2 IS NULL OR status = ?2)
             ORDER BY status = ?3, due_at IS NULL, due_at, priority DESC, created_at, number
             LIMIT ?4",
        )
        .bind(user)
        .bind(status.map(TaskStatus::name))
        .bind(TaskStatus::Completed.name())
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        found.into_iter().map(TaskRow::task).collect()
    }

    /// One task of a user, by its id or the beginning of it.
    pub async fn task(&self, user: &str, id: &ItemId) -> Result<Option<Task>, StoreError> {
        let mut read = self.pool.begin().await?;
        match whole(&mut read, user, id).await? {
            Some(target) => {
                let row = TaskRow::find(&mut read, &target).await?;
                row.map(TaskRow::task).transpose()
            }
            None => Ok(None),
        }
    }

    /// Changes a task. Says what it is now; `None` if the user has no such task.
    pub async fn change_task(
        &self,
        user: &str,
        id: &ItemId,
        change: TaskChange,
        by: By<'_>,
    ) -> Result<Option<Task>, StoreError> {
        let mut write = self.begin().await?;
        let Some(target) = whole(&mut write, user, id).await? else { return Ok(None) };
        let before = snapshot(&mut write, &target).await?;
        let Some(mut row) = TaskRow::find(&mut write, &target).await? else { return Ok(None) };
        row.change(change, by);
        row.clone().insert(&mut write).await?;
        remember(&mut write, &target, before, by).await?;
        write.commit().await?;
        row.task().map(Some)
    }

    /// Removes a task. Says which one it was.
    pub async fn remove_task(
        &self,
        user: &str,
        id: &ItemId,
        by: By<'_>,
    ) -> Result<Option<Task>, StoreError> {
        let mut write = self.begin().await?;
        let Some(target) = whole(&mut write, user, id).await? else { return Ok(None) };
        let row = TaskRow::find(&mut write, &target).await?;
        let before = snapshot(&mut write, &target).await?;
        sqlx::query("DELETE FROM tasks WHERE id = ?").bind(&target.id).execute(&mut *write).await?;
        remember(&mut write, &target, before, by).await?;
        write.commit().await?;
        row.map(TaskRow::task).transpose()
    }
}

async fn whole(
    read: &mut Transaction<'_, Sqlite>,
    user: &str,
    typed: &ItemId,
) -> Result<Option<Target>, StoreError> {
    let found = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE id >= ?1 AND id < ?1 || ?2 AND user = ?3 LIMIT 2",
    )
    .bind(typed.as_str())
    .bind(END)
    .bind(user)
    .fetch_all(&mut **read)
    .await?;
    Ok(Target::only(Kind::Task, user, found))
}

/// By which tasks are sorted.
const fn rank(priority: Priority) -> i64 {
    match priority {
        Priority::Low => 0,
        Priority::Medium => 1,
        Priority::High => 2,
    }
}
