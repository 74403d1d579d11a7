//! What is known about a call when it ends.

use tool::{CallId, Live, Meta};

use crate::call::Learning;

/// Everything about a call but its result.
pub(crate) fn meta(call: CallId, learning: &Learning, live: &Live) -> Meta {
    let learnt = learning.now();
    Meta {
        duration_ms: u64::try_from(learning.elapsed().as_millis()).unwrap_or(u64::MAX),
        place: learnt.place,
        isolation: learnt.isolation.clone(),
        effects: learnt.effects,
        changed: live.changed(),
        ..Meta::new(call)
    }
}
