//! Numbers for those who watch over the server, in the text format of Prometheus.

mod page;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use provider::Usage;
use store::ApprovalStatus;
use tool::ToolError;

pub(crate) use self::page::{Now, page};

/// Upper ends of the buckets for durations, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0];

/// So many names of tools are counted apart; tools can come and go.
const MOST_TOOLS: usize = 500;
/// The name of what is no tool, or none of this caller's: a caller must not choose what is counted.
const UNKNOWN: &str = "unknown";
/// The name of tools beyond [`MOST_TOOLS`].
const OTHER: &str = "other";

/// What was counted since the server started.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    tools: Mutex<BTreeMap<String, OfTool>>,
    asked: AtomicU64,
    resolved: Mutex<BTreeMap<&'static str, u64>>,
    requests: Mutex<BTreeMap<u16, u64>>,
    failures: AtomicU64,
    refused_connections: AtomicU64,
    slow_readers: AtomicU64,
    runs: Mutex<Runs>,
}

/// What agents did.
#[derive(Debug, Default)]
struct Runs {
    open: u64,
    /// By how they ended.
    ended: BTreeMap<&'static str, u64>,
    /// Tokens.
    read: u64,
    written: u64,
}

/// The calls of one tool.
#[derive(Debug, Default)]
struct OfTool {
    /// By status, and for refusals by the stage that refused.
    calls: BTreeMap<(&'static str, &'static str), u64>,
    buckets: [u64; BUCKETS.len()],
    seconds: f64,
    count: u64,
}

impl Metrics {
    /// A call has its outcome.
    pub(crate) fn finished(&self, tool: Option<&str>, error: Option<&ToolError>, took: Duration) {
        let mut tools = lock(&self.tools);
        let mut name = tool.unwrap_or(UNKNOWN);
        if !tools.contains_key(name) {
            name = if tools.len() < MOST_TOOLS { name } else { OTHER };
            tools.entry(name.to_owned()).or_default();
        }
        let Some(of_tool) = tools.get_mut(name) else { return };
        let status = error.map_or("success", ToolError::kind);
        *of_tool.calls.entry((status, error.map_or("", stage))).or_default() += 1;
        let seconds = took.as_secs_f64();
        for (end, count) in BUCKETS.iter().zip(&mut of_tool.buckets) {
            *count += u64::from(seconds <= *end);
        }
        of_tool.seconds += seconds;
        of_tool.count += 1;
    }

    /// Somebody is asked.
    pub(crate) fn asked(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// A question is over.
    pub(crate) fn resolved(&self, status: ApprovalStatus) {
        *lock(&self.resolved).entry(status.name()).or_default() += 1;
    }

    /// A request was answered.
    pub(crate) fn answered(&self, status: u16) {
        *lock(&self.requests).entry(status).or_default() += 1;
    }

    /// An agent begins to answer.
    pub(crate) fn run_started(&self) {
        lock(&self.runs).open += 1;
    }

    /// It is done.
    pub(crate) fn run_ended(&self, how: &'static str, used: Usage) {
        let mut runs = lock(&self.runs);
        runs.open = runs.open.saturating_sub(1);
        *runs.ended.entry(how).or_default() += 1;
        runs.read = runs.read.saturating_add(used.input);
        runs.written = runs.written.saturating_add(used.output);
    }

    /// Somebody came with no token that works.
    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was refused because there are too many.
    pub(crate) fn refused_connection(&self) {
        self.refused_connections.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was closed because it does not read fast enough.
    pub(crate) fn slow_reader(&self) {
        self.slow_readers.fetch_add(1, Ordering::Relaxed);
    }
}

/// The stage that refused, as far as the error tells.
const fn stage(error: &ToolError) -> &'static str {
    match error {
        ToolError::Denied { stage, .. } => stage,
        ToolError::NotAvailable(_) | ToolError::NotWorking { .. } => "resolve",
        ToolError::Invalid { .. } => "validate",
        ToolError::RateLimited { .. } => "rate",
        ToolError::TimedOut(_)
        | ToolError::Cancelled
        | ToolError::Interrupted
        | ToolError::PathNotAllowed { .. }
        | ToolError::FileNotFound { .. }
        | ToolError::FileTooLarge { .. }
        | ToolError::Network { .. }
        | ToolError::Failed { .. }
        | ToolError::Unfinished(_)
        | ToolError::Internal(_) => "",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_do_not_choose_what_is_counted() {
        let metrics = Metrics::default();
        for number in 0..2 * MOST_TOOLS {
            metrics.finished(Some(&format!("tool_{number}")), None, Duration::ZERO);
            metrics.finished(None, Some(&ToolError::Cancelled), Duration::ZERO);
        }
        assert_eq!(lock(&metrics.tools).len(), MOST_TOOLS + 1);
    }
}
