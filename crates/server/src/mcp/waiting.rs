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
    let (mut ask, mut done) = (Some((ask, Shown::Yes)), None);
    let give = loop {
        tokio::select! {
            biased;
            give = &mut taken => break give,
            step = driven.step(), if done.is_none() => match step {
                Step::Done(answered) => done = Some(answered),
                Step::Out(Out::Ask(next)) => ask = Some((next, Shown::No)),
                // Nobody listens.
                Step::Out(Out::Tell(_)) => {}
            },
        }
    };
    if let Ok(give) = give {
        let _ = give.send(Taken { driven, ask, done });
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::Notify, task::yield_now};
    use tokio_util::sync::CancellationToken;

    use super::{
        super::{
            client::{Client, ProgressToken},
            driven::Reins,
        },
        *,
    };

    fn form(text: &str) -> Map<String, Value> {
        crate::events::fields(json!({"approval": {"method": "elicitation/create", "params": text}}))
    }

    #[tokio::test]
    async fn what_a_client_was_not_shown_it_does_not_answer() {
        let waiting = Arc::new(Waiting::new().unwrap());
        let (client, outs) = Client::new(Arc::default());
        let elsewhere = Arc::new(Notify::new());
        let answered_elsewhere = elsewhere.clone();
        let work = async move {
            tokio::select! {
                _ = client.ask(form("the first question")) => {}
                () = answered_elsewhere.notified() => {}
            }
            let answers = client.ask(form("the second question")).await;
            Ok(crate::events::fields(json!({"answers": answers})))
        };
        let cancel = CancellationToken::new();
        let reins = Reins { cancel, progress_token: ProgressToken::new(None) };
        let mut driven = Driven::new(work, outs, reins);
        let Step::Out(Out::Ask(ask)) = driven.step().await else { panic!("it asks") };
        let bound = Bound { who: Digest::of("who"), what: Digest::of("what") };
        let now = SystemTime::UNIX_EPOCH;
        let time = (now, Duration::from_mins(1));
        let told = waiting.park((driven, ask), (bound, None), time).ok().unwrap();
        elsewhere.notify_one();
        for _ in 0..50 {
            yield_now().await;
        }
        let state = told["requestState"].as_str().unwrap().to_owned();
        let answers = form("yes");
        let taken = waiting.take(&state, bound, now).await.ok().unwrap();
        let back = Back { state, answers: answers.clone(), progress_token: None };
        let Resumed::Again(driven, ask) = taken.resume(back) else { panic!("it asks again") };
        assert_eq!(ask.requests, form("the second question"));
        let told = waiting.park((driven, ask), (bound, None), time).ok().unwrap();
        let state = told["requestState"].as_str().unwrap().to_owned();
        let taken = waiting.take(&state, bound, now).await.ok().unwrap();
        let back = Back { state, answers, progress_token: None };
        let Resumed::GoesOn(mut driven) = taken.resume(back) else { panic!("it goes on") };
        let Step::Done(Ok(done)) = driven.step().await else { panic!("it is done") };
        assert_eq!(done["answers"], Value::Object(form("yes")));
    }
}
