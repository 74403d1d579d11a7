//! Whoever is no longer let in has nothing going on either: sockets, requests, streams, calls, agents.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use store::{Db, StoreError};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tool::ItemId;

use crate::{auth::Signed, per_user::Counted, problem::in_full, state::State};

/// How often it is looked whether a token still works.
const LOOK: Duration = Duration::from_millis(200);
/// So long what goes on with a token that has just ended may take to say its last words: whoever revokes
/// their own is told that it is done.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The tokens that something goes on with.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tokens(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    held: HashMap<ItemId, Entry>,
    /// Whether one came that may have ended before it was here.
    is_new: bool,
}

#[derive(Debug)]
struct Entry {
    expires_at: Option<SystemTime>,
    ended: CancellationToken,
    holders: usize,
}

/// Something that goes on with a token, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    tokens: Tokens,
    id: ItemId,
    ended: CancellationToken,
    /// What counts as long as it goes on.
    counted: Option<Counted>,
}

impl Held {
    /// Counted while it goes on.
    pub(crate) fn with(self, counted: Option<Counted>) -> Self {
        let mut held = self;
        held.counted = counted;
        held
    }

    /// Returns when the token works no more.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// The same, a moment later.
    pub(crate) async fn over(&self) {
        self.ended().await;
        tokio::time::sleep(LAST_WORDS).await;
    }

    /// `body`, which breaks off when the token works no more.
    pub(crate) fn around(self, body: Body) -> Body {
        // All of it is there already.
        if body.size_hint().exact().is_some() {
            return body;
        }
        let ended = Box::pin(self.ended.clone().cancelled_owned());
        Body::new(Until { body, ended, _held: self })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut inner = self.tokens.lock();
        match inner.held.get_mut(&self.id) {
            Some(entry) if entry.holders > 1 => entry.holders -= 1,
            _ => drop(inner.held.remove(&self.id)),
        }
    }
}

impl Tokens {
    /// Notes that something goes on.
    pub(crate) fn hold(&self, signed: &Signed) -> Held {
        let mut inner = self.lock();
        let token = &signed.token;
        inner.is_new = true;
        let entry = inner.held.entry(token.id.clone()).or_insert_with(|| Entry {
            expires_at: token.new.expires_at,
            ended: CancellationToken::new(),
            holders: 0,
        });
        entry.holders += 1;
        let (id, ended) = (token.id.clone(), entry.ended.clone());
        Held { tokens: self.clone(), id, ended, counted: None }
    }

    /// Those that must be asked about, and whether there are new ones.
    fn to_look_at(&self, now: SystemTime) -> (Vec<ItemId>, bool) {
        let mut inner = self.lock();
        let is_new = std::mem::take(&mut inner.is_new);
        let late = |entry: &&Entry| entry.expires_at.is_some_and(|end| end <= now);
        inner.held.values().filter(late).for_each(|entry| entry.ended.cancel());
        (inner.held.keys().cloned().collect(), is_new)
    }

    /// Those that were new still are: nobody could tell whether they had ended.
    fn look_again(&self) {
        self.lock().is_new = true;
    }

    fn end(&self, id: &ItemId) {
        if let Some(entry) = self.lock().held.get(id) {
            entry.ended.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends what goes on for those who are no longer let in, whichever process said so. Never returns.
pub(crate) async fn watch(state: State) {
    let mut seen = None;
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        look.tick().await;
        if let Err(error) = look_once(&state, &mut seen).await {
            // Whoever comes anew is refused, too, if the store does not answer.
            tracing::error!(error = in_full(&error), "whether tokens still work is not known");
        }
    }
}

async fn look_once(state: &State, seen: &mut Option<i64>) -> Result<(), StoreError> {
    let Ok(db) = state.gate.db().await else { return Ok(()) };
    let (held, is_new) = state.held.to_look_at(state.now());
    let looked = look_at(state, db, (&held, is_new), seen).await;
    if looked.is_err() && is_new {
        state.held.look_again();
    }
    looked
}

async fn look_at(
    state: &State,
    db: &Db,
    (held, is_new): (&[ItemId], bool),
    seen: &mut Option<i64>,
) -> Result<(), StoreError> {
    // Of before the look: a change meanwhile is noticed the next time.
    let version = db.version()?;
    let changed = *seen != Some(version);
    if !changed && !is_new {
        return Ok(());
    }
    for id in db.ended_tokens(held, state.now()).await? {
        state.held.end(&id);
    }
    if changed {
        for user in db.removed_users().await? {
            end_all_of(state, &user);
        }
    }
    *seen = Some(version);
    Ok(())
}

/// Ends whatever goes on for a user. Says how many calls were cancelled.
pub(crate) fn end_all_of(state: &State, user: &str) -> usize {
    state.agents.stop_all_of(user);
    state.runner.halt_all_of(user);
    state.events.running.cancel_all_of(user)
}

/// A body that breaks off when a token works no more.
struct Until {
    body: Body,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    _held: Held,
}

impl HttpBody for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // First, so that a stream which always has more ends, too.
        if self.ended.as_mut().poll(cx).is_pending() {
            return Pin::new(&mut self.body).poll_frame(cx);
        }
        // What stands behind it ends with it.
        self.body = Body::empty();
        Poll::Ready(Some(Err(axum::Error::new("the token works no more"))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ones_are_looked_at_again_after_a_failure() {
        let tokens = Tokens::default();
        let is_new = || tokens.to_look_at(SystemTime::UNIX_EPOCH).1;
        assert!(!is_new());
        tokens.look_again();
        assert!(is_new());
        assert!(!is_new());
    }
}
