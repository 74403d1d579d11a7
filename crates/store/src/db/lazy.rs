//! The database of a process.

use std::path::PathBuf;

use tokio::sync::OnceCell;

use crate::{Db, StoreError};

/// The database, opened by the first who needs it; everybody in a process shares one of these.
#[derive(Debug)]
pub struct LazyDb {
    data: PathBuf,
    db: OnceCell<Db>,
}

impl LazyDb {
    /// The one in the folder `data`.
    pub const fn new(data: PathBuf) -> Self {
        Self { data, db: OnceCell::const_new() }
    }

    /// The database.
    pub async fn get(&self) -> Result<&Db, StoreError> {
        self.db.get_or_try_init(|| Db::open(&self.data)).await
    }
}
