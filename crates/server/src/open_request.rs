//! A request that is not over yet, and the lines about it in the log.

use std::time::Instant;

use axum::{
    body::{Body, HttpBody as _},
    extract::Request,
    http::Method,
    response::Response,
};
use futures_util::StreamExt as _;
use uuid::Uuid;

use crate::state::State;

/// What is logged and counted of a request whose client did not wait for the answer.
const GONE: u16 = 499;

/// A request that is not over yet. If it is dropped before it is answered, its client has gone.
pub(crate) struct OpenRequest {
    state: State,
    began: Instant,
    stage: Stage,
    /// Names it in the log and in the answer.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// The path alone: a query may hold what is nobody's business.
    pub(crate) path: String,
    pub(crate) user: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Waits,
    /// The answer, with this status, is sent piece by piece.
    Streams(u16),
    Over,
}

impl OpenRequest {
    pub(crate) fn new(state: &State, request: &Request) -> Self {
        Self {
            state: state.clone(),
            began: Instant::now(),
            stage: Stage::Waits,
            id: Uuid::new_v4().simple().to_string(),
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            user: None,
        }
    }

    /// Logs and counts the answer. One that is sent piece by piece is over when its last piece is sent, or
    /// its client goes.
    pub(crate) fn answered(mut self, response: Response) -> Response {
        let status = response.status().as_u16();
        self.state.events.metrics.answered(status);
        self.log(status, "request");
        if response.body().size_hint().exact().is_some() {
            self.stage = Stage::Over;
            return response;
        }
        self.stage = Stage::Streams(status);
        response.map(|body| {
            Body::from_stream(body.into_data_stream().inspect(move |_| {
                // It is kept as long as the stream is.
                let _ = &self;
            }))
        })
    }

    fn log(&self, status: u16, what: &str) {
        let Self { id, method, path, user, .. } = self;
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let path = path.escape_debug();
        tracing::info!(request = id, %method, %path, status, millis, user, "{what}");
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        match self.stage {
            Stage::Waits => {
                self.state.events.metrics.answered(GONE);
                self.log(GONE, "request");
            }
            Stage::Streams(status) => self.log(status, "request streamed"),
            Stage::Over => {}
        }
    }
}
