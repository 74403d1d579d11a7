//! One change at a time.

use std::{
    fs::File,
    os::fd::OwnedFd,
    sync::{Arc, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, openat},
    io::Errno,
};
use tool::{Live, ToolError};

use crate::{
    data::Data,
    record::Record,
    root::{Id, Root},
};

const WAIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(1);

/// While this is held nobody else changes files beneath a root, in this process or another one.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    pub(crate) id: Id,
    _thread: MutexGuard<'a, ()>,
    record: Record,
}

impl Locked<'_> {
    /// Counts a commit that removes these paths, for those who want to know whether there was one.
    pub(crate) fn count(&self, removed: impl Iterator<Item = String>) {
        // If it cannot be written, only the finer of two checks for conflicts is lost.
        let _ = self.record.add(removed);
    }

    /// Whether a commit after the first `commits` removed this path.
    pub(crate) fn was_removed(&self, path: &str, commits: u64) -> bool {
        self.record.was_removed(path, commits)
    }
}

/// Whether others may hold a lock too.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shared {
    Yes,
    No,
}

/// The folder of lock files.
#[derive(Debug)]
pub(crate) struct Locks(OwnedFd);

impl Locks {
    pub(crate) fn open(data: &Data) -> Result<Self, Errno> {
        data.folder("locks").map(Self)
    }

    /// Locks every root once, always in the same order, so that two calls cannot wait for each other.
    pub(crate) fn roots<'a>(
        &self,
        roots: impl Iterator<Item = &'a Arc<Root>>,
        live: &Live,
    ) -> Result<Vec<Locked<'a>>, ToolError> {
        let mut roots: Vec<_> = roots.collect();
        roots.sort_by_key(|root| root.id);
        roots.dedup_by_key(|root| root.id);
        let lock = |root: &'a Arc<Root>| {
            let thread = root.changing.lock().unwrap_or_else(PoisonError::into_inner);
            let record = Record(self.file(&name_of(root), Shared::No, live)?);
            Ok(Locked { id: root.id, _thread: thread, record })
        };
        roots.into_iter().map(lock).collect()
    }

    /// How many commits there were beneath `root`.
    pub(crate) fn commits(&self, root: &Root) -> u64 {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.0, name_of(root), flags, Mode::empty());
        file.map_or(0, |file| Record(file.into()).commits())
    }

    /// Keeps pre-images from being dropped, or waits until nobody needs them.
    pub(crate) fn blobs(&self, shared: Shared, live: &Live) -> Result<File, ToolError> {
        self.file("blobs.lock", shared, live)
    }

    fn file(&self, name: &str, shared: Shared, live: &Live) -> Result<File, ToolError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(&self.0, name, flags, mode).map_err(ToolError::internal)?;
        let operation = match shared {
            Shared::Yes => FlockOperation::NonBlockingLockShared,
            Shared::No => FlockOperation::NonBlockingLockExclusive,
        };
        let start = Instant::now();
        loop {
            match flock(&file, operation) {
                Ok(()) => return Ok(file.into()),
                Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < WAIT => {}
                Err(Errno::WOULDBLOCK) => return Err(busy()),
                Err(errno) => return Err(ToolError::internal(errno)),
            }
            // Asked every round: a call that was stopped does not wait on.
            live.check()?;
            thread::sleep(PAUSE);
        }
    }
}

fn name_of(root: &Root) -> String {
    format!("{}-{}.lock", root.id.device, root.id.inode)
}

fn busy() -> ToolError {
    ToolError::failed("another process keeps changing files in this workspace; try again later")
}
