//! What is recorded about a call.

use std::{borrow::Cow, sync::Arc, time::SystemTime};

use serde_json::{Value, json};
use tool::{CallId, Caller, Change, Effects, Outcome, Place, is_large};

/// More changes than are worth encoding on the spot.
const MANY: usize = 500;

/// One record of the journal.
#[derive(Debug, Clone)]
pub enum Record {
    /// A call is about to happen.
    Intent(Box<Intent>),
    /// Files are about to change.
    Change {
        /// The call that changes them.
        call: CallId,
        /// All that change together.
        changes: Vec<Change>,
    },
    /// A call ended.
    Outcome(Box<Ending>),
    /// A call ended of which nothing was recorded before.
    Call(Box<Intent>, Box<Ending>),
}

impl Record {
    /// Whether to encode it takes a while.
    pub(super) fn is_large(&self) -> bool {
        match self {
            Self::Intent(intent) => is_large(&intent.input),
            Self::Change { changes, .. } => changes.len() > MANY,
            Self::Outcome(ending) => is_large(&ending.output),
            Self::Call(intent, ending) => is_large(&intent.input) || is_large(&ending.output),
        }
    }
}

/// What is known before a call runs. Everything in it is redacted already.
#[derive(Debug, Clone)]
pub struct Intent {
    /// The call.
    pub call: CallId,
    /// The id the model's provider gave it.
    pub provider_call_id: Option<String>,
    /// The chat message it belongs to.
    pub message_id: Option<String>,
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// Canonical name of the tool, or what the caller wrote if there is none.
    pub tool: Arc<str>,
    /// Its arguments.
    pub input: Value,
    /// The arguments before each rewrite, oldest first: `{"by": "hook:NAME", "before": …}`.
    pub rewrites: Vec<Value>,
    /// The root folder it works in, if it works on files.
    pub workspace: Option<Arc<str>>,
    /// What it needs.
    pub plan: Value,
    /// The effects of the plan.
    pub effects: Effects,
    /// `allow`, `ask`, `deny`, or empty if nothing was decided.
    pub decision: Cow<'static, str>,
    /// The rule that decided.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// When the gate got it.
    pub started: SystemTime,
}

/// What is known after a call. Everything in it is redacted already.
#[derive(Debug, Clone)]
pub struct Ending {
    /// The call.
    pub call: CallId,
    /// Why there is no output; without it the call was a success.
    pub error_type: Option<Cow<'static, str>>,
    /// What the model was told about the error.
    pub message: Option<String>,
    /// What only an operator may see.
    pub detail: Option<String>,
    /// The result, or the details of the error.
    pub output: Value,
    /// `allow`, `ask`, `deny`, or empty if nothing was decided.
    pub decision: Cow<'static, str>,
    /// The rule that decided.
    pub rule: String,
    /// The approval it ran under.
    pub approval: Option<String>,
    /// Where it ran; absent if nothing ran.
    pub place: Option<Place>,
    /// The effects of the plan.
    pub effects: Effects,
    /// The files it changed.
    pub changed: Value,
    /// From start to end, waiting included.
    pub duration_ms: u64,
    /// Who answered in the tool's place.
    pub answered_by: Option<String>,
    /// When it ended.
    pub finished: SystemTime,
}

impl Ending {
    /// What `outcome` says; what it does not say (detail, decision, rule, approval) is left empty.
    pub fn of(outcome: &Outcome, finished: SystemTime) -> Self {
        let meta = outcome.meta();
        let (error_type, message, output) = match outcome {
            Outcome::Success { result, .. } => (None, None, result),
            Outcome::Error { error_type, message, details, .. } => {
                (Some(Cow::Borrowed(*error_type)), Some(message.clone()), details)
            }
        };
        Self {
            call: meta.call_id,
            error_type,
            message,
            detail: None,
            output: output.clone(),
            decision: Cow::Borrowed(""),
            rule: String::new(),
            approval: None,
            place: meta.place,
            effects: meta.effects,
            changed: json!(meta.changed),
            duration_ms: meta.duration_ms,
            answered_by: meta.answered_by.clone(),
            finished,
        }
    }

    /// `success` or `error`.
    pub const fn status(&self) -> &'static str {
        if self.error_type.is_some() { "error" } else { "success" }
    }
}
