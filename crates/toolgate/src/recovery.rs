//! Puts in order what processes that died left behind.

use std::{path::Path, sync::Arc};

use store::{Durability, Ending, Journal, OpenCall, Record, leave_questions};
use tool::{Clock, ToolError};
use world::{Recovered, Unfinished, World};

use crate::build::BuildError;

/// Finishes or rolls back the changes of dead processes, and marks their calls as interrupted.
pub(crate) fn recover(
    journal: &Journal,
    world: &World,
    clock: &Arc<dyn Clock>,
    data: &Path,
) -> Result<(), BuildError> {
    for writer in journal.abandoned()? {
        let calls: Vec<_> = writer.calls.iter().map(|open| open.call).collect();
        leave_questions(data, &calls)?;
        for open in &writer.calls {
            finish(journal, world, open)?;
            let ending = Record::Outcome(Box::new(interrupted(open, clock)));
            journal.append_blocking(vec![ending], Durability::Disk)?;
        }
        writer.done();
    }
    Ok(())
}

fn finish(journal: &Journal, world: &World, open: &OpenCall) -> Result<(), BuildError> {
    let recovered = world.recover(Unfinished {
        call: open.call,
        caller: &open.caller,
        workspace: open.workspace.as_deref(),
        planned: &open.writes,
        records: &open.changes,
        log: journal,
    })?;
    let Recovered { ending, conflicts, swept: _ } = recovered;
    let some: Vec<_> = conflicts.iter().take(5).map(ToString::to_string).collect();
    tracing::warn!(
        call = %open.call, tool = open.tool, ?ending, conflicts = conflicts.len(), ?some,
        "a call was interrupted"
    );
    Ok(())
}

fn interrupted(open: &OpenCall, clock: &Arc<dyn Clock>) -> Ending {
    let error = ToolError::Interrupted;
    let summaries: Vec<_> = open.changes.iter().flatten().map(tool::Change::summary).collect();
    Ending {
        call: open.call,
        error_type: Some(error.kind().into()),
        message: Some(error.to_string()),
        detail: None,
        output: error.details(),
        decision: "".into(),
        rule: String::new(),
        approval: None,
        place: None,
        effects: open.effects,
        changed: serde_json::json!(summaries),
        duration_ms: 0,
        answered_by: None,
        finished: clock.now(),
    }
}
