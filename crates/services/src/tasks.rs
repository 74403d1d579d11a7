//! The tasks of a user, in the database.

use store::By;
use tool::{BoxFuture, CallId, ItemId, NewTask, Task, TaskChange, TaskFilter, Tasks, ToolError};

use crate::Shelf;

impl Tasks for Shelf {
    fn add(&self, call: CallId, new: NewTask) -> BoxFuture<'_, Result<Task, ToolError>> {
        Box::pin(async move {
            let (db, untrusted) = self.open().await?;
            let by = By { call, now: self.clock.now(), untrusted: untrusted.as_deref() };
            Ok(db.add_task(&self.caller.user, new, by).await?)
        })
    }

    fn list(&self, filter: TaskFilter) -> BoxFuture<'_, Result<Vec<Task>, ToolError>> {
        Box::pin(async move {
            let TaskFilter { status, limit } = filter;
            Ok(self.db.get().await?.tasks(&self.caller.user, status, limit).await?)
        })
    }

    fn change(
        &self,
        call: CallId,
        id: ItemId,
        change: TaskChange,
    ) -> BoxFuture<'_, Result<Option<Task>, ToolError>> {
        Box::pin(async move {
            let (db, untrusted) = self.open().await?;
            let by = By { call, now: self.clock.now(), untrusted: untrusted.as_deref() };
            Ok(db.change_task(&self.caller.user, &id, change, by).await?)
        })
    }
}
