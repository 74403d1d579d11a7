//! The order in which calls of one request run.

use std::sync::Arc;

use tokio::sync::watch;
use tool::Effects;

/// Calls of one request: those that change nothing run together, one that does runs alone.
#[derive(Debug)]
pub(crate) struct Batch {
    states: watch::Sender<Vec<State>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It may still turn out to change something.
    Unknown,
    /// It changes nothing, and may run beside others of its kind.
    Harmless,
    /// It has its outcome.
    Done,
}

impl Batch {
    /// Places for `count` calls, in request order.
    pub(crate) fn places(count: usize) -> Vec<Turn> {
        let batch = Arc::new(Self { states: watch::Sender::new(vec![State::Unknown; count]) });
        (0..count).map(|index| Turn { batch: batch.clone(), index }).collect()
    }
}

/// One call's place. Dropping it, however the call ended, lets the next one go.
#[derive(Debug)]
pub(crate) struct Turn {
    batch: Arc<Batch>,
    index: usize,
}

impl Turn {
    /// Waits until every call that must come before has ended.
    pub(crate) async fn wait(&self, effects: Effects) {
        let mut states = self.batch.states.subscribe();
        if !effects.changes() {
            self.set(State::Harmless);
        }
        let ready = |states: &Vec<State>| {
            let mut earlier = states.iter().take(self.index);
            if effects.changes() {
                earlier.all(|state| *state == State::Done)
            } else {
                earlier.all(|state| *state != State::Unknown)
            }
        };
        // The sender lives in `self.batch`, so this ends only when it is this call's turn.
        let _ = states.wait_for(ready).await;
    }

    fn set(&self, new: State) {
        self.batch.states.send_modify(|states| {
            if let Some(state) = states.get_mut(self.index) {
                *state = new;
            }
        });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.set(State::Done);
    }
}
