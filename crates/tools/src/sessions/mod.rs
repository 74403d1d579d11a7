//! Conversations, and agents that work for other agents.

mod session_status;
mod sessions_history;
mod sessions_list;
mod sessions_send;
mod sessions_spawn;
mod subagents;

use std::{sync::Arc, time::Duration};

use tool::{AnyTool, Info, Profile, Section, Typed};

/// What all of them are unless they say otherwise.
const INFO: Info = Info {
    section: Section::Sessions,
    profiles: &[Profile::Coding, Profile::Messaging],
    timeout: Duration::from_secs(10),
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

/// The beginning of a text, for a plan that people read.
fn beginning(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
