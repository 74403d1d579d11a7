//! The notes of a user, in the database.

use store::{By, Db};
use tool::{BoxFuture, CallId, NewNote, Note, NoteSearch, Notes, ToolError};

use crate::Shelf;

impl Notes for Shelf {
    fn save(&self, call: CallId, new: NewNote) -> BoxFuture<'_, Result<Note, ToolError>> {
        Box::pin(async move {
            let (db, untrusted) = self.open().await?;
            let by = By { call, now: self.clock.now(), untrusted: untrusted.as_deref() };
            Ok(db.add_note(&self.caller.user, new, by).await?)
        })
    }

    fn search(&self, search: NoteSearch) -> BoxFuture<'_, Result<Vec<Note>, ToolError>> {
        Box::pin(async move {
            let db: &Db = self.db.get().await?;
            Ok(db.search_notes(&self.caller.user, &search).await?)
        })
    }
}
