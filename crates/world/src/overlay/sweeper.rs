//! Removes the folders of overlays, so that nobody has to wait for it.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel},
    },
    thread::{self, JoinHandle},
};

use rustix::fs::{AtFlags, unlinkat};

use crate::tree::remove;

/// More than these are removed by who leaves them.
const WAITING: usize = 256;

/// What is to be removed.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) parent: Arc<OwnedFd>,
    pub(super) name: String,
    pub(super) folder: OwnedFd,
}

enum Task {
    Remove(Left),
    Tell(Sender<()>),
}

/// A thread that is started by the first who needs it, and ends, with its work done, when dropped.
#[derive(Debug, Default)]
pub(crate) struct Sweeper(Mutex<Option<(SyncSender<Task>, JoinHandle<()>)>>);

impl Sweeper {
    /// Removes it soon.
    pub(super) fn remove(&self, left: Left) {
        let mut thread = self.lock();
        if thread.is_none() {
            let (sender, tasks) = sync_channel(WAITING);
            let run = move || sweep(&tasks);
            let started = thread::Builder::new().name("overlays".to_owned()).spawn(run);
            *thread = started.ok().map(|handle| (sender, handle));
        }
        let left = match thread.as_ref() {
            None => left,
            Some((sender, _)) => match sender.try_send(Task::Remove(left)) {
                Err(
                    TrySendError::Full(Task::Remove(left))
                    | TrySendError::Disconnected(Task::Remove(left)),
                ) => left,
                Ok(()) | Err(_) => return,
            },
        };
        drop(thread);
        left.remove();
    }

    /// Waits until everything that was left is gone. May block.
    pub(crate) fn settle(&self) {
        let (told, done) = channel();
        let sender = self.lock().as_ref().map(|(sender, _)| sender.clone());
        if sender.is_some_and(|sender| sender.send(Task::Tell(told)).is_ok()) {
            // If the thread has ended, it has done its work.
            let _ = done.recv();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(SyncSender<Task>, JoinHandle<()>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        if let Some((sender, handle)) = self.lock().take() {
            drop(sender);
            // It has nothing to say.
            let _ = handle.join();
        }
    }
}

fn sweep(tasks: &Receiver<Task>) {
    for task in tasks {
        match task {
            Task::Remove(left) => left.remove(),
            // Nobody has to wait for it any more.
            Task::Tell(told) => drop(told.send(())),
        }
    }
}

impl Left {
    fn remove(self) {
        let Self { parent, name, folder } = self;
        // All that is left of most of them: what changed was moved away, and `work` is the kernel's.
        let usual = || {
            for inner in ["upper", "work/work", "work"] {
                unlinkat(&folder, inner, AtFlags::REMOVEDIR)?;
            }
            unlinkat(&parent, &name, AtFlags::REMOVEDIR)
        };
        if usual().is_err() {
            // What cannot be removed now is removed at the next start.
            let _ = remove(&parent, name.as_str());
        }
    }
}
