//! Records that wait for the disk, so that one sync does for all of them.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::{
    Durability,
    chain::{Chain, Patience},
    draft::Draft,
};
use crate::StoreError;

/// What arrives when a group was committed, or was not.
pub(super) type Reply = oneshot::Receiver<Result<(), StoreError>>;
type Waiter = oneshot::Sender<Result<(), StoreError>>;

/// Who has to commit the group.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Leader {
    /// You: nobody else is on the way.
    You,
    /// Somebody who has not started yet.
    Another,
}

/// The group that is committed next.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: Group,
    has_leader: bool,
    /// How many there were in the last group.
    last: usize,
}

/// Records that are committed together, and who waits for them.
#[derive(Debug, Default)]
pub(super) struct Group(Vec<(Vec<Draft>, Waiter)>);

impl Queue {
    /// Joins the next group.
    pub(super) fn join(&self, drafts: Vec<Draft>) -> (Reply, Leader) {
        let (sender, reply) = oneshot::channel();
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.0.push((drafts, sender));
        let leader = if state.has_leader { Leader::Another } else { Leader::You };
        state.has_leader = true;
        (reply, leader)
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.0.len()
    }

    /// How many there were in the last group.
    pub(super) fn last(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last
    }

    /// Takes the group. Whoever joins from now on needs a new leader.
    pub(super) fn take(&self) -> Group {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.has_leader = false;
        if !state.waiting.is_empty() {
            state.last = state.waiting.0.len();
        }
        std::mem::take(&mut state.waiting)
    }
}

impl Group {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends all records, waits for other processes if it must, and tells everybody.
    pub(super) fn commit(self, chain: &mut Chain, durability: Durability) {
        if !self.is_empty() {
            let appended = chain.append(self.drafts(), durability, Patience::Some);
            self.answer(appended);
        }
    }

    /// All records, in the order they came.
    pub(super) fn drafts(&self) -> impl Iterator<Item = &Draft> + Clone {
        self.0.iter().flat_map(|(drafts, _)| drafts)
    }

    /// Tells everybody.
    pub(super) fn answer(self, result: Result<(), StoreError>) {
        let result = result.map_err(Arc::new);
        for (_, sender) in self.0 {
            // Who no longer waits does not need to know.
            let _ = sender.send(result.clone().map_err(StoreError::Group));
        }
    }
}
