//! What Toolgate keeps: the journal, and one database for the rest.
//!
//! This crate must not know stages, tools, policy or transports: it stores what it is given, in the
//! order it is given, and is the only one with SQL. What it is given is already redacted.
//!
//! Start from [`Journal`], the tamper-evident record of every call, and [`Db`], which keeps
//! everything else; [`EmergencyFile`] says whether everything is stopped.

mod clock;
mod db;
mod disk;
mod emergency;
mod error;
mod folder;
mod journal;
mod names;
mod time;

pub use clock::{ClockState, SteadyClock};
pub use db::{
    Answer, Approval, ApprovalFilter, ApprovalId, ApprovalStatus, AskLimits, By, Db, Decision,
    EXACT, Grant, LateGrant, LazyDb, Message, MessageRole, NewApproval, NewMessage, NewSession,
    NewToken, OWNER, Permission, PermissionState, RemovedUser, Scope, Session, SessionChange,
    SessionCursor, SessionFilter, SessionKey, SessionKind, SessionState, Spent, StoredAgent, Token,
    TokenKind, UntrustedFile, User, Wanted, Which, leave_questions, stored_agents, stored_users,
};
pub use disk::use_reserve;
pub use emergency::{Emergency, EmergencyFile, Said};
pub use error::{StoreError, UserError};
pub use journal::{
    Abandoned, Checkpoint, Durability, Ending, Entry, Filter, FirstBad, Intent, Journal,
    JournalRepair, OpenCall, Record, Status, Verification,
};
pub use time::rfc3339 as shown_time;
