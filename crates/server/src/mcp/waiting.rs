//! Requests that wait for their client to come back with an answer.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

use serde_json::{Map, Value, json};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tool::Digest;

use super::{
    client::{Ask, Out},
    desk::{Back, Described},
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
/// So long a result is kept at least for a client that has not come back yet.
const KEPT: Duration = Duration::from_mins(1);
/// So much longer than an answer is waited for a client may come back: what was allowed elsewhere takes its own time.
const LATER: Duration = Duration::from_hours(1);

/// How long questions wait for an answer, and how many.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long one does.
    pub time: Duration,
    /// How many of one session do.
    pub questions: usize,
}

/// What must be the same when a client comes back: who it is, for which agent and session it speaks, and what it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) who: Digest,
    pub(super) place: Digest,
    pub(super) what: Digest,
}

/// Requests that wait. While they do they go on: somebody else may answer, and time may be up.
pub(super) struct Waiting {
    seal: Seal,
    entries: Mutex<HashMap<WaitingId, Entry>>,
    /// Cancelled when nobody can come back any more.
    over: CancellationToken,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

struct Entry {
    bound: Bound,
    since: Instant,
    /// Whether an answer is waited for.
    asks: Arc<AtomicBool>,
    take: oneshot::Sender<oneshot::Sender<Taken>>,
}

/// A request that is not waiting any more.
pub(super) struct Taken {
    driven: Driven,
    /// What is still wanted of the client, and whether it was told.
    ask: Option<(Ask, Shown)>,
    /// How it ended meanwhile.
    done: Option<Answered>,
}

/// Whether a client was told what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
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
        // Somebody else may have answered meanwhile.
        let open = ask.filter(|(ask, _)| !ask.answers.is_closed());
        let Some((ask, shown)) = open else { return Resumed::GoesOn(driven) };
        // What is wanted now is not what the client was told, and so not what it brings.
        if shown == Shown::No {
            return Resumed::Again(driven, ask);
        }
        let wanted = ask.requests.keys().map(|name| {
            let answer = answers.get(name).filter(|answer| answer.is_object());
            answer.map(|answer| (name.clone(), answer.clone()))
        });
        match wanted.collect::<Option<Map<_, _>>>() {
            Some(answers) => {
                let _ = ask.answers.send(answers);
                Resumed::GoesOn(driven)
            }
            None => Resumed::Again(driven, ask),
        }
    }
}

impl Waiting {
    pub(super) fn new() -> Result<Self, ServerError> {
        let over = CancellationToken::new();
        Ok(Self { seal: Seal::new()?, entries: Mutex::default(), over })
    }

    /// When this is dropped, nothing waits any more.
    pub(super) fn until_dropped(&self) -> DropGuard {
        self.over.clone().drop_guard()
    }

    /// Lets a request wait until its client comes back, or its token works no more. Gives what the client is
    /// told; or the request back, if too many wait.
    pub(super) fn park(
        self: &Arc<Self>,
        (driven, ask): (Driven, Ask),
        (bound, held): (Bound, Option<Held>),
        (now, patience): (SystemTime, Duration),
    ) -> Result<Map<String, Value>, Driven> {
        let Ok((id, state)) = self.seal.make(now + patience + LATER) else { return Err(driven) };
        let requests = ask.requests.clone();
        let (take, taken) = oneshot::channel();
        let asks = Arc::new(AtomicBool::new(true));
        let entry = Entry { bound, since: Instant::now(), asks: asks.clone(), take };
        let Some(kept) = self.enter(id, entry) else { return Err(driven) };
        let over = self.over.clone();
        tokio::spawn(async move {
            let _kept = kept;
            let ended = async {
                match &held {
                    Some(held) => held.ended().await,
                    None => std::future::pending().await,
                }
            };
            // Time is up, or nobody can come back: what is not taken is dropped, and so stopped.
            tokio::select! {
                () = wait((driven, ask), (taken, &asks), patience) => {}
                () = ended => {}
                () = over.cancelled() => {}
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
    async fn take(&self, state: &str, bound: Bound, now: SystemTime) -> Result<Taken, RpcError> {
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
        taken(entry).await.ok_or_else(gone)
    }

    /// The request that waits for this one, if it is one that comes back; or one like it, if its client could not be
    /// asked about another.
    pub(super) async fn find(
        &self,
        said: &Described,
        bound: Bound,
        now: SystemTime,
        most: impl FnOnce() -> usize,
    ) -> Result<Option<Taken>, RpcError> {
        match &said.back {
            Some(back) => self.take(&back.state, bound, now).await.map(Some),
            None if !said.may_be_asked_again() => Ok(None),
            None => Ok(self.take_same(bound, most()).await),
        }
    }

    /// The oldest of the same requests that wait for an answer, if `most` are open in its session: its client has
    /// nothing to show any more, and would be refused another question.
    async fn take_same(&self, bound: Bound, most: usize) -> Option<Taken> {
        let entry = {
            let mut entries = self.entries();
            let asks = |entry: &Entry| entry.asks.load(Ordering::Relaxed);
            let place = |bound: &Bound| (bound.who, bound.place);
            let own = entries.iter();
            let own = own.filter(|(_, one)| place(&one.bound) == place(&bound) && asks(one));
            if own.clone().count() < most {
                return None;
            }
            let same = own.filter(|(_, entry)| entry.bound == bound);
            let oldest = *same.min_by_key(|(_, entry)| entry.since)?.0;
            entries.remove(&oldest)?
        };
        taken(entry).await
    }

    /// How many wait.
    pub(super) fn count(&self) -> usize {
        self.entries().len()
    }

    /// Notes a request until the guard is dropped; `None` if too many wait.
    fn enter(self: &Arc<Self>, id: WaitingId, entry: Entry) -> Option<Kept> {
        let mut entries = self.entries();
        let own = entries.values().filter(|other| other.bound.who == entry.bound.who).count();
        if entries.len() >= MOST || own >= MOST_OF_ONE {
            return None;
        }
        entries.insert(id, entry);
        Some(Kept { waiting: self.clone(), id })
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

/// What waits there, unless it has ended.
async fn taken(entry: Entry) -> Option<Taken> {
    let (give, given) = oneshot::channel();
    entry.take.send(give).ok()?;
    given.await.ok()
}

/// Goes on with a request until somebody takes it, or nobody has answered in time. What was answered elsewhere is
/// under way and has a time of its own.
async fn wait(
    (mut driven, ask): (Driven, Ask),
    (mut taken, asks): (oneshot::Receiver<oneshot::Sender<Taken>>, &AtomicBool),
    patience: Duration,
) {
    let (mut ask, mut done) = (Some((ask, Shown::Yes)), None);
    let mut until = Instant::now() + patience + GRACE;
    let give = loop {
        let open = ask.as_ref().is_some_and(|(ask, _)| !ask.answers.is_closed()) && done.is_none();
        asks.store(open, Ordering::Relaxed);
        tokio::select! {
            biased;
            give = &mut taken => break give,
            step = driven.step(), if done.is_none() => match step {
                Step::Done(answered) => {
                    done = Some(answered);
                    until = until.max(Instant::now() + KEPT);
                }
                Step::Out(Out::Ask(next)) => {
                    ask = Some((next, Shown::No));
                    until = Instant::now() + patience + GRACE;
                }
                // Nobody listens; and whether an answer is still wanted is looked at above.
                Step::Out(Out::Tell(_) | Out::Withdraw(_)) => {}
            },
            () = sleep_until(until), if open || done.is_some() => return,
        }
    };
    if let Ok(give) = give {
        let _ = give.send(Taken { driven, ask, done });
    }
}

#[cfg(test)]
mod tests;
