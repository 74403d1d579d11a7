//! Conversations, and agents that work for other agents.

mod session_status;
mod sessions_history;
mod sessions_list;
mod sessions_send;
mod sessions_spawn;
mod subagents;

use std::{sync::Arc, time::Duration};

use tool::{
    AnyTool, Info, Profile, SameResult, Section, SendStatus, ToolError, ToolOutput, ToolResult,
    Typed,
};

/// What all of them are unless they say otherwise.
const INFO: Info = Info {
    section: Section::Sessions,
    profiles: &[Profile::Coding, Profile::Messaging],
    timeout: Duration::from_secs(10),
    // Other agents go on by themselves.
    same_result: SameResult::Waiting,
    ..Info::DEFAULT
};

/// How much of a text stands in a plan.
const MAX_SHOWN: usize = 200;

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Typed::<session_status::SessionStatus>::erased(),
        Typed::<sessions_history::SessionsHistory>::erased(),
        Typed::<sessions_list::SessionsList>::erased(),
        Typed::<sessions_send::SessionsSend>::erased(),
        Typed::<sessions_spawn::SessionsSpawn>::erased(),
        Typed::<subagents::Subagents>::erased(),
    ]
}

/// The result of a message: an error if it may not be sent, or if its answer failed. One that is not
/// answered in time was delivered all the same, and is no error.
fn result(status: SendStatus, reason: Option<&str>, output: ToolOutput) -> ToolResult {
    let reason = reason.unwrap_or("the other agent gives no reason");
    match status {
        SendStatus::Ok | SendStatus::Accepted | SendStatus::Timeout => Ok(output),
        SendStatus::Forbidden => Err(ToolError::denied("sessions", "subagents", reason)),
        SendStatus::Error => Err(ToolError::unfinished(None, reason, output)),
    }
}

/// The beginning of a text, for a plan that people read.
fn beginning(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
