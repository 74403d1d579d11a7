//! Time.

mod get_current_time;

use std::sync::Arc;

use tool::{AnyTool, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Typed::<get_current_time::GetCurrentTime>::erased()]
}
