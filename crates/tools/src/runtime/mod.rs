//! Commands, and the processes they leave running.

mod exec;
mod process;

// What tools above are made of, where it is more than a tool.
mod ansi;
mod answers;
mod completed;
mod ended;
mod environment;
mod input;
mod keys;
mod output;
pub(crate) mod part;
mod request;
mod running;
mod schema;
mod seen;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tool::{AnyTool, Capability, Info, Problem, Profile, Section, ToolContext, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Typed::<exec::Exec>::erased(), Typed::<process::Process>::erased()]
}

/// What the tools of this section have in common.
const INFO: Info = Info {
    section: Section::Runtime,
    profiles: &[Profile::Coding],
    uses: &[Capability::Exec],
    ..Info::DEFAULT
};

/// How long a call may still wait. A little less than it has: what a command wrote until then is
/// worth more than an error that says that the time is up.
fn time_left(ctx: &ToolContext) -> Duration {
    let left = ctx.deadline().saturating_duration_since(Instant::now());
    left.saturating_sub((left / 20).min(Duration::from_secs(2)))
}

/// Waits until `process` wrote more than `seen` bytes, or ended, or the time is up.
async fn wait(process: &dyn tool::Process, seen: u64, at_most: Duration) {
    // Which of them it was is looked up afterwards: it can change in between.
    let _ = tokio::time::timeout(at_most, process.changed(seen)).await;
}

/// What `wait` has seen when only the end is news.
const ALL: u64 = u64::MAX;

/// One thing wrong with one argument.
fn problem(path: &str, message: impl Into<String>) -> Problem {
    Problem { path: path.to_owned(), message: message.into(), expected: None, got: None }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
