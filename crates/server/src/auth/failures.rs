//! Who came with a wrong token too often.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::{Semaphore, SemaphorePermit};

/// So many wrong ones from one address,
const MOST: u32 = 20;
/// within this time, and it has to wait as long.
const TIME: Duration = Duration::from_mins(1);
/// So many addresses are remembered.
const MOST_PEERS: usize = 4_096;

/// Wrong tokens by the address they came from: the one of the socket, never one that a header names.
#[derive(Debug)]
pub(crate) struct Failures {
    peers: Mutex<HashMap<IpAddr, Failed>>,
    /// For the one that is looked up although its address has to wait.
    turn: Semaphore,
}

impl Default for Failures {
    fn default() -> Self {
        Self { peers: Mutex::default(), turn: Semaphore::new(1) }
    }
}

#[derive(Debug, Clone, Copy)]
struct Failed {
    count: u32,
    since: Instant,
}

impl Failures {
    /// How long `peer` has to wait, if it has to.
    pub(crate) fn wait(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let peers = self.lock();
        let failed = peers.get(&network(peer))?;
        let wait = TIME.checked_sub(now.saturating_duration_since(failed.since))?;
        (failed.count >= MOST && !wait.is_zero()).then_some(wait)
    }

    /// Counts one more.
    pub(crate) fn count(&self, peer: IpAddr, now: Instant) {
        let mut peers = self.lock();
        if peers.len() >= MOST_PEERS {
            peers.retain(|_, failed| now.saturating_duration_since(failed.since) < TIME);
        }
        // Who has so many addresses gets no slower by being remembered.
        if peers.len() >= MOST_PEERS {
            peers.clear();
        }
        let failed = peers.entry(network(peer)).or_insert(Failed { count: 0, since: now });
        if now.saturating_duration_since(failed.since) >= TIME {
            *failed = Failed { count: 0, since: now };
        }
        failed.count += 1;
        if failed.count == MOST {
            // The wait begins now, however long ago the first one was.
            failed.since = now;
        }
    }

    /// The turn of one whose address has to wait; the next one's comes when it is dropped.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turn.acquire().await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Failed>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One customer has a whole IPv6 network.
pub(crate) fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_waits_after_many_failures_and_nobody_else_does() {
        let (failures, now) = (Failures::default(), Instant::now());
        let [bad, good] = ["2001:db8::1", "192.0.2.7"].map(|text| text.parse().unwrap());
        for _ in 0..MOST {
            assert_eq!(failures.wait(bad, now), None);
            failures.count(bad, now);
        }
        assert_eq!(failures.wait(bad, now), Some(TIME));
        assert_eq!(failures.wait("2001:db8::2".parse().unwrap(), now), Some(TIME));
        assert_eq!(failures.wait(good, now), None);
        assert_eq!(failures.wait(bad, now + TIME), None);
    }

    #[test]
    fn the_table_is_bounded() {
        let (failures, now) = (Failures::default(), Instant::now());
        for number in 0..3 * u32::try_from(MOST_PEERS).unwrap() {
            failures.count(std::net::Ipv4Addr::from_bits(number).into(), now);
        }
        assert!(failures.lock().len() <= MOST_PEERS);
    }
}
