//! Puts questions to whoever is connected.

use std::{sync::Arc, time::Duration};

use gate::{Approver, Question, Reply};
use serde_json::{Map, Value, json};
use store::{Approval, ApprovalStatus, NewApproval};
use tool::BoxFuture;

use super::{About, Asked, Ended, Events, Who, fields, kind};

/// How often it is looked what became of a question that nobody waits for any more.
const LOOKS: u32 = 20;

/// What a permission is asked for begins with this.
const PERMISSION: &str = "permission:";

impl Approver for Events {
    fn name(&self) -> &'static str {
        "server"
    }

    /// Somebody may come and answer, so the question stays open until the gate ends it.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let requested = if is_permission(&question.request.rule) {
                kind::PERMISSION_REQUESTED
            } else {
                kind::APPROVAL_REQUESTED
            };
            self.metrics.asked();
            let asked = Arc::<Asked>::default();
            let about = (who(&question.request), About::Question(asked.clone()));
            self.tell_answerers(requested, about, described(question));
            let _open = Open { events: self, question, asked };
            // The person at the client that made the call is one of those who may come.
            match self.asking.ask(question).await {
                Some(answer) => Reply::Answered(answer),
                None => std::future::pending().await,
            }
        })
    }
}

/// Whether a question asks for a permission, and not about one call.
pub(crate) fn is_permission(rule: &str) -> bool {
    rule.starts_with(PERMISSION)
}

/// All of the question, as data.
fn described(question: &Question) -> Map<String, Value> {
    let mut params = fields(json!(question.request));
    params.insert("id".to_owned(), json!(question.id));
    params
}

/// A question that is open; when this is dropped it is over.
struct Open<'a> {
    events: &'a Events,
    question: &'a Question,
    asked: Arc<Asked>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.asked.end();
        if self.events.ended.try_send((self.question.clone(), self.asked.clone())).is_err() {
            tracing::warn!(approval = %self.question.id, "nobody is told that a question is over");
        }
    }
}

impl Events {
    /// Says of every question that ends what became of it. Runs until the events are dropped.
    pub(crate) async fn settle(self: Arc<Self>, gate: gate::Gate) {
        let taken = self.to_settle.lock().ok().and_then(|mut waiting| waiting.take());
        let Some(mut ended) = taken else { return };
        while let Some(over) = ended.recv().await {
            // Each by itself: one that is looked for longer must not hold up the others.
            tokio::spawn(self.clone().settle_one(gate.clone(), over));
        }
    }

    async fn settle_one(self: Arc<Self>, gate: gate::Gate, (question, asked): Ended) {
        let mut wait = Duration::from_millis(5);
        for _ in 0..LOOKS {
            let now = self.clock.now();
            let found = match gate.db().await {
                Ok(db) => db.approval(&question.id, now).await.ok().flatten(),
                Err(_) => None,
            };
            match found {
                // Its end is written down a moment after nobody waits any more.
                Some(approval) if approval.status == ApprovalStatus::Pending => {}
                Some(approval) => return self.resolved(&approval, asked),
                None => break,
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
        tracing::warn!(approval = %question.id, "what became of a question is not known");
    }

    fn resolved(&self, approval: &Approval, asked: Arc<Asked>) {
        let request = &approval.request;
        let resolved = if is_permission(&request.rule) {
            kind::PERMISSION_RESOLVED
        } else {
            kind::APPROVAL_RESOLVED
        };
        self.metrics.resolved(approval.status);
        let params = json!({
            "id": approval.id,
            "call": request.call,
            "tool": request.tool,
            "user": request.user,
            "agent": request.agent,
            "session": request.session,
            "status": approval.status,
            "decision": approval.decision,
            "answered_by": approval.answered_by,
            "message": approval.message,
        });
        self.tell_answerers(resolved, (who(request), About::Answer(asked)), fields(params));
    }
}

fn who(request: &NewApproval) -> Who {
    Who { user: request.user.as_str().into(), agent: request.agent.as_str().into() }
}
