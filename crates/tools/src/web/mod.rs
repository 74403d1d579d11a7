//! The web.

mod http_request;

// What tools above are made of, where it is more than a tool.
mod text;

use std::sync::Arc;

use tool::{AnyTool, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Typed::<http_request::HttpRequest>::erased()]
}
