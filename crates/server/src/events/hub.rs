//! Keeps what happened last, and passes on what happens.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::SystemTime,
};

use serde_json::json;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::{Events, said::Said};
use crate::auth::Sees;

/// So many events are kept for those who come back,
const MOST_KEPT: usize = 4_096;
/// and so much of them.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Where the events of one connection wait to be sent.
pub(crate) type Queue = mpsc::Sender<Arc<Event>>;

/// Something that happened.
#[derive(Debug)]
pub(crate) struct Event {
    /// Later ones have greater ids, also after a restart.
    pub(crate) id: u64,
    pub(crate) kind: &'static str,
    pub(crate) who: Who,
    pub(crate) about: About,
    at: SystemTime,
    said: Said,
    size: usize,
    text: OnceLock<Utf8Bytes>,
}

impl Event {
    /// The notification, written down once for all who are told.
    pub(crate) fn text(&self) -> Utf8Bytes {
        let written = self.text.get_or_init(|| {
            let params = self.said.params(self.id, self.at);
            json!({"jsonrpc": "2.0", "method": self.kind, "params": params}).to_string().into()
        });
        written.clone()
    }

    /// Whether it is sent to one connection, whoever else may see what it is about.
    pub(crate) fn is_for_one(&self) -> bool {
        self.who.user.is_empty()
    }
}

/// Whose event it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) user: Arc<str>,
    pub(crate) agent: Arc<str>,
}

/// Whom an event concerns besides its user.
#[derive(Debug, Clone)]
pub(crate) enum About {
    /// Nobody else.
    Call,
    /// Whoever may answer.
    Question(Arc<Asked>),
    /// Whoever could have: what became of it.
    Answer(Arc<Asked>),
}

/// A question, for those who come later.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The event that tells of it.
    event: AtomicU64,
    over: AtomicBool,
}

impl Asked {
    /// Nobody can answer it any more.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// Whether somebody may answer questions of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    Own,
    All,
}

/// What somebody is told of, as it was when they subscribed.
#[derive(Debug)]
pub(crate) struct Hears {
    pub(crate) sees: Sees,
    /// Those who only see their own must not lose it among questions of others.
    pub(crate) answers: Answers,
}

impl Hears {
    /// Whether they are told: of their own, and a person who may answer also of questions.
    fn of(&self, event: &Event) -> bool {
        let Self { sees, answers } = self;
        let is_asked = match event.about {
            About::Call => false,
            About::Question(_) | About::Answer(_) => {
                *answers == Answers::All && sees.agents().is_none()
            }
        };
        is_asked || self.is_own(event)
    }

    /// Whether they are told later, if they know what happened until `since`: of questions of others only while
    /// those are open, and what became of them only if they know them.
    fn of_past(&self, event: &Event, since: u64) -> bool {
        let matters = match &event.about {
            About::Call => true,
            About::Question(asked) => !asked.over.load(Ordering::Relaxed),
            About::Answer(asked) => asked.event.load(Ordering::Relaxed) <= since,
        };
        self.of(event) && (matters || self.is_own(event))
    }

    fn is_own(&self, event: &Event) -> bool {
        self.sees.covers(&event.who.user, &event.who.agent)
    }
}

/// What a client has seen already, and what it wants.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The last event it knows; without one, only what happens from now on is sent.
    pub(crate) since: Option<u64>,
    /// Only events of these kinds; without a list, of all.
    pub(crate) kinds: Option<Vec<String>>,
}

impl Seen {
    fn wants(&self, kind: &str) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.iter().any(|wanted| wanted == kind))
    }
}

/// What happened last, and who is told what happens.
#[derive(Debug)]
pub(super) struct Hub {
    inner: Mutex<Inner>,
    /// Whether anybody has ever been told.
    watched: AtomicBool,
}

#[derive(Debug)]
struct Inner {
    last: u64,
    /// The id before the oldest event that is kept.
    before: u64,
    kept: VecDeque<Arc<Event>>,
    bytes: usize,
    readers: u64,
    everything: BTreeMap<u64, Reader>,
    /// By user, so that an event costs as much as it has readers.
    users: BTreeMap<(Arc<str>, u64), Reader>,
}

#[derive(Debug)]
struct Reader {
    hears: Hears,
    seen: Seen,
    queue: Queue,
}

impl Reader {
    /// Whether it goes on reading; one that cannot keep up does not.
    fn take(&self, event: &Arc<Event>) -> bool {
        let wanted = self.hears.of(event) && self.seen.wants(event.kind);
        !wanted || self.queue.try_send(event.clone()).is_ok()
    }
}

impl Hub {
    /// The first id comes from the clock, so that ids grow also when the server starts again.
    pub(super) fn new(now: SystemTime) -> Self {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let last = u64::try_from(since.as_micros()).unwrap_or_default();
        let inner = Inner {
            last,
            before: last,
            kept: VecDeque::new(),
            bytes: 0,
            readers: 0,
            everything: BTreeMap::new(),
            users: BTreeMap::new(),
        };
        Self { inner: Mutex::new(inner), watched: AtomicBool::new(false) }
    }

    /// Whether anybody has ever been told of anything. Until then nobody can come back who wants to know what they
    /// missed.
    pub(super) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// Keeps an event and tells whoever sees it.
    pub(super) fn publish(
        &self,
        kind: &'static str,
        (who, about): (Who, About),
        (said, at): (Said, SystemTime),
    ) {
        let size = said.size();
        // All in one: whoever subscribes meanwhile gets it once, and ids grow in every queue.
        let mut inner = self.lock();
        let user = who.user.clone();
        let event = inner.event(kind, (who, about), (said, at, size));
        inner.keep(event.clone());
        inner.everything.retain(|_, reader| reader.take(&event));
        match &event.about {
            About::Question(_) | About::Answer(_) => {
                inner.users.retain(|_, reader| reader.take(&event));
            }
            About::Call => {
                let own = (user.clone(), 0)..=(user, u64::MAX);
                let slow = inner.users.range(own).filter(|(_, reader)| !reader.take(&event));
                let slow: Vec<_> = slow.map(|(key, _)| key.clone()).collect();
                for key in slow {
                    inner.users.remove(&key);
                }
            }
        }
    }

    /// Sends an event to one queue and keeps nothing. Waits for room.
    pub(super) async fn send(
        &self,
        to: &Queue,
        kind: &'static str,
        (said, at): (Said, SystemTime),
    ) {
        let Ok(room) = to.reserve().await else { return };
        let mut inner = self.lock();
        let nobody = Who { user: "".into(), agent: "".into() };
        let event = inner.event(kind, (nobody, About::Call), (said, at, 0));
        room.send(event);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn event(
        &mut self,
        kind: &'static str,
        (who, about): (Who, About),
        (said, at, size): (Said, SystemTime, usize),
    ) -> Arc<Event> {
        self.last += 1;
        if let About::Question(asked) = &about {
            asked.event.store(self.last, Ordering::Relaxed);
        }
        let text = OnceLock::new();
        Arc::new(Event { id: self.last, kind, who, about, at, said, size, text })
    }

    fn keep(&mut self, event: Arc<Event>) {
        self.bytes += event.size;
        self.kept.push_back(event);
        while self.kept.len() > MOST_KEPT || self.bytes > MOST_BYTES {
            let Some(oldest) = self.kept.pop_front() else { return };
            self.bytes -= oldest.size;
            self.before = oldest.id;
        }
    }
}

/// Tells a connection what happens, until it is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    events: Arc<Events>,
    reader: u64,
    /// Whose place it has among the readers: a user's, or of those who see everything.
    user: Option<Arc<str>>,
    /// What happened since the client looked last, oldest first.
    pub(crate) missed: Vec<Arc<Event>>,
    /// Whether something that happened since is not known any more.
    pub(crate) lost: bool,
    /// The id of the last event.
    pub(crate) last: u64,
}

impl Subscription {
    pub(super) fn new(events: Arc<Events>, hears: Hears, queue: Queue, seen: Seen) -> Self {
        let mut inner = events.hub.lock();
        events.hub.watched.store(true, Ordering::Relaxed);
        let (last, since) = (inner.last, seen.since.unwrap_or(inner.last));
        // An id from the future was given by another server, or before the clock was set back.
        let lost = since < inner.before || since > last;
        let since = if lost { 0 } else { since };
        let new = inner.kept.iter().filter(|event| event.id > since);
        let missed = new.filter(|event| hears.of_past(event, since) && seen.wants(event.kind));
        let missed = missed.cloned().collect();
        inner.readers += 1;
        let user = match &hears.sees {
            Sees::Everything => None,
            Sees::Of { user, .. } => Some(user.clone()),
        };
        let (number, reader) = (inner.readers, Reader { hears, seen, queue });
        match &user {
            None => inner.everything.insert(number, reader),
            Some(user) => inner.users.insert((user.clone(), number), reader),
        };
        drop(inner);
        Self { events, reader: number, user, missed, lost, last }
    }

    /// Whether it is still told; a connection that cannot keep up is not.
    pub(crate) fn is_told(&self) -> bool {
        let inner = self.events.hub.lock();
        match &self.user {
            None => inner.everything.contains_key(&self.reader),
            Some(user) => inner.users.contains_key(&(user.clone(), self.reader)),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut inner = self.events.hub.lock();
        match &self.user {
            None => drop(inner.everything.remove(&self.reader)),
            Some(user) => drop(inner.users.remove(&(user.clone(), self.reader))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(hub: &Hub, user: &str, about: About, bytes: usize) {
        let params = super::super::fields(json!({"text": "x".repeat(bytes)}));
        let who = Who { user: user.into(), agent: "main".into() };
        hub.publish("call.started", (who, about), (Said::Fields(params), SystemTime::UNIX_EPOCH));
    }

    #[test]
    fn what_is_kept_is_bounded_in_number_and_size() {
        let hub = Hub::new(SystemTime::UNIX_EPOCH);
        for _ in 0..MOST_KEPT + 10 {
            publish(&hub, "ada", About::Call, 1);
        }
        let count = |hub: &Hub| {
            let inner = hub.lock();
            (inner.kept.len(), inner.before)
        };
        assert_eq!(count(&hub), (MOST_KEPT, 10));
        for _ in 0..40 {
            publish(&hub, "ada", About::Call, 1024 * 1024);
        }
        assert!(hub.lock().bytes <= MOST_BYTES);
        assert!(hub.lock().kept.len() < 40);
    }

    #[test]
    fn ids_grow_from_one_start_to_the_next() {
        let first = Hub::new(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1));
        for _ in 0..100 {
            publish(&first, "ada", About::Call, 1);
        }
        let second = Hub::new(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(2));
        assert!(second.lock().last > first.lock().last);
    }

    #[test]
    fn questions_wait_only_for_those_who_may_answer_them() {
        let hub = Hub::new(SystemTime::UNIX_EPOCH);
        let of_main = || Some(vec!["main".to_owned()]);
        let mut queues = Vec::new();
        for (number, agents, answers, expected) in [
            (1, None, Answers::Own, 1),
            (2, None, Answers::All, 2),
            (3, of_main(), Answers::Own, 1),
            (4, of_main(), Answers::All, 1),
        ] {
            let (queue, waiting) = mpsc::channel(5);
            let hears = Hears { sees: Sees::Of { user: "ada".into(), agents }, answers };
            let reader = Reader { hears, seen: Seen::default(), queue };
            hub.lock().users.insert(("ada".into(), number), reader);
            queues.push((number, waiting, expected));
        }
        publish(&hub, "ada", About::Question(Arc::default()), 1);
        publish(&hub, "bob", About::Question(Arc::default()), 1);
        publish(&hub, "bob", About::Call, 1);
        for (number, waiting, expected) in queues {
            assert_eq!(waiting.len(), expected, "{number}");
        }
    }
}
