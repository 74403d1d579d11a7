//! How many connections there are, and from whom.

use std::{
    collections::HashMap,
    net::IpAddr,
    num::NonZeroUsize,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::auth::network;

/// The connections that are open.
#[derive(Debug, Default)]
pub(crate) struct Connections(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    plain: AtomicUsize,
    ws: AtomicUsize,
    /// By network: one customer has a whole one of IPv6.
    peers: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection that is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: Arc<Counts>,
    kind: Kind,
    peer: IpAddr,
}

/// What a connection is used for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// One request after the other.
    Plain,
    /// A WebSocket, for hours and mostly silent.
    Ws,
}

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    pub(crate) all: NonZeroUsize,
    pub(crate) per_peer: NonZeroUsize,
}

impl Connections {
    /// Counts one more, if there may be one.
    pub(crate) fn admit(&self, peer: IpAddr, kind: Kind, most: Most) -> Option<Counted> {
        // What is on this machine already has better ways to be in the way.
        let local = peer.to_canonical().is_loopback();
        let (peer, counts) = (network(peer), &self.0);
        if counts.of(kind).fetch_add(1, Ordering::Relaxed) >= most.all.get() {
            counts.of(kind).fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // Made now: from here on dropping it counts back.
        let counted = Counted { counts: counts.clone(), kind, peer };
        let own = {
            let mut peers = counts.peers();
            let own = peers.entry(peer).or_default();
            *own += 1;
            *own
        };
        (local || own <= most.per_peer.get()).then_some(counted)
    }

    /// How many there are.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.0.of(kind).load(Ordering::Relaxed)
    }
}

impl Counts {
    const fn of(&self, kind: Kind) -> &AtomicUsize {
        match kind {
            Kind::Plain => &self.plain,
            Kind::Ws => &self.ws,
        }
    }

    fn peers(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counts.of(self.kind).fetch_sub(1, Ordering::Relaxed);
        let mut peers = self.counts.peers();
        match peers.get_mut(&self.peer) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(peers.remove(&self.peer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_bounded_in_all_and_per_peer() {
        let connections = Connections::default();
        let two = NonZeroUsize::new(2).unwrap();
        let most = Most { all: NonZeroUsize::new(4).unwrap(), per_peer: two };
        let admit = |peer: &str| connections.admit(peer.parse().unwrap(), Kind::Plain, most);
        let one = admit("192.0.2.1").unwrap();
        let _two = admit("192.0.2.1").unwrap();
        assert!(admit("192.0.2.1").is_none());
        let _local: Vec<_> = [admit("127.0.0.1"), admit("127.0.0.1")].map(Option::unwrap).into();
        assert!(admit("192.0.2.2").is_none());
        drop(one);
        assert!(admit("192.0.2.1").is_some());
        assert_eq!(connections.count(Kind::Plain), 3);
        assert_eq!(connections.0.peers().len(), 2);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_peer_and_this_machine_as_none() {
        let connections = Connections::default();
        let most = Most { all: NonZeroUsize::MAX, per_peer: NonZeroUsize::MIN };
        let admit = |peer: &str| connections.admit(peer.parse().unwrap(), Kind::Plain, most);
        let _first = admit("2001:db8::1").unwrap();
        assert!(admit("2001:db8::2").is_none());
        assert!(admit("2001:db8:0:1::1").is_some());
        let _local = [admit("::1"), admit("::1"), admit("::ffff:127.0.0.1")].map(Option::unwrap);
    }
}
