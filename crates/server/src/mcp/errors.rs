//! What the protocol has numbers for.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::revision::Revision;
use crate::rpc::RpcError;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;
/// Ours, and so outside of what JSON-RPC and the protocol keep for themselves.
const BUSY: i64 = -31_029;

impl RpcError {
    /// There is no such method, or not in this revision.
    pub fn method_not_found(method: &str) -> Self {
        let method: String = method.chars().take(100).collect();
        Self::new(METHOD_NOT_FOUND, format!("there is no method `{}`", method.escape_debug()))
    }

    /// What came with a request is not what is expected.
    pub fn wrong_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    /// A client must declare a capability before this is asked of it.
    pub fn missing_capability(name: &str) -> Self {
        let message = format!("this needs a client with the capability `{name}`");
        let required: Value = [(name.to_owned(), json!({}))].into_iter().collect();
        Self::new(MISSING_CAPABILITY, message).with_data(json!({"requiredCapabilities": required}))
    }

    /// A header does not say what the message says.
    pub(super) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(HEADER_MISMATCH, message)
    }

    pub(super) fn unsupported_version(requested: &str) -> Self {
        let supported = Revision::ALL.map(Revision::name);
        let requested: String = requested.chars().take(100).collect();
        let message = match Revision::find(&requested) {
            Some(earlier) if !earlier.is_stateless() => {
                format!("revision {requested} has sessions; begin one with `initialize`")
            }
            Some(_) => format!("revision {requested} has no sessions; send requests without one"),
            None => format!(
                "revision `{}` is not spoken here; these are: {}",
                requested.escape_debug(),
                supported.join(", ")
            ),
        };
        let data = json!({"supported": supported, "requested": requested});
        Self::new(UNSUPPORTED_VERSION, message).with_data(data)
    }

    /// Two requests have the same id.
    pub(super) fn under_way() -> Self {
        Self::new(-32600, "a request with this `id` is under way; give each its own")
    }

    /// Too much at once.
    pub(super) fn busy(message: impl Into<String>) -> Self {
        Self::new(BUSY, message)
    }
}

/// The status of a refusal over HTTP.
pub(super) fn status(error: &RpcError) -> StatusCode {
    match error.code() {
        METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        INTERNAL => StatusCode::INTERNAL_SERVER_ERROR,
        BUSY => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::BAD_REQUEST,
    }
}
