//! What a model is told when a fetch fails.

use policy::url::UrlRefusal;
use tool::{Source, ToolError};

/// The stage that refusals of the door name.
const STAGE: &str = "net";

/// The door does not open.
pub(super) fn refused(refusal: UrlRefusal) -> ToolError {
    ToolError::denied(STAGE, refusal.rule, refusal.reason)
}

/// A header that may not be sent.
pub(super) fn header(reason: String) -> ToolError {
    ToolError::denied(STAGE, "header", reason)
}

/// Something between us and `host` failed.
pub(super) fn network(message: String, source: impl Into<Source>) -> ToolError {
    ToolError::Network { message, source: Some(source.into()) }
}

/// There is no such host.
pub(super) fn unknown_host(host: &str) -> ToolError {
    let message = format!("there is no host `{host}`; check its name");
    ToolError::Network { message, source: None }
}

/// It goes on and on.
pub(super) fn too_many_redirects(host: &str, most: u32) -> ToolError {
    let message = format!("`{host}` redirects further than {most} times");
    ToolError::Network { message, source: None }
}
