//! What operations answer.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use schemars::JsonSchema;
use serde::Serialize;
use tool::Outcome;

use super::openapi::Described;
use crate::problem::json_response;

/// What an operation answers when it does what was asked.
pub(crate) trait Answer {
    /// Every status it can have, with what comes along.
    fn describe(described: &mut Described<'_>);
    fn respond(self) -> Response;
}

/// JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize + JsonSchema> Answer for Json<T> {
    fn describe(described: &mut Described<'_>) {
        described.json::<T>(200, "As asked.");
    }

    fn respond(self) -> Response {
        json_response(StatusCode::OK, &self.0)
    }
}

/// JSON about something new.
#[derive(Debug)]
pub(crate) struct Created<T>(pub(crate) T);

impl<T: Serialize + JsonSchema> Answer for Created<T> {
    fn describe(described: &mut Described<'_>) {
        described.json::<T>(201, "It was made.");
    }

    fn respond(self) -> Response {
        json_response(StatusCode::CREATED, &self.0)
    }
}

/// The outcome of a call, with the status that belongs to it.
#[derive(Debug)]
pub(crate) struct OfCall(pub(crate) Outcome);

impl Answer for OfCall {
    fn describe(described: &mut Described<'_>) {
        described.outcome();
    }

    fn respond(self) -> Response {
        // Some of the statuses have no name; a number in range is all it takes.
        let status = StatusCode::from_u16(self.0.http_status());
        let mut response =
            json_response(status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), &self.0);
        let id = HeaderValue::from_str(&self.0.meta().call_id.to_string());
        response.headers_mut().extend(id.map(|id| (super::call::CALL_ID, id)));
        response
    }
}

/// Text.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) content_type: &'static str,
    pub(crate) text: String,
}

impl Answer for Text {
    fn describe(described: &mut Described<'_>) {
        described.text(200, "text/plain", "As asked.");
    }

    fn respond(self) -> Response {
        let mut response = Response::new(Body::from(self.text));
        let kind = HeaderValue::from_static(self.content_type);
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
