//! Connections that can be used again.

use std::{
    collections::HashMap,
    fmt,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;

/// A connection that can take a request.
pub(super) type Sender = SendRequest<Full<Bytes>>;

/// What a connection may be used for: an origin, at the address that was checked. A name that
/// has moved does not find the connection to its old address.
pub(super) type Key = (String, SocketAddr);

const MOST_PER_KEY: usize = 4;
const MOST: usize = 64;
/// Shorter than the time after which servers usually close.
const IDLE: Duration = Duration::from_secs(15);

/// Connections that wait for another request.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<Key, Vec<Idle>>>);

struct Idle {
    sender: Sender,
    since: Instant,
}

impl Pool {
    /// A connection to `origin` at one of `addresses`.
    pub(super) fn take(&self, origin: &str, addresses: &[SocketAddr]) -> Option<(Key, Sender)> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tidy(&mut idle);
        addresses.iter().find_map(|address| {
            let key = (origin.to_owned(), *address);
            let sender = idle.get_mut(&key)?.pop()?.sender;
            Some((key, sender))
        })
    }

    /// Keeps a connection, unless there are enough.
    pub(super) fn put(&self, key: Key, sender: Sender) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tidy(&mut idle);
        if idle.values().map(Vec::len).sum::<usize>() >= MOST {
            return;
        }
        let same = idle.entry(key).or_default();
        if same.len() < MOST_PER_KEY {
            same.push(Idle { sender, since: Instant::now() });
        }
    }
}

fn tidy(idle: &mut HashMap<Key, Vec<Idle>>) {
    idle.retain(|_, list| {
        list.retain(|idle| idle.since.elapsed() < IDLE && !idle.sender.is_closed());
        !list.is_empty()
    });
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pool")
    }
}
