//! Agents.

mod agents_list;

use std::sync::Arc;

use tool::{AnyTool, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Typed::<agents_list::AgentsList>::erased()]
}
