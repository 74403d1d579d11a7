//! The emergency stop, and its opposite: for a time nobody is asked.

use std::{
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use policy::{Decision, Verdict};
use store::{Emergency, EmergencyFile, Said};
use tokio::task::JoinHandle;
use tool::{Live, ToolError};

use crate::{
    call::{Call, Origin},
    shared::Shared,
};

/// The rule behind what an override lets through.
pub(crate) const OVERRIDE: &str = "emergency.override";

/// How often it is looked whether what runs must end. A look is two system calls.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// What the owner said, here or in another process, and the calls it concerns.
#[derive(Debug)]
pub(crate) struct Alarm {
    file: Arc<EmergencyFile>,
    looked: Looked,
    running: Mutex<Running>,
}

/// Calls that may still go on, and who looks after them.
#[derive(Debug, Default)]
struct Running {
    calls: Vec<Weak<Live>>,
    watcher: Option<JoinHandle<()>>,
}

/// When a look last found that calls may run. A system call per call would cost more than all the rest
/// of this.
#[derive(Debug)]
struct Looked {
    origin: Instant,
    /// Nanoseconds after `origin`; 0 is never.
    at: AtomicU64,
}

impl Default for Looked {
    fn default() -> Self {
        Self { origin: Instant::now(), at: AtomicU64::new(0) }
    }
}

impl Looked {
    fn nanos(&self, time: Instant) -> u64 {
        let since = time.saturating_duration_since(self.origin).as_nanos();
        u64::try_from(since).unwrap_or(u64::MAX)
    }

    /// Whether the last look is as good as one at `time`.
    fn is_fresh(&self, time: Instant) -> bool {
        let (at, now) = (self.at.load(Ordering::Relaxed), self.nanos(time));
        let fresh = EmergencyFile::FRESH.as_nanos();
        at != 0 && now >= at && u128::from(now - at) < fresh
    }

    /// Notes a look that was made at `time` or later.
    fn note(&self, time: Instant) {
        self.at.store(self.nanos(time), Ordering::Relaxed);
    }
}

impl Alarm {
    pub(crate) fn new(file: EmergencyFile) -> Self {
        Self { file: Arc::new(file), looked: Looked::default(), running: Mutex::default() }
    }

    /// Where it is said.
    pub(crate) const fn file(&self) -> &Arc<EmergencyFile> {
        &self.file
    }

    /// Why nothing may run now, if that is so. What cannot be read is taken for a stop.
    pub(crate) fn stopped(&self, now: impl FnOnce() -> SystemTime) -> Option<String> {
        match self.file.state(now) {
            Ok(None | Some(Emergency::Override { .. })) => None,
            Ok(Some(Emergency::Stopped(said))) => Some(reason(&said)),
            Err(error) => {
                tracing::error!(%error, "whether there is an emergency cannot be read");
                Some(
                    "nothing runs because `emergency.json` in the data folder cannot be read; \
                     only the owner can end that, with `toolgate emergency resume`"
                        .to_owned(),
                )
            }
        }
    }

    /// `decision`, or what the owner's override makes of it: what people would be asked about is
    /// allowed, and what is denied stays denied.
    pub(crate) fn weigh(&self, decision: Decision, now: impl FnOnce() -> SystemTime) -> Decision {
        if decision.verdict != Verdict::Ask {
            return decision;
        }
        let Ok(Some(Emergency::Override { said, until })) = self.file.state(now) else {
            return decision;
        };
        let why = said.reason.unwrap_or_default();
        let reason = format!(
            "{} lets everything pass until {}: {why}; without that, {} would ask because {}",
            said.by,
            store::shown_time(until),
            decision.rule,
            decision.reason
        );
        Decision::new(Verdict::Allow, OVERRIDE, reason)
    }

    /// Has the call ended as soon as everything is stopped.
    fn watch(&self, shared: &Arc<Shared>, live: &Arc<Live>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Running { calls, watcher } = &mut *running;
        if calls.len() == calls.capacity() {
            // Those that ended are dropped now and then, so that adding one costs next to nothing.
            calls.retain(|call| call.strong_count() > 0);
            calls.reserve(calls.len().max(64));
        }
        calls.push(Arc::downgrade(live));
        // The runtime it was started in may have ended.
        if watcher.as_ref().is_none_or(JoinHandle::is_finished) {
            *watcher = Some(tokio::spawn(look_on(Arc::downgrade(shared))));
        }
    }

    fn halt(&self, reason: &Arc<str>) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for live in running.calls.iter().filter_map(Weak::upgrade) {
            live.halt(reason.clone());
        }
    }
}

/// Refuses a call while everything is stopped, and has it ended if that comes later.
pub(crate) fn admit(shared: &Arc<Shared>, call: &Call) -> Result<(), ToolError> {
    if is_exempt(call) {
        return Ok(());
    }
    // Before the look: what is said after it reaches the call too.
    shared.alarm.watch(shared, &call.live);
    let came = call.learnt.started();
    if shared.alarm.looked.is_fresh(came) {
        return Ok(());
    }
    refuse_if_stopped(shared)?;
    shared.alarm.looked.note(came);
    Ok(())
}

/// Refuses a call that was let in and would now have an effect.
pub(crate) fn admit_again(shared: &Shared, call: &Call) -> Result<(), ToolError> {
    if is_exempt(call) { Ok(()) } else { refuse_if_stopped(shared) }
}

pub(crate) fn refuse_if_stopped(shared: &Shared) -> Result<(), ToolError> {
    let stopped = shared.alarm.stopped(|| shared.world.clock().now());
    stopped.map_or(Ok(()), |reason| Err(ToolError::stopped(reason)))
}

/// What people do themselves still works, unless it runs a program.
fn is_exempt(call: &Call) -> bool {
    let runs = |planned: &crate::call::Planned| planned.plan().command().is_some();
    let brought = call.own.as_ref().and_then(|own| own.as_ref().ok());
    call.origin == Origin::Person && !brought.or(call.planned.as_ref()).is_some_and(runs)
}

/// Ends what runs while everything is stopped, for as long as the gate is there.
async fn look_on(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(shared) = shared.upgrade() else { return };
        shared.alarm.file.refresh();
        if let Some(reason) = shared.alarm.stopped(|| shared.world.clock().now()) {
            shared.alarm.halt(&reason.into());
            shared.world.halt();
        }
    }
}

fn reason(said: &Said) -> String {
    let Said { by, at, reason } = said;
    let why = reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!(
        "{by} stopped everything at {}{why}; only the owner can end that, with `toolgate emergency \
         resume`",
        store::shown_time(*at)
    )
}
