//! What is kept for users.

use std::sync::Arc;

use store::{Db, LazyDb};
use tool::{Caller, Clock, ToolError};

/// What the database keeps for the user of one call: [`tool::Notes`] and [`tool::Tasks`].
#[derive(Debug)]
pub struct Shelf {
    pub(crate) db: Arc<LazyDb>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) caller: Caller,
}

impl Shelf {
    /// What belongs to the user of `caller`.
    pub fn new(db: Arc<LazyDb>, clock: Arc<dyn Clock>, caller: &Caller) -> Self {
        Self { db, clock, caller: caller.clone() }
    }

    /// The database, for a change, and what untrusted content the session has read last: what it
    /// writes may come from there.
    pub(crate) async fn open(&self) -> Result<(&Db, Option<String>), ToolError> {
        let db = self.db.get().await?;
        Ok((db, db.sources(&self.caller).await?.pop()))
    }
}
