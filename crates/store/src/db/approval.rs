//! What is asked, and what is answered.

use std::{fmt, str::FromStr, time::SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{CallId, Digest, Effects, Place, Proposed};

use crate::{
    ApprovalId,
    time::{shown, shown_if_any},
};

/// The scope that is exactly the same call.
pub const EXACT: &str = "exact";

/// A question to a person about one exact call. Everything in it is redacted already.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NewApproval {
    /// The call.
    pub call: CallId,
    /// On behalf of this user.
    pub user: String,
    /// By this agent.
    pub agent: String,
    /// In this session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Value,
    /// What it needs.
    pub plan: Value,
    /// The effects of the plan.
    pub effects: Effects,
    /// Where it would run.
    pub place: Option<Place>,
    /// Why somebody is asked.
    pub reason: String,
    /// The rule that says so.
    pub rule: String,
    /// Names exactly what would run.
    #[schemars(with = "String")]
    pub fingerprint: Digest,
    /// What the answer may be remembered for: [`EXACT`], and wider ones; none if it counts once only.
    pub scopes: Vec<String>,
    /// Where a command would start, where that really is.
    pub cwd: Option<String>,
    /// What a command has changed already, and which is held until the answer.
    pub changes: Vec<Proposed>,
    /// What untrusted content the session had read.
    pub untrusted: Vec<String>,
    /// When it was asked.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub asked_at: SystemTime,
    /// When nobody waits for the answer any more.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub expires_at: SystemTime,
}

/// How much one session may ask.
#[derive(Debug, Clone, Copy)]
pub struct AskLimits {
    /// Questions that wait at once.
    pub open: u32,
    /// The same in all sessions of the user together, if that is limited.
    pub open_of_user: Option<u32>,
    /// Questions in the last minute.
    pub per_minute: u32,
}

/// A question, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// What was asked.
    #[serde(flatten)]
    pub request: NewApproval,
    /// How it stands.
    pub status: ApprovalStatus,
    /// `allow_once`, `allow_session`, `allow_always` or `deny`, once answered.
    pub decision: Option<String>,
    /// Who answered.
    pub answered_by: Option<String>,
    /// When it was answered, withdrawn or expired.
    #[serde(serialize_with = "shown_if_any")]
    #[schemars(with = "Option<String>")]
    pub answered_at: Option<SystemTime>,
    /// What the person said, or why it was withdrawn.
    pub message: Option<String>,
    /// Whether a call waits for the answer; one whose process died can be made again.
    pub waiting: bool,
    /// The call that ran because of it: an answer is used once.
    pub used_by: Option<CallId>,
}

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum ApprovalStatus {
    Pending,
    Allowed,
    Denied,
    Expired,
    Withdrawn,
}

impl ApprovalStatus {
    const ALL: [Self; 5] =
        [Self::Pending, Self::Allowed, Self::Denied, Self::Expired, Self::Withdrawn];

    /// The name people see.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl fmt::Display for ApprovalStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ApprovalStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|status| status.name() == text);
        found.ok_or_else(|| format!("no approval status `{text}`"))
    }
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Yes or no, and for how long.
    pub decision: Decision,
    /// Who answers.
    pub by: String,
    /// Said along with it.
    pub message: Option<String>,
}

/// Yes or no, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This call, now.
    AllowOnce,
    /// The same call again in this session.
    AllowSession,
    /// Whatever the scope covers, in any session.
    AllowAlways {
        /// One of the scopes the question offers.
        scope: String,
        /// When this ends, unless it is revoked before.
        expires: Option<SystemTime>,
    },
    /// No.
    Deny,
}

impl Decision {
    /// The name programs use.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowSession => "allow_session",
            Self::AllowAlways { .. } => "allow_always",
            Self::Deny => "deny",
        }
    }

    /// How a question stands that was answered so.
    pub(super) const fn status(&self) -> ApprovalStatus {
        match self {
            Self::AllowOnce | Self::AllowSession | Self::AllowAlways { .. } => {
                ApprovalStatus::Allowed
            }
            Self::Deny => ApprovalStatus::Denied,
        }
    }
}

/// Which questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that wait for an answer.
    Pending,
    /// All there ever were.
    All,
}

/// Which approvals are wanted.
#[derive(Debug, Clone)]
pub struct ApprovalFilter {
    /// By how they stand.
    pub which: Which,
    /// Only about calls of this user.
    pub user: Option<String>,
    /// At most so many.
    pub limit: u32,
}
