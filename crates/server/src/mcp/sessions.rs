//! Sessions, of the revisions that have them.

use std::{
    collections::{HashMap, hash_map},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tool::Digest;

use super::{pending::Pending, request::ClientInfo, revision::Revision};

/// As many bytes of chance are in the id of a session.
const BYTES: usize = 24;

/// A session: what its client said at its beginning, and what is under way.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) revision: Revision,
    pub(super) client: Arc<ClientInfo>,
    pub(super) pending: Pending,
    /// Cancelled when it is over.
    pub(super) over: CancellationToken,
    /// The token it was begun with, which is the only one that goes on with it.
    token: Digest,
    user: String,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    used: Instant,
    log_level: Option<String>,
    requests: HashMap<String, CancellationToken>,
    /// Stops the stream that is open.
    stream: Option<CancellationToken>,
}

impl Session {
    pub(super) fn log_level(&self) -> Option<String> {
        self.inner().log_level.clone()
    }

    pub(super) fn set_log_level(&self, level: &str) {
        self.inner().log_level = Some(level.to_owned());
    }

    /// Notes a request that is under way, until the guard is dropped; `None` if one with this id is.
    pub(super) fn note(self: &Arc<Self>, id: &Value, cancel: &CancellationToken) -> Option<Noted> {
        let id = id.to_string();
        match self.inner().requests.entry(id.clone()) {
            hash_map::Entry::Occupied(_) => return None,
            hash_map::Entry::Vacant(free) => drop(free.insert(cancel.clone())),
        }
        Some(Noted { session: self.clone(), id })
    }

    /// Stops a request that is under way.
    pub(super) fn cancel(&self, id: &Value) {
        if let Some(cancel) = self.inner().requests.get(&id.to_string()) {
            cancel.cancel();
        }
    }

    /// Begins its stream; one that was open before is over.
    pub(super) fn stream(&self) -> CancellationToken {
        let stream = self.over.child_token();
        if let Some(before) = self.inner().stream.replace(stream.clone()) {
            before.cancel();
        }
        stream
    }

    fn is_idle(&self, now: Instant, patience: Duration) -> bool {
        let inner = self.inner();
        let streams = inner.stream.as_ref().is_some_and(|stream| !stream.is_cancelled());
        inner.requests.is_empty() && !streams && now.duration_since(inner.used) >= patience
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While this is there, a request of a session can be cancelled.
#[derive(Debug)]
pub(super) struct Noted {
    session: Arc<Session>,
    id: String,
}

impl Drop for Noted {
    fn drop(&mut self) {
        let mut inner = self.session.inner();
        inner.requests.remove(&self.id);
        inner.used = Instant::now();
    }
}

/// How many sessions there may be, and how long one that nobody uses is kept if there are many.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) all: NonZeroUsize,
    pub(super) per_user: NonZeroUsize,
    pub(super) idle: Duration,
}

/// The sessions there are.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Begins one; `None` if there are too many.
    pub(super) fn begin(
        &self,
        (token, user): (Digest, &str),
        (revision, client): (Revision, ClientInfo),
        most: Most,
    ) -> Option<Arc<Session>> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).ok()?;
        let session = Arc::new(Session {
            id: URL_SAFE_NO_PAD.encode(bytes),
            revision,
            client: Arc::new(client),
            pending: Pending::default(),
            over: CancellationToken::new(),
            token,
            user: user.to_owned(),
            inner: Mutex::new(Inner {
                used: Instant::now(),
                log_level: None,
                requests: HashMap::new(),
                stream: None,
            }),
        });
        let mut sessions = self.lock();
        make_room(&mut sessions, user, most)?;
        sessions.insert(session.id.clone(), session.clone());
        Some(session)
    }

    /// The session with this id, for whoever began it.
    pub(super) fn find(&self, id: &str, token: &Digest) -> Option<Arc<Session>> {
        let session = self.lock().get(id).filter(|session| session.token == *token).cloned()?;
        session.inner().used = Instant::now();
        Some(session)
    }

    /// Ends a session; says whether there was one.
    pub(super) fn end(&self, id: &str, token: &Digest) -> bool {
        let mut sessions = self.lock();
        if sessions.get(id).is_none_or(|session| session.token != *token) {
            return false;
        }
        sessions.remove(id).is_some_and(|session| {
            session.over.cancel();
            true
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends what nobody has used for long; then, for a user who has too many, the one they have not used for
/// longest. Clients begin a new one when theirs is gone.
fn make_room(sessions: &mut HashMap<String, Arc<Session>>, user: &str, most: Most) -> Option<()> {
    let now = Instant::now();
    let own = sessions.values().filter(|session| session.user == user);
    if own.clone().count() >= most.per_user.get() {
        let unused = own.filter(|session| session.is_idle(now, Duration::ZERO));
        let oldest = unused.min_by_key(|session| session.inner().used)?.id.clone();
        drop(sessions.remove(&oldest).inspect(|session| session.over.cancel()));
    }
    if sessions.len() >= most.all.get() {
        sessions.retain(|_, session| {
            let stays = !session.is_idle(now, most.idle);
            if !stays {
                session.over.cancel();
            }
            stays
        });
    }
    (sessions.len() < most.all.get()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(all: usize, per_user: usize, idle: Duration) -> Most {
        let [all, per_user] = [all, per_user].map(|count| NonZeroUsize::new(count).unwrap());
        Most { all, per_user, idle }
    }

    fn begin(sessions: &Sessions, user: &str, most: Most) -> Option<Arc<Session>> {
        let client = ClientInfo::default();
        sessions.begin((Digest::of(user), user), (Revision::V2025_11_25, client), most)
    }

    /// Advisory mcp-009.
    #[test]
    fn a_session_is_random_and_belongs_to_the_token_that_began_it() {
        let (sessions, most) = (Sessions::default(), most(10, 10, Duration::ZERO));
        let one = begin(&sessions, "ada", most).unwrap();
        let other = begin(&sessions, "ada", most).unwrap();
        assert_ne!(one.id, other.id);
        assert_eq!(URL_SAFE_NO_PAD.decode(&one.id).unwrap().len() * 8, 192);
        assert!(sessions.find(&one.id, &Digest::of("ada")).is_some());
        assert!(sessions.find(&one.id, &Digest::of("bob")).is_none());
        assert!(!sessions.end(&one.id, &Digest::of("bob")));
        assert!(sessions.end(&one.id, &Digest::of("ada")));
        assert!(sessions.find(&one.id, &Digest::of("ada")).is_none());
        assert!(one.over.is_cancelled());
    }

    #[test]
    fn a_user_who_begins_many_loses_their_oldest_and_nobody_elses() {
        let (sessions, most) = (Sessions::default(), most(10, 2, Duration::from_mins(5)));
        let bobs = begin(&sessions, "bob", most).unwrap();
        let ours: Vec<_> = (0..5).map(|_| begin(&sessions, "ada", most).unwrap()).collect();
        assert_eq!(sessions.count(), 3);
        assert!(ours[2].over.is_cancelled() && !ours[3].over.is_cancelled());
        assert!(!bobs.over.is_cancelled());
        // One that is being used stays.
        let noted =
            [&ours[3], &ours[4]].map(|s| s.note(&1.into(), &CancellationToken::new()).unwrap());
        assert!(ours[3].note(&1.into(), &CancellationToken::new()).is_none());
        assert!(begin(&sessions, "ada", most).is_none());
        drop(noted);
        assert!(begin(&sessions, "ada", most).is_some());
    }

    #[test]
    fn when_there_are_many_those_that_nobody_uses_go() {
        let sessions = Sessions::default();
        let kept = most(2, 2, Duration::from_mins(5));
        begin(&sessions, "ada", kept).unwrap();
        begin(&sessions, "bob", kept).unwrap();
        assert!(begin(&sessions, "cid", kept).is_none());
        assert!(begin(&sessions, "cid", most(2, 2, Duration::ZERO)).is_some());
        assert_eq!(sessions.count(), 1);
    }
}
