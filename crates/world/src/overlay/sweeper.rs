//! Removes the folders of overlays, so that nobody has to wait for it.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{
            Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel,
        },
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::fs::{AtFlags, unlinkat};

use crate::tree::remove;

/// More than these are removed by who leaves them.
const WAITING: usize = 256;
/// Between two attempts, and how many of them there are.
const PAUSE: Duration = Duration::from_millis(20);
const TRIES: u32 = 100;

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
        // What cannot be removed now is removed at the next start.
        let _ = left.remove();
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

/// A command that was killed may still be writing for a moment, and then something is left: it is
/// tried again. What cannot be removed at last is removed at the next start.
fn sweep(tasks: &Receiver<Task>) {
    let mut stubborn = Vec::new();
    loop {
        let pause = if stubborn.is_empty() { Duration::MAX } else { PAUSE };
        match tasks.recv_timeout(pause) {
            Ok(Task::Remove(left)) => stubborn.extend(left.remove().map(|left| (left, 0))),
            Ok(Task::Tell(told)) => {
                while !stubborn.is_empty() {
                    thread::sleep(PAUSE);
                    stubborn = again(stubborn);
                }
                // If nobody waits for it any more, nobody needs to know.
                let _ = told.send(());
            }
            Err(RecvTimeoutError::Timeout) => stubborn = again(stubborn),
            Err(RecvTimeoutError::Disconnected) if stubborn.is_empty() => return,
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(PAUSE);
                stubborn = again(stubborn);
            }
        }
    }
}

/// Those that are still there, and how often that was tried.
fn again(stubborn: Vec<(Left, u32)>) -> Vec<(Left, u32)> {
    let still = |(left, tries): (Left, u32)| Some((left.remove()?, tries + 1));
    stubborn.into_iter().filter_map(still).filter(|(_, tries)| *tries < TRIES).collect()
}

impl Left {
    /// Gives it back if something is left.
    fn remove(self) -> Option<Self> {
        let Self { parent, name, folder } = &self;
        // All that is left of most of them: what changed was moved away, and `work` is the kernel's.
        let usual = || {
            for inner in ["upper", "work/work", "work"] {
                unlinkat(folder, inner, AtFlags::REMOVEDIR)?;
            }
            unlinkat(parent, name, AtFlags::REMOVEDIR)
        };
        let is_gone = usual().is_ok() || remove(parent, name.as_str()).is_ok();
        (!is_gone).then_some(self)
    }
}
