//! Bounds what commands leave in the private `/tmp` of a session, over all calls together.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tool::{Caller, Ended, ToolError};
use world::World;

use super::blocking;

/// A folder that takes long to look through is looked at again after this many times as long, so
/// that looking takes little of the time; or when a command was ended, or the disk has lost a quarter
/// of what a command may write.
const PAUSE_FACTOR: u32 = 20;
const LOOK_AT_PART: u64 = 4;
/// Sessions that are remembered; a forgotten one is looked at once more.
const MAX_SESSIONS: usize = 10_000;

/// The last look at the temp folder of each session.
#[derive(Debug, Default)]
pub(super) struct TempBound(Mutex<HashMap<(String, String, String), LastLook>>);

#[derive(Debug, Clone, Copy)]
struct LastLook {
    /// What was free on the disk.
    free: u64,
    at: Instant,
    took: Duration,
}

/// The temp folder of one session.
#[derive(Debug, Clone)]
pub(super) struct SessionTemp {
    pub(super) bound: Arc<TempBound>,
    pub(super) world: Arc<World>,
    pub(super) caller: Caller,
    pub(super) max_bytes: u64,
}

impl SessionTemp {
    /// Empties the folder if it holds more than is allowed, and says so. A command that was ended is
    /// reason enough to look.
    pub(super) async fn settle(self, ended: &Ended) -> Option<String> {
        let ended = ended.clone();
        // A folder that cannot be looked through is no reason to fail a command that has ended.
        blocking(move || self.look(&ended)).await.unwrap_or_else(|error| Some(error.to_string()))
    }

    fn look(&self, ended: &Ended) -> Result<Option<String>, ToolError> {
        let Self { bound, world, caller, max_bytes } = self;
        let was_ended = ended.killed_for.is_some();
        if !was_ended && !bound.is_due(caller, world.temp_free(caller)?, *max_bytes) {
            return Ok(None);
        }
        let began = Instant::now();
        let emptied = world.bound_temp(caller, *max_bytes)?;
        let (free, took) = (world.temp_free(caller)?, began.elapsed());
        bound.note(caller, LastLook { free, at: Instant::now(), took });
        Ok(emptied.map(|_| {
            format!(
                "the session's /tmp held more than the {max_bytes} bytes that `tools.sandbox.written` \
                 allows, so it was emptied"
            )
        }))
    }
}

impl TempBound {
    fn is_due(&self, caller: &Caller, free: u64, max_bytes: u64) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&key(caller)).is_none_or(|last| {
            last.at.elapsed() >= last.took * PAUSE_FACTOR
                || last.free.saturating_sub(free) > max_bytes / LOOK_AT_PART
        })
    }

    fn note(&self, caller: &Caller, look: LastLook) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_SESSIONS {
            known.clear();
        }
        known.insert(key(caller), look);
    }
}

fn key(caller: &Caller) -> (String, String, String) {
    (caller.user.to_string(), caller.agent.to_string(), caller.session.to_string())
}
