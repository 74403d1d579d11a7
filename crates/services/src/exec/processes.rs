//! The processes there are, by whom they belong to.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tool::{Caller, Process, ToolError};

use super::background::Background;

/// How many may run at once for one agent.
const MAX_RUNNING: usize = 32;
/// How many finished ones are kept, and for how long.
const FINISHED: (usize, Duration) = (32, Duration::from_mins(30));

/// Processes of every agent, oldest first.
#[derive(Debug, Default)]
pub(super) struct Processes(Mutex<HashMap<Owner, Vec<Arc<Background>>>>);

type Owner = (Arc<str>, Arc<str>);

fn owner(caller: &Caller) -> Owner {
    (caller.user.clone(), caller.agent.clone())
}

impl Processes {
    pub(super) fn refuse_too_many(&self, caller: &Caller) -> Result<(), ToolError> {
        let all = self.lock();
        let own = all.get(&owner(caller)).map(Vec::as_slice).unwrap_or_default();
        if own.iter().filter(|process| process.ended_at().is_none()).count() < MAX_RUNNING {
            return Ok(());
        }
        Err(ToolError::failed(format!(
            "{MAX_RUNNING} processes of this agent run already; end one with `process` first"
        )))
    }

    pub(super) fn add(&self, caller: &Caller, process: Arc<Background>) {
        let mut all = self.lock();
        let own = all.entry(owner(caller)).or_default();
        own.push(process);
        let mut finished = own.iter().filter(|process| process.ended_at().is_some()).count();
        own.retain(|process| {
            let Some(ended) = process.ended_at() else { return true };
            let keep = finished <= FINISHED.0 && ended.elapsed() < FINISHED.1;
            finished -= usize::from(!keep);
            keep
        });
    }

    /// How many run, of all agents.
    pub(super) fn running(&self) -> usize {
        let all = self.lock();
        all.values().flatten().filter(|process| process.ended_at().is_none()).count()
    }

    pub(super) fn of(&self, caller: &Caller) -> Vec<Arc<dyn Process>> {
        let all = self.lock();
        let own = all.get(&owner(caller)).into_iter().flatten();
        own.map(|process| Arc::clone(process) as Arc<dyn Process>).collect()
    }

    pub(super) fn forget(&self, caller: &Caller, id: &str) -> bool {
        let mut all = self.lock();
        let Some(own) = all.get_mut(&owner(caller)) else { return false };
        let before = own.len();
        own.retain(|process| process.id() != id || process.ended_at().is_none());
        own.len() < before
    }

    pub(super) fn kill_all_of(&self, user: &str) {
        let all = self.lock();
        let own = all.iter().filter(|((owner, _), _)| **owner == *user);
        own.flat_map(|(_, own)| own).for_each(|process| drop(process.kill()));
    }

    pub(super) fn kill_all(&self) {
        // Asking is all there is to it, and cannot fail.
        self.lock().values().flatten().for_each(|process| drop(process.kill()));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, Vec<Arc<Background>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
