//! The database for everything but the journal.

mod agents;
mod approval;
mod approval_id;
mod approvals;
mod claims;
mod grants;
mod lazy;
mod links;
mod messages;
mod notes;
mod permissions;
mod rows;
mod scope;
mod session;
mod sessions;
mod sources;
mod speakers;
mod tasks;
mod tokens;
mod users;
mod watch;

use std::{path::Path, sync::Arc, time::Duration};

use rusqlite::OpenFlags;
use sqlx::{
    Connection as _, Sqlite, SqlitePool, Transaction,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::task::spawn_blocking;
use tool::CallId;

use self::watch::Watch;
pub use self::{
    agents::StoredAgent,
    approval::{
        Answer, Approval, ApprovalFilter, ApprovalStatus, AskLimits, Decision, EXACT, NewApproval,
        Which,
    },
    approval_id::ApprovalId,
    grants::{Grant, LateGrant, Wanted},
    lazy::LazyDb,
    permissions::{Permission, PermissionState},
    rows::By,
    scope::Scope,
    session::{
        Message, MessageRole, NewMessage, NewSession, Session, SessionChange, SessionCursor,
        SessionFilter, SessionKey, SessionKind, SessionState, Spent,
    },
    sources::UntrustedFile,
    tokens::{NewToken, Token, TokenKind},
    users::{OWNER, RemovedUser, User},
};
use crate::{
    StoreError,
    disk::{allocate_index, ensure_room},
    folder::{FolderLock, private_file},
};

/// What makes a database of the next format from one of the format before; the first one from none.
const FORMATS: &[&str] = &[
    include_str!("db/schema.sql"),
    include_str!("db/schema_2.sql"),
    include_str!("db/schema_3.sql"),
    include_str!("db/schema_4.sql"),
];
/// How long to wait for other processes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Approvals, grants and permissions; sessions, notes and tasks; users, tokens and agents. Any number of processes use it at once.
#[derive(Debug, Clone)]
pub struct Db {
    pool: SqlitePool,
    watch: Arc<Watch>,
}

impl Db {
    /// Opens the database in the folder `data`, and makes both if they are missing.
    pub async fn open(data: &Path) -> Result<Self, StoreError> {
        let path = data.join("toolgate.db");
        let (folder, file) = (data.to_owned(), path.clone());
        let prepare = move || {
            let lock = FolderLock::take(&folder)?;
            ensure_room(&folder)?;
            private_file(&file)?;
            migrate(&file)?;
            Ok::<_, StoreError>(lock)
        };
        let _lock = spawn_blocking(prepare).await.map_err(|_| StoreError::Stopped)??;
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            // When a disk is full, SQLite rolls back by itself, and sqlx goes on believing that there is a
            // transaction: such a connection would refuse every other one for good.
            .before_acquire(|conn, _| Box::pin(async move { Ok(!conn.is_in_transaction()) }))
            .connect_with(options(&path))
            .await?;
        let watch = spawn_blocking(move || {
            let watch = Watch::new(&path)?;
            allocate_index(&path)?;
            Ok::<_, StoreError>(watch)
        });
        let watch = Arc::new(watch.await.map_err(|_| StoreError::Stopped)??);
        Ok(Self { pool, watch })
    }

    /// Changes whenever anybody, this process or another, changed something. Cheap enough to look
    /// at before each call; a number only means something beside an earlier one of the same `Db`.
    pub fn version(&self) -> Result<i64, StoreError> {
        self.watch.version()
    }

    /// A transaction that is the only one to write from its start, so that what it looked at still
    /// holds when it writes.
    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        Ok(self.pool.begin_with("BEGIN IMMEDIATE").await?)
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // A revoked grant must stay revoked after a power cut.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        // What is removed is overwritten in the file, not only forgotten.
        .pragma("secure_delete", "ON")
        .busy_timeout(PATIENCE)
}

/// Brings the file to the newest format. The folder must be locked. May block.
fn migrate(path: &Path) -> Result<rusqlite::Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = rusqlite::Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(PATIENCE)?;
    let found: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let known = usize::try_from(found).ok().and_then(|found| FORMATS.get(found..));
    let missing = known.ok_or_else(|| StoreError::Newer { path: path.to_owned(), found })?;
    for (format, change) in (found + 1..).zip(missing) {
        conn.execute_batch(&format!("BEGIN; {change} PRAGMA user_version = {format}; COMMIT;"))?;
    }
    Ok(conn)
}

/// Notes that nobody waits for the questions of calls whose process died: the answer to one is for
/// the same call when it is made again. May block; for start-up, where there is no runtime yet.
pub fn leave_questions(data: &Path, calls: &[CallId]) -> Result<(), StoreError> {
    let path = data.join("toolgate.db");
    if calls.is_empty() || !path.exists() {
        return Ok(());
    }
    let _lock = FolderLock::take(data)?;
    ensure_room(data)?;
    let conn = migrate(&path)?;
    let mut update = conn.prepare("UPDATE approvals SET waiting = 0 WHERE call_id = ?")?;
    for call in calls {
        update.execute([call.to_string()])?;
    }
    Ok(())
}

/// The ids of all users, removed ones too; the owner is always one. May block; for start-up and reloading,
/// where there is no runtime.
pub fn stored_users(data: &Path) -> Result<Vec<String>, StoreError> {
    let path = data.join("toolgate.db");
    if !path.exists() {
        return Ok(vec![OWNER.to_owned()]);
    }
    let _lock = FolderLock::take(data)?;
    let conn = migrate(&path)?;
    let mut query = conn.prepare("SELECT id FROM users ORDER BY id")?;
    let rows = query.query_map([], |row| row.get(0))?;
    let mut users = rows.collect::<Result<Vec<String>, _>>()?;
    if !users.iter().any(|user| user == OWNER) {
        users.push(OWNER.to_owned());
    }
    Ok(users)
}

/// The agents that were made over the API, by id, with their settings. May block; for start-up and
/// reloading, where there is no runtime.
pub fn stored_agents(data: &Path) -> Result<Vec<(String, serde_json::Value)>, StoreError> {
    let path = data.join("toolgate.db");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let _lock = FolderLock::take(data)?;
    ensure_room(data)?;
    let conn = migrate(&path)?;
    let mut query = conn.prepare("SELECT id, settings FROM agents ORDER BY id")?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    rows.map(|row| {
        let (id, settings) = row?;
        Ok((id, serde_json::from_str(&settings)?))
    })
    .collect()
}
