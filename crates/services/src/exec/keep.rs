//! What stays of what a command changed.

use std::sync::Arc;

use tool::{Commit, Ended, Keep, Proposal, Start, ToolError};
use world::{Collected, Committed, Overlay};

use super::blocking;

/// Commits what the command changed, as far as the review keeps it. Nothing is kept of a command that
/// did not end by itself, unless a person is to see its changes anyway.
pub(super) async fn keep(
    overlay: Overlay,
    start: Start<'_>,
    ended: &Ended,
) -> Result<Committed, ToolError> {
    if let Some(why) = &ended.killed_for
        && !overlay.is_held()
    {
        let note = format!("the command was ended ({why}), so its changes were dropped");
        return Ok(Committed { changed: Vec::new(), notes: vec![note] });
    }
    let (call, live, log) = (start.call, start.live.clone(), Arc::clone(start.log));
    let review = Arc::clone(start.review);
    let look = move || {
        let collected = overlay.collect(&live)?;
        if collected.is_empty() || !review.is_wanted(collected.lost()) {
            let making = Commit { call, live: &live, log: log.as_ref() };
            return collected.commit(making, &Keep::All).map(Looked::Kept);
        }
        let proposal = collected.proposal();
        Ok(Looked::Held(Box::new(collected), proposal))
    };
    let (collected, proposal) = match blocking(look).await? {
        Looked::Kept(committed) => return Ok(committed),
        Looked::Held(collected, proposal) => (collected, proposal),
    };
    let keep = start.review.judge(&proposal).await?;
    let (live, log) = (start.live.clone(), Arc::clone(start.log));
    blocking(move || collected.commit(Commit { call, live: &live, log: log.as_ref() }, &keep)).await
}

/// What came of the first look.
enum Looked {
    Kept(Committed),
    /// Somebody wants to see it before it is kept.
    Held(Box<Collected>, Proposal),
}
