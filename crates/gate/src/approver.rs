//! How a person is asked.

use std::{fmt, sync::Arc, time::Duration};

use serde_json::Value;
use store::{Answer, ApprovalId};
use tool::{BoxFuture, CallId, Caller, Plan};

/// What a person sees: all of the call, and why they are asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Names it, for answers that come from elsewhere.
    pub id: ApprovalId,
    /// The call.
    pub call: CallId,
    /// Who wants it.
    pub caller: Arc<Caller>,
    /// The tool.
    pub tool: Arc<str>,
    /// The arguments, secrets taken out.
    pub input: Value,
    /// What the call needs.
    pub plan: Arc<Plan>,
    /// Why policy does not decide alone.
    pub reason: String,
    /// What an answer for always can be scoped to, besides exactly this call.
    pub scopes: Vec<String>,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

/// What became of a question put to an approver.
#[derive(Debug)]
pub enum Reply {
    /// Somebody answered.
    Answered(Answer),
    /// Nobody can be reached this way, and why.
    NobodyHere(String),
}

/// Puts questions to a person: a terminal, a console, the embedding app.
pub trait Approver: fmt::Debug + Send + Sync {
    /// Shown to people when nobody could be reached.
    fn name(&self) -> &str;
    /// Waits for the answer. The wait is ended from outside when the call stops or time is up.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply>;
}
