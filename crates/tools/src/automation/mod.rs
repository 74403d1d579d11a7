//! What goes on without anybody asking, and what it goes on with.

mod gateway;

use std::sync::Arc;

use tool::{AnyTool, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Typed::<gateway::Gateway>::erased()]
}
