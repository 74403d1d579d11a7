//! Requests that wait for their client to come back with an answer.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tool::Digest;

use super::{
    client::{Ask, Out},
    desk::Back,
    driven::{Driven, Step},
    offer::Answered,
    seal::{Seal, WaitingId},
};
use crate::{ServerError, leaving::Held, rpc::RpcError};

/// So many wait, all in all;
const MOST: usize = 1_024;
/// and so many of one client.
const MOST_OF_ONE: usize = 32;

/// What is wanted has its own time, which is up first.
const GRACE: Duration = Duration::from_secs(2);

/// What must be the same when a client comes back: who it is, and what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) who: Digest,
    pub(super) what: Digest,
}

/// Requests that wait. While they do they go on: somebody else may answer, and time may be up.
pub(super) struct Waiting {
    seal: Seal,
    entries: Mutex<HashMap<WaitingId, Entry>>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

struct Entry {
    bound: Bound,
    take: oneshot::Sender<oneshot::Sender<Taken>>,
}

/// A request that is not waiting any more.
pub(super) struct Taken {
    driven: Driven,
    /// What is still wanted of the client.
    ask: Option<Ask>,
    /// How it ended meanwhile.
    done: Option<Answered>,
}

/// How it goes on.
pub(super) enum Resumed {
    /// It ended meanwhile.
    Done(Answered),
    /// It has what it wanted.
    GoesOn(Driven),
    /// Not everything that was wanted is there, so it is wanted again.
    Again(Driven, Ask),
}

impl Taken {
    /// Goes on with what the client brings; what nobody asked for is passed over.
    pub(super) fn resume(self, back: Back) -> Resumed {
        let Self { driven, ask, done } = self;
        let Back { state: _, answers, progress_token } = back;
        if let Some(done) = done {
            return Resumed::Done(done);
        }
        let driven = driven.go_on_for(progress_token);
        let Some(ask) = ask else { return Resumed::GoesOn(driven) };
        let wanted = ask.requests.keys().map(|name| {
            let answer = answers.get(name).filter(|answer| answer.is_object());
            answer.map(|answer| (name.clone(), answer.clone()))
        });
        match wanted.collect::<Option<Map<_, _>>>() {
            Some(answers) => {
                // Somebody else may have answered meanwhile.
                let _ = ask.answers.send(answers);
                Resumed::GoesOn(driven)
            }
            None => Resumed::Again(driven, ask),
        }
    }
}

impl Waiting {
    pub(super) fn new() -> Result<Self, ServerError> {
        Ok(Self { seal: Seal::new()?, entries: Mutex::default() })
    }

    /// Lets a request wait until its client comes back, or its token works no more. Gives what the client is
    /// told; or the request back, if too many wait.
    pub(super) fn park(
        self: &Arc<Self>,
        (driven, ask): (Driven, Ask),
        (bound, held): (Bound, Option<Held>),
        (now, patience): (SystemTime, Duration),
    ) -> Result<Map<String, Value>, Driven> {
        let sealed = self.seal.make(now + patience).ok().filter(|_| self.has_room(bound));
        let Some((id, state)) = sealed else { return Err(driven) };
        let requests = ask.requests.clone();
        let (take, taken) = oneshot::channel();
        self.entries().insert(id, Entry { bound, take });
        let kept = Kept { waiting: self.clone(), id };
        tokio::spawn(async move {
            let _kept = kept;
            let taken = tokio::time::timeout(patience + GRACE, wait((driven, ask), taken));
            // Time is up, or nobody can come back: what is not taken is dropped, and so stopped.
            match held {
                None => drop(taken.await),
                Some(held) => tokio::select! {
                    _ = taken => {}
                    () = held.ended() => {}
                },
            }
        });
        let told = json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": state,
        });
        Ok(crate::events::fields(told))
    }

    /// The request that waits under this name, once.
    pub(super) async fn take(
        &self,
        state: &str,
        bound: Bound,
        now: SystemTime,
    ) -> Result<Taken, RpcError> {
        let gone = || {
            RpcError::wrong_params(
                "`requestState` is not one that waits for an answer to this request: it was changed, used \
                 before, or is too old; send the request again without it",
            )
        };
        let id = self.seal.read(state, now).ok_or_else(gone)?;
        let entry = {
            let mut entries = self.entries();
            // Whoever else has got hold of it takes nothing away.
            entries.get(&id).filter(|entry| entry.bound == bound).ok_or_else(gone)?;
            entries.remove(&id).ok_or_else(gone)?
        };
        let (give, given) = oneshot::channel();
        entry.take.send(give).map_err(|_| gone())?;
        given.await.map_err(|_| gone())
    }

    /// How many wait.
    pub(super) fn count(&self) -> usize {
        self.entries().len()
    }

    fn has_room(&self, bound: Bound) -> bool {
        let entries = self.entries();
        let own = entries.values().filter(|entry| entry.bound.who == bound.who).count();
        entries.len() < MOST && own < MOST_OF_ONE
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<WaitingId, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets the name of a request that waits no more.
struct Kept {
    waiting: Arc<Waiting>,
    id: WaitingId,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.waiting.entries().remove(&self.id);
    }
}

/// Goes on with a request until somebody takes it.
async fn wait(
    (mut driven, ask): (Driven, Ask),
    mut taken: oneshot::Receiver<oneshot::Sender<Taken>>,
) {
    let (mut ask, mut done) = (Some(ask), None);
    let give = loop {
        tokio::select! {
            biased;
            give = &mut taken => break give,
            step = driven.step(), if done.is_none() => match step {
                Step::Done(answered) => done = Some(answered),
                Step::Out(Out::Ask(next)) => ask = Some(next),
                // Nobody listens.
                Step::Out(Out::Tell(_)) => {}
            },
        }
    };
    if let Ok(give) = give {
        let _ = give.send(Taken { driven, ask, done });
    }
}
