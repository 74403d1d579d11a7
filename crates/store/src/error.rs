//! The one error of this crate.

use std::{io, path::PathBuf, sync::Arc};

use tool::{CallId, ToolError};

use crate::{ApprovalId, ApprovalStatus, SessionKey};

/// Why something could not be stored or found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("`{}` cannot be used", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the journal cannot be used")]
    Journal(#[from] rusqlite::Error),
    #[error("the database cannot be used")]
    Db(#[from] sqlx::Error),
    #[error("stored data cannot be understood")]
    Json(#[from] serde_json::Error),
    #[error("stored data cannot be understood: {0}")]
    Damaged(String),
    #[error("`{}` was written by a newer Toolgate (format {found}); update this one", path.display())]
    Newer { path: PathBuf, found: i64 },
    #[error("the group of records this one was committed with could not be written")]
    Group(#[source] Arc<Self>),
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
        move |source| Self::Io { path, source }
    }

    /// Whether somebody else is writing, so that trying again will help.
    pub(crate) fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        let Self::Journal(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
    }
}

/// A store that fails is our fault, never the model's; what it refuses for a reason is another matter.
impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        if matches!(error, StoreError::ChangedSince(_) | StoreError::TooMany { .. }) {
            return Self::failed(error.to_string());
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
