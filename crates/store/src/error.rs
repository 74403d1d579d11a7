//! The one error of this crate.

use std::{io, path::PathBuf, sync::Arc};

use tool::{CallId, DiskProblem, ToolError};

use crate::{ApprovalId, ApprovalStatus, SessionKey, disk};

/// Why something could not be stored or found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("`{}` cannot be used", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("nothing can be stored")]
    Disk(#[from] DiskProblem),
    #[error("`{}` is damaged ({problem}); {hint}", path.display())]
    Damaged { path: PathBuf, problem: String, hint: &'static str },
    #[error("stored data is damaged ({0}); `toolgate doctor` says what to do")]
    Malformed(String),
    #[error("the journal cannot be used")]
    Journal(#[source] rusqlite::Error),
    #[error("the database cannot be used")]
    Db(#[source] sqlx::Error),
    #[error("stored data cannot be understood")]
    Json(#[from] serde_json::Error),
    #[error("stored data cannot be understood: {0}")]
    NotUnderstood(String),
    #[error("`{}` was written by a newer Toolgate (format {found}); update this one", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("the group of records this one was committed with could not be written")]
    Group(#[source] Arc<Self>),
    #[error(
        "another process uses the journal; end it first, also `toolgate serve` and `toolgate mcp`"
    )]
    JournalInUse,
    #[error("the journal stopped before the record was written")]
    Stopped,
    #[error("what call `{0}` changed was erased by retention; it cannot be undone")]
    Erased(CallId),
    #[error("{0} questions of this session wait for an answer already")]
    TooManyOpen(u32),
    #[error("{0} of your questions wait for an answer already, in all sessions together")]
    TooManyOfUser(u32),
    #[error(
        "this session has put {0} questions to people within a minute; do something else first"
    )]
    TooManyAsked(u32),
    #[error("there is no question `{0}`; `toolgate approvals list` shows them")]
    UnknownApproval(ApprovalId),
    #[error("approval `{id}` is {status} already")]
    NotPending { id: ApprovalId, status: ApprovalStatus },
    #[error("approval `{id}` cannot be remembered for `{scope}`; it offers {offered:?}")]
    UnknownScope { id: ApprovalId, scope: String, offered: Vec<String> },
    #[error("there is no session `{0}`")]
    UnknownSession(SessionKey),
    #[error("there is an agent `{0}` already; choose another id")]
    AgentExists(String),
    #[error(transparent)]
    User(#[from] UserError),
    #[error("a user can have {most} {what} and no more; remove some first")]
    TooMany { what: &'static str, most: i64 },
    #[error("{0} was changed since; take that back first")]
    ChangedSince(String),
    #[error("the reason is too long to be kept; say it in fewer words")]
    TooLong,
    #[error("everything is stopped; end that first, with `toolgate emergency resume`")]
    EverythingStopped,
    #[error("the receiver of the export failed: {0}")]
    Receiver(String),
}

impl StoreError {
    /// Names the path an operation failed on.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match DiskProblem::of(&source, Some(&disk::folder_of(&path))) {
            Some(problem) => Self::Disk(problem),
            None => Self::Io { path, source },
        }
    }

    /// Names the file that is malformed, and what to do about it.
    pub(crate) fn in_file(self, path: impl Into<PathBuf>, hint: &'static str) -> Self {
        match self.malformed() {
            Some(problem) => Self::Damaged { path: path.into(), problem: problem.to_owned(), hint },
            None => self,
        }
    }

    /// Whether a file is damaged, so that nothing more should be written to it.
    pub fn is_damage(&self) -> bool {
        matches!(self.first(), Self::Damaged { .. } | Self::Malformed(_))
    }

    fn malformed(&self) -> Option<&str> {
        if let Self::Malformed(problem) = self.first() { Some(problem) } else { None }
    }

    /// The error of the group, if it is one of a group.
    fn first(&self) -> &Self {
        if let Self::Group(error) = self { error.first() } else { self }
    }

    /// Whether somebody else is writing, so that trying again will help.
    pub(crate) fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        let Self::Journal(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
    }
}

/// What `SQLite` says, by the first byte of its code; the rest tells apart what matters to nobody here.
enum SqliteFailure {
    Full,
    /// A disk may be the reason.
    Refused,
    Malformed,
    Other,
}

impl SqliteFailure {
    const fn of(code: i32) -> Self {
        match code & 0xff {
            13 => Self::Full,
            // READONLY, IOERR, CANTOPEN.
            8 | 10 | 14 => Self::Refused,
            // CORRUPT, NOTADB.
            11 | 26 => Self::Malformed,
            _ => Self::Other,
        }
    }

    fn explain(&self, problem: impl FnOnce() -> String) -> Option<StoreError> {
        match self {
            Self::Full => Some(disk::full().into()),
            Self::Refused => disk::diagnose().map(StoreError::Disk),
            Self::Malformed => Some(StoreError::Malformed(problem())),
            Self::Other => None,
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error().map_or(0, |failure| failure.extended_code);
        let explained = SqliteFailure::of(code).explain(|| error.to_string());
        explained.unwrap_or(Self::Journal(error))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let failure = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        let code = failure.and_then(|code| code.parse().ok());
        let explained = SqliteFailure::of(code.unwrap_or(0)).explain(|| error.to_string());
        explained.unwrap_or(Self::Db(error))
    }
}

/// A store that fails is our fault, never the model's; what it refuses for a reason is another matter, and so is
/// what only the owner can mend.
impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        if matches!(error, StoreError::ChangedSince(_) | StoreError::TooMany { .. }) {
            return Self::failed(error.to_string());
        }
        if error.is_damage() {
            return Self::failed_by(error.first().to_string(), error);
        }
        Self::internal(error)
    }
}

/// Why nothing is done for or about a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum UserError {
    #[error("there is no user `{id}`; {}", near_or_how(near.as_deref()))]
    Unknown { id: String, near: Option<String> },
    #[error("there is a user `{0}` already; choose another id")]
    Exists(String),
    #[error(
        "user `{0}` was removed, and what is theirs is still there; choose another id, or let them come \
         back with `toolgate users restore`"
    )]
    Removed(String),
    #[error("the owner cannot be removed")]
    OwnerStays,
}

/// What to do about a user that is not there.
fn near_or_how(near: Option<&str>) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`toolgate users add` adds one".to_owned(),
    }
}
