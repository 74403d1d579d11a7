//! What a command is told when something does not work.

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::{
    Response, StatusCode,
    header::{CONNECTION, CONTENT_TYPE, HeaderValue},
};
use tool::ToolError;

use super::body::Body;

/// Why there is no answer from the network: a status and one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    status: StatusCode,
    line: String,
}

impl Failure {
    /// The request makes no sense, or more than one.
    pub(super) fn malformed(reason: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, line: reason.to_owned() }
    }

    /// `target` may not be reached, or cannot be.
    pub(super) fn of(error: &ToolError, target: &str) -> Self {
        if let ToolError::Denied { stage: _, rule, reason } = error {
            let line = format!("`{target}` is refused by the rule `{rule}`: {reason}");
            return Self { status: StatusCode::FORBIDDEN, line };
        }
        Self::gateway(format!("`{target}` cannot be reached: {error}"))
    }

    /// The other side does not answer, or not with sense.
    pub(super) const fn gateway(line: String) -> Self {
        Self { status: StatusCode::BAD_GATEWAY, line }
    }

    /// Whether a rule says so.
    pub(super) fn is_refusal(&self) -> bool {
        self.status == StatusCode::FORBIDDEN
    }

    /// As an answer. It is the last one on its connection: what follows a request that was not
    /// understood, or its body that nobody has read, is not looked at.
    pub(super) fn into_response(self) -> Response<Body> {
        let mut response =
            Response::new(Either::Left(Full::new(Bytes::from(format!("{}\n", self.line)))));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}
