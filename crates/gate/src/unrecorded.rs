//! Counts, in the journal itself, the calls that were refused without a record of their own.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use store::{Durability, Ending, Intent, Record};
use tokio::task::JoinHandle;
use tool::{CallId, Caller, Effects, Rate};

use crate::{call::Call, shared::Shared};

/// The rule that entries of this kind name.
const RULE: &str = "limits.rate_per_user";
/// How long counts are gathered before they are written: a process that is killed loses no more than this.
const FLUSH_INTERVAL: Duration = Duration::from_secs(5);
/// Names of tools that are told apart for one user between two flushes. A caller chooses the names, so
/// there must be a bound; calls with further names are counted together.
const MAX_TOOLS_PER_USER: usize = 4;
/// Stands for every further name.
const OTHER_TOOLS: &str = "*";
/// Longer names are cut.
const MAX_NAME_CHARS: usize = 100;

/// Calls that were refused without a record since the last flush, by user and tool.
#[derive(Debug, Default)]
pub(crate) struct Unrecorded(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    tallies: Vec<Tally>,
    flusher: Option<JoinHandle<()>>,
}

/// How many calls of one user and tool were refused, and when.
#[derive(Debug, Clone)]
struct Tally {
    caller: Arc<Caller>,
    tool: String,
    rate: Rate,
    calls: u64,
    first: SystemTime,
    last: SystemTime,
}

impl Unrecorded {
    /// Counts a call of `caller` that is refused at `now` because `rate` is used up.
    fn count(&self, caller: &Arc<Caller>, name: &str, (rate, now): (Rate, SystemTime)) {
        let mut state = self.lock();
        let of_user = state.tallies.iter().filter(|tally| tally.caller.user == caller.user);
        let is_known = of_user.clone().any(|tally| tally.tool == name);
        let tool =
            if is_known || of_user.count() < MAX_TOOLS_PER_USER { name } else { OTHER_TOOLS };
        let mut tallies = state.tallies.iter_mut();
        let same = |tally: &&mut Tally| tally.caller.user == caller.user && tally.tool == tool;
        if let Some(tally) = tallies.find(same) {
            tally.calls += 1;
            tally.last = now;
            return;
        }
        let (caller, tool) = (caller.clone(), tool.to_owned());
        state.tallies.push(Tally { caller, tool, rate, calls: 1, first: now, last: now });
    }

    /// Removes and returns one record for each tally.
    fn take_records(&self, next_id: impl Fn() -> CallId) -> Vec<Record> {
        let tallies = mem::take(&mut self.lock().tallies);
        tallies.into_iter().map(|tally| tally.into_record(next_id())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a call that is refused without a record, and has the count written soon.
pub(crate) fn count(shared: &Arc<Shared>, call: &Call, rate: Rate) {
    let settings = shared.settings.load();
    let name: String = settings.redactor.text(&call.name).chars().take(MAX_NAME_CHARS).collect();
    shared.unrecorded.count(&call.caller, &name, (rate, shared.world.clock().now()));
    let mut state = shared.unrecorded.lock();
    // The runtime an earlier one was started in may have ended.
    if state.flusher.as_ref().is_none_or(JoinHandle::is_finished) {
        state.flusher = Some(tokio::spawn(flush_later(Arc::downgrade(shared))));
    }
}

/// Writes the counts after a while, until there are none.
async fn flush_later(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(FLUSH_INTERVAL).await;
        let Some(shared) = shared.upgrade() else { return };
        let records = shared.unrecorded.take_records(|| shared.ids.next());
        if records.is_empty() {
            let mut state = shared.unrecorded.lock();
            // A call may have been counted since, by a thread that saw this task running.
            if state.tallies.is_empty() {
                state.flusher = None;
                return;
            }
            continue;
        }
        if let Err(error) = shared.journal.append(records, Durability::Process).await {
            tracing::error!(%error, "cannot record how many calls were refused without a record");
        }
    }
}

/// Writes the counts that are left when a gate ends. May block.
pub(crate) fn flush_now(shared: &Shared) {
    let records = shared.unrecorded.take_records(|| shared.ids.next());
    if records.is_empty() {
        return;
    }
    if let Err(error) = shared.journal.append_blocking(records, Durability::Process) {
        tracing::error!(%error, "cannot record how many calls were refused without a record");
    }
}

impl Tally {
    /// An entry like that of one refused call, with the number and the span in its details.
    fn into_record(self, call: CallId) -> Record {
        let Self { caller, tool, rate, calls, first, last } = self;
        let shown = store::shown_time;
        let span = last.duration_since(first).unwrap_or_default();
        let tools =
            if tool == OTHER_TOOLS { "further tools".to_owned() } else { format!("`{tool}`") };
        let noun = if calls == 1 { "call" } else { "calls" };
        let message = format!(
            "{calls} {noun} of {tools} refused without a record of their own from {} to {}: more than \
             {} calls of `{}` were refused in {} s",
            shown(first),
            shown(last),
            rate.calls,
            caller.user,
            rate.per.as_secs()
        );
        let details = json!({
            "unrecorded_calls": calls,
            "first": shown(first),
            "last": shown(last),
        });
        let intent = Intent {
            call,
            provider_call_id: None,
            message_id: None,
            rewrites: Vec::new(),
            caller,
            tool: tool.into(),
            input: Value::Null,
            workspace: None,
            plan: Value::Null,
            effects: Effects::NONE,
            decision: "deny".into(),
            rule: RULE.to_owned(),
            reason: String::new(),
            started: first,
        };
        let ending = Ending {
            call,
            error_type: Some("rate_limited".into()),
            message: Some(message),
            detail: None,
            output: details,
            decision: "deny".into(),
            rule: RULE.to_owned(),
            approval: None,
            place: None,
            effects: Effects::NONE,
            changed: json!([]),
            duration_ms: u64::try_from(span.as_millis()).unwrap_or(u64::MAX),
            answered_by: None,
            finished: last,
        };
        Record::Call(Box::new(intent), Box::new(ending))
    }
}
