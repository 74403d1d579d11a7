//! Drops what need not be kept any longer.

use std::{
    fmt,
    fs::{self, File},
    path::Path,
    sync::Arc,
    time::{Duration, SystemTime},
};

use config::Config;
use store::Journal;
use tool::{Capabilities as _, Clock, ToolError};
use world::World;

use crate::{Gate, watch::Watch};

/// Processes that start one after the other do this only now and then, and those that go on for long do
/// it again.
const EVERY: Duration = Duration::from_hours(1);
/// So many sessions of single requests and of agents that other agents started are kept.
const MAX_SESSIONS: u32 = 10_000;
const DAY: Duration = Duration::from_hours(24);

impl Gate {
    /// Drops now and again every hour what configuration does not keep: old sessions of single requests
    /// and of agents that other agents started, undo data, artifacts, payloads of the journal. For
    /// processes that go on for long.
    pub fn keep_in_order(&self) -> Watch {
        let gate = self.clone();
        Watch::new(async move {
            let clock = gate.world().clock();
            loop {
                let config = gate.config();
                let now = clock.now();
                let older = now.checked_sub(DAY * config.store.keep_days.value);
                if let Some(older) = older.filter(|_| clock.is_plausible()) {
                    complain("sessions", gate.prune_sessions(older, now).await);
                }
                tokio::time::sleep(EVERY).await;
                start(gate.data_folder(), &config, gate.journal(), gate.world(), &clock);
            }
        })
    }

    async fn prune_sessions(&self, older: SystemTime, now: SystemTime) -> Result<u64, ToolError> {
        Ok(self.db().await?.prune_sessions(older, MAX_SESSIONS, now).await?)
    }
}

/// Prunes undo data, artifacts and journal payloads beyond what configuration keeps, on a thread of
/// its own. A process that ends before it is done leaves the rest to the next.
pub(crate) fn start(
    data: &Path,
    config: &Config,
    journal: &Journal,
    world: &Arc<World>,
    clock: &Arc<dyn Clock>,
) {
    // By a clock that is years ahead everything would be old.
    if !clock.is_plausible() || !is_due(data, clock) {
        return;
    }
    let payloads = config
        .store
        .payload_days
        .as_ref()
        .and_then(|days| clock.now().checked_sub(DAY * days.value));
    let (journal, world) = (journal.clone(), world.clone());
    std::thread::spawn(move || {
        complain("undo data and artifacts", world.prune());
        if let Some(older) = payloads {
            complain("payloads of the journal", journal.prune_payloads(older));
        }
    });
}

/// What cannot be dropped now is tried again the next time.
fn complain<T, E: fmt::Display>(what: &str, result: Result<T, E>) {
    if let Err(error) = result {
        tracing::warn!(what, %error, "what is old could not be dropped");
    }
}

/// Whether the last time is long enough ago; notes this one.
fn is_due(data: &Path, clock: &Arc<dyn Clock>) -> bool {
    let stamp = data.join("upkeep");
    let last = fs::metadata(&stamp).and_then(|stat| stat.modified());
    let due = last.map_or(true, |last| match clock.now().duration_since(last) {
        Ok(since) => since >= EVERY,
        // Noted by a clock that was ahead.
        Err(ahead) => ahead.duration() >= EVERY,
    });
    due && File::create(&stamp).and_then(|file| file.set_modified(clock.now())).is_ok()
}
