//! A request over HTTP, and how it is answered in the revision it came in.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use serde_json::{Map, Value};

use super::{
    client::Ask,
    desk,
    driven::Driven,
    errors,
    http::json,
    offer::Answered,
    sessions::{Noted, Session},
    waiting::Bound,
};
use crate::{auth::Signed, rpc, state::State};

/// A request that is to be answered.
pub(super) struct Exchange {
    pub(super) state: State,
    pub(super) signed: Signed,
    pub(super) id: Value,
    pub(super) way: Way,
}

/// How its client is asked for something.
pub(super) enum Way {
    /// It is told what is wanted, and comes back.
    Stateless(Bound),
    /// It is asked while it waits.
    Session(Arc<Session>, #[expect(dead_code, reason = "kept until the answer")] Noted),
}

impl Exchange {
    /// The answer, as a message.
    pub(super) fn text(&self, answered: Answered) -> String {
        let answered = match self.way {
            Way::Stateless(_) => desk::complete(answered),
            Way::Session(..) => answered,
        };
        rpc::answer_without_null(Some(&self.id), answered.map(Value::Object))
    }

    /// The answer, by itself.
    pub(super) fn whole(&self, answered: Answered) -> Response {
        let status = match (&self.way, &answered) {
            (Way::Stateless(_), Err(error)) => errors::status(error),
            (Way::Stateless(_) | Way::Session(..), _) => StatusCode::OK,
        };
        json(status, self.text(answered))
    }

    /// Lets a request wait until its client comes back; gives it back if that cannot be.
    pub(super) fn park(&self, driven: Driven, ask: Ask) -> Result<Map<String, Value>, Driven> {
        let Way::Stateless(bound) = &self.way else { return Err(driven) };
        let patience = self.state.gate.config().limits.approval_timeout.value;
        let time = (self.state.now(), patience);
        let held = self.state.held.hold(&self.signed);
        self.state.mcp.desk.waiting.park((driven, ask), (*bound, Some(held)), time)
    }
}
