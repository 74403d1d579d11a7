//! What happens, for those who watch: calls come and go, people are asked and answer.

mod approver;
mod hub;
mod observer;
mod said;
mod sessions;

use std::sync::{Arc, Mutex};

use gate::Question;
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tool::Clock;

pub(crate) use self::{
    approver::is_permission,
    hub::{Answers, Event, Hears, Queue, Seen, Subscription, Who},
};
use self::{
    hub::{About, Asked, Hub},
    said::Said,
};
use crate::{
    mcp::{Asking, InWords},
    metrics::Metrics,
    running::Running,
};

/// The kinds of events; a client may name those it wants.
pub(crate) mod kind {
    pub(crate) const CALL_STARTED: &str = "call.started";
    pub(crate) const CALL_UPDATED: &str = "call.updated";
    pub(crate) const CALL_FINISHED: &str = "call.finished";
    pub(crate) const APPROVAL_REQUESTED: &str = "approval.requested";
    pub(crate) const APPROVAL_RESOLVED: &str = "approval.resolved";
    pub(crate) const PERMISSION_REQUESTED: &str = "permission.requested";
    pub(crate) const PERMISSION_RESOLVED: &str = "permission.resolved";

    pub(crate) const SESSION_MESSAGE: &str = "session.message";
    pub(crate) const SESSION_STARTED: &str = "session.started";
    pub(crate) const SESSION_ENDED: &str = "session.ended";
    pub(crate) const SESSION_EVENT: &str = "session.event";

    /// Every kind.
    pub(crate) const ALL: &[&str] = &[
        APPROVAL_REQUESTED,
        APPROVAL_RESOLVED,
        CALL_FINISHED,
        CALL_STARTED,
        CALL_UPDATED,
        PERMISSION_REQUESTED,
        PERMISSION_RESOLVED,
        SESSION_ENDED,
        SESSION_EVENT,
        SESSION_MESSAGE,
        SESSION_STARTED,
    ];
}

/// So many questions can end before anybody has looked what became of them.
const MOST_ENDED: usize = 1_024;

/// A question that nobody waits for any more.
type Ended = (Question, Arc<Asked>);

/// What happens in a gate. Made before the gate, which is given it as an approver and as an observer; the
/// server passes it on.
#[derive(Debug)]
pub struct Events {
    hub: Hub,
    clock: Arc<dyn Clock>,
    pub(crate) running: Running,
    pub(crate) metrics: Metrics,
    /// The clients that can be asked about the calls they made.
    asking: Arc<Asking>,
    ended: mpsc::Sender<Ended>,
    to_settle: Mutex<Option<mpsc::Receiver<Ended>>>,
}

impl Events {
    /// Nothing has happened yet.
    pub fn new(clock: Arc<dyn Clock>, words: InWords) -> Arc<Self> {
        let (ended, to_settle) = mpsc::channel(MOST_ENDED);
        Arc::new(Self {
            hub: Hub::new(clock.now()),
            asking: Asking::new(words, clock.clone()),
            clock,
            running: Running::default(),
            metrics: Metrics::default(),
            ended,
            to_settle: Mutex::new(Some(to_settle)),
        })
    }

    /// The clients that can be asked about the calls they made.
    pub const fn asking(&self) -> &Arc<Asking> {
        &self.asking
    }

    /// Tells whomever it concerns, and whoever sees everything.
    pub(crate) fn tell(&self, kind: &'static str, who: Who, params: Map<String, Value>) {
        self.tell_said(kind, who, Said::Fields(params));
    }

    fn tell_said(&self, kind: &'static str, who: Who, said: Said) {
        self.hub.publish(kind, (who, About::Call), (said, self.clock.now()));
    }

    /// Tells whoever may answer, too.
    fn tell_answerers(
        &self,
        kind: &'static str,
        (who, about): (Who, About),
        params: Map<String, Value>,
    ) {
        self.hub.publish(kind, (who, about), (Said::Fields(params), self.clock.now()));
    }

    /// Tells one connection only, and nobody later. Waits while it has much to read.
    pub(crate) async fn tell_one(
        &self,
        to: &Queue,
        kind: &'static str,
        params: Map<String, Value>,
    ) {
        self.hub.send(to, kind, (Said::Fields(params), self.clock.now())).await;
    }

    /// Everything somebody sees from now on goes to `to`, and what was missed since `since`.
    pub(crate) fn subscribe(self: &Arc<Self>, hears: Hears, to: Queue, seen: Seen) -> Subscription {
        Subscription::new(self.clone(), hears, to, seen)
    }
}

/// The fields of an object.
pub(crate) fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
