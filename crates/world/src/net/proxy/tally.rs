//! What has passed, and what has not.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// How many refused targets are kept. Enough to say what a command wanted; a scan would be more.
const MOST_TARGETS: usize = 100;
/// No longer one is kept: no host has such a name.
const MOST_BYTES: usize = 300;

/// What has passed through a proxy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Connections that were made to the proxy.
    pub connections: u64,
    /// Requests and tunnels that a rule refused.
    pub refused: u64,
    /// Bytes that came from the network.
    pub bytes_in: u64,
    /// Bytes that went to the network.
    pub bytes_out: u64,
}

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    connections: AtomicU64,
    refused: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    targets: Mutex<Vec<String>>,
}

impl Tally {
    pub(super) fn connected(&self) {
        self.connections.fetch_add(1, Relaxed);
    }

    /// Something came from the network.
    pub(super) fn came(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Relaxed);
    }

    /// Something went to the network.
    pub(super) fn went(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Relaxed);
    }

    /// Something was refused; the target if naming it could help.
    pub(super) fn refuse(&self, target: Option<&str>) {
        self.refused.fetch_add(1, Relaxed);
        let mut targets = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = |target: &&str| {
            let fits = targets.len() < MOST_TARGETS && target.len() <= MOST_BYTES;
            fits && !targets.iter().any(|known| known == target)
        };
        if let Some(target) = target.filter(kept) {
            targets.push(target.to_owned());
        }
    }

    pub(super) fn counted(&self) -> Traffic {
        Traffic {
            connections: self.connections.load(Relaxed),
            refused: self.refused.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
        }
    }

    pub(super) fn refused(&self) -> Vec<String> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_each_target_once_and_not_too_many() {
        let tally = Tally::default();
        for n in 0..150 {
            for _ in 0..2 {
                tally.refuse(Some(&format!("host-{n}.example:443")));
            }
        }
        tally.refuse(None);
        assert_eq!((tally.refused().len(), tally.counted().refused), (100, 301));
        let tally = Tally::default();
        tally.refuse(Some(&"a".repeat(1_000)));
        assert_eq!((tally.refused().len(), tally.counted().refused), (0, 1));
    }
}
