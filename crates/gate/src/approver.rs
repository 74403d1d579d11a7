//! How a person is asked.

use std::{fmt, time::Duration};

use store::{Answer, ApprovalId, NewApproval};
use tool::BoxFuture;

/// What a person sees: all of the call, and why they are asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// Names it, for answers that come from elsewhere.
    pub id: ApprovalId,
    /// What is asked, secrets taken out.
    pub request: NewApproval,
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
