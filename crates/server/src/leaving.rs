//! Whoever is no longer let in has nothing going on either: sockets, requests, streams, calls, agents.

use std::{
    collections::{HashMap, HashSet},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use store::{Db, StoreError};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::{
    sync::{CancellationToken, WaitForCancellationFutureOwned},
    task::AbortOnDropHandle,
};
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

    /// Is cancelled when the token works no more.
    pub(crate) fn end(&self) -> CancellationToken {
        self.ended.clone()
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
        let ended = Box::pin(self.end().cancelled_owned());
        let body = Arc::new(Mutex::new(Some(body)));
        let (slot, end) = (Arc::downgrade(&body), self.end());
        let emptied = AbortOnDropHandle::new(tokio::spawn(async move {
            end.cancelled().await;
            // What stands behind it ends with it, also if the client reads nothing: nobody asks for more of
            // a body then.
            slot.upgrade().inspect(|slot| drop(taken(slot)));
        }));
        Body::new(Until { body, ended, _emptied: emptied, _held: self })
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

/// What was seen at the last look.
#[derive(Debug, Default)]
struct Seen {
    /// The version of the database.
    version: Option<i64>,
    /// Those who had been removed. What went on for them was ended then; what is done about what they left
    /// is done by others.
    removed: HashSet<String>,
}

impl Seen {
    /// Those of `removed` who were not among them before. One who came back meanwhile counts anew.
    fn news(&mut self, removed: Vec<String>) -> Vec<String> {
        let before = std::mem::replace(&mut self.removed, removed.iter().cloned().collect());
        removed.into_iter().filter(|user| !before.contains(user)).collect()
    }
}

/// Ends what goes on for those who are no longer let in, whichever process said so. Never returns.
pub(crate) async fn watch(state: State) {
    let mut seen = Seen::default();
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

async fn look_once(state: &State, seen: &mut Seen) -> Result<(), StoreError> {
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
    seen: &mut Seen,
) -> Result<(), StoreError> {
    // Of before the look: a change meanwhile is noticed the next time.
    let version = db.version()?;
    let changed = seen.version != Some(version);
    if !changed && !is_new {
        return Ok(());
    }
    for id in db.ended_tokens(held, state.now()).await? {
        state.held.end(&id);
    }
    if changed {
        for user in seen.news(db.removed_users().await?) {
            end_all_of(state, &user);
        }
    }
    seen.version = Some(version);
    Ok(())
}

/// Ends whatever goes on for a user. Says how many calls were cancelled.
pub(crate) fn end_all_of(state: &State, user: &str) -> usize {
    // In the order in which they set each other to work.
    state.agents.stop_all_of(user);
    let calls = state.events.running.cancel_all_of(user);
    state.runner.halt_all_of(user);
    calls
}

/// A body that breaks off when a token works no more.
struct Until {
    /// Nothing once it has broken off.
    body: Arc<Mutex<Option<Body>>>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    _emptied: AbortOnDropHandle<()>,
    _held: Held,
}

fn lock(body: &Mutex<Option<Body>>) -> MutexGuard<'_, Option<Body>> {
    body.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the body out. It is dropped by whoever gets it, when nobody is kept from looking.
fn taken(body: &Mutex<Option<Body>>) -> Option<Body> {
    lock(body).take()
}

impl HttpBody for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // First, so that a stream which always has more ends, too.
        if self.ended.as_mut().poll(cx).is_pending()
            && let Some(body) = lock(&self.body).as_mut()
        {
            return Pin::new(body).poll_frame(cx);
        }
        drop(taken(&self.body));
        Poll::Ready(Some(Err(axum::Error::new("the token works no more"))))
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.body).as_ref().is_some_and(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        lock(&self.body).as_ref().map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::error::TryRecvError;

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

    #[test]
    fn somebody_who_was_removed_is_new_once_and_again_after_coming_back() {
        let mut seen = Seen::default();
        let mut news =
            |removed: &[&str]| seen.news(removed.iter().map(|&user| user.into()).collect());
        assert_eq!(news(&["ada"]), ["ada"]);
        assert_eq!(news(&["ada", "bob"]), ["bob"]);
        assert_eq!(news(&["bob"]), [""; 0]);
        assert_eq!(news(&["ada", "bob"]), ["ada"]);
        assert_eq!(seen.removed.len(), 2);
    }

    /// Also when nobody asks for more of it, as for a client that does not read.
    #[tokio::test]
    async fn a_body_is_dropped_with_its_token_and_with_its_client() {
        let held = |ended: &CancellationToken| {
            let (tokens, id) = (Tokens::default(), ItemId::random());
            Held { tokens, id, ended: ended.clone(), counted: None }
        };
        for by in ["token", "client"] {
            let (alive, mut dropped) = tokio::sync::mpsc::channel::<()>(1);
            let stream = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
            let stream = futures_util::StreamExt::inspect(stream, move |_| drop(alive.clone()));
            let ended = CancellationToken::new();
            let body = held(&ended).around(Body::from_stream(stream));
            assert!(dropped.try_recv().is_err_and(|error| error != TryRecvError::Disconnected));
            let kept = if by == "token" {
                ended.cancel();
                Some(body)
            } else {
                drop(body);
                None
            };
            let dropped = tokio::time::timeout(Duration::from_mins(1), dropped.recv()).await;
            assert_eq!(dropped, Ok(None), "{by}");
            drop(kept);
        }
    }
}
