//! Drops what need not be kept any longer.

use std::{
    fmt,
    fs::{self, File},
    path::Path,
    sync::Arc,
    time::Duration,
};

use config::Config;
use store::Journal;
use tool::Clock;
use world::World;

/// Processes that start one after the other do this only now and then.
const EVERY: Duration = Duration::from_hours(1);

/// Prunes undo data, artifacts and journal payloads beyond what configuration keeps, on a thread of
/// its own. A process that ends before it is done leaves the rest to the next.
pub(crate) fn start(
    data: &Path,
    config: &Config,
    journal: &Journal,
    world: &Arc<World>,
    clock: &Arc<dyn Clock>,
) {
    if !is_due(data, clock) {
        return;
    }
    let payloads = config
        .store
        .payload_days
        .as_ref()
        .and_then(|days| clock.now().checked_sub(Duration::from_hours(24) * days.value));
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
    let due = last
        .map_or(true, |last| clock.now().duration_since(last).is_ok_and(|since| since >= EVERY));
    due && File::create(&stamp).and_then(|file| file.set_modified(clock.now())).is_ok()
}
