//! What stays of what a command changed.

use std::sync::Arc;

use tool::{Commit, Ended, Keep, Proposal, Start, ToolError};
use world::{Collected, Committed, Overlay};

use super::blocking;

/// Commits what the command changed, as far as the review keeps it. Nothing is kept of a command that
/// did not end by itself, unless a person is to see its changes anyway, or that the kernel cut off at
/// `max_file_bytes` of one file: then `ended` says so afterwards, whatever the command made of it.
pub(super) async fn keep(
    overlay: Overlay,
    start: Start<'_>,
    ended: &mut Ended,
    max_file_bytes: u64,
) -> Result<Committed, ToolError> {
    // Then a person sees the changes anyway.
    let is_held = overlay.is_held();
    if let Some(why) = &ended.killed_for
        && !is_held
    {
        return Ok(dropped(why));
    }
    let (call, live, log) = (start.call, start.live.clone(), Arc::clone(start.log));
    let review = Arc::clone(start.review);
    let look = move || {
        let collected = overlay.collect(&live)?;
        if !is_held && collected.largest_grown() >= max_file_bytes {
            return Ok(Looked::CutOff);
        }
        if collected.is_empty() || !review.is_wanted(collected.lost()) {
            let making = Commit { call, live: &live, log: log.as_ref() };
            return collected.commit(making, &Keep::All).map(Looked::Kept);
        }
        let proposal = collected.proposal();
        Ok(Looked::Held(Box::new(collected), proposal))
    };
    let (collected, proposal) = match blocking(look).await? {
        Looked::Kept(committed) => return Ok(committed),
        Looked::CutOff => {
            ended.killed_for = Some("written".to_owned());
            return Ok(dropped("written"));
        }
        Looked::Held(collected, proposal) => (collected, proposal),
    };
    let keep = start.review.judge(&proposal).await?;
    let (live, log) = (start.live.clone(), Arc::clone(start.log));
    blocking(move || collected.commit(Commit { call, live: &live, log: log.as_ref() }, &keep)).await
}

fn dropped(why: &str) -> Committed {
    let note = format!("the command was ended ({why}), so its changes were dropped");
    Committed { changed: Vec::new(), notes: vec![note] }
}

/// What came of the first look.
enum Looked {
    Kept(Committed),
    /// A file is as long as a file may be: the rest of it is missing.
    CutOff,
    /// Somebody wants to see it before it is kept.
    Held(Box<Collected>, Proposal),
}
