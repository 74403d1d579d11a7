//! What a call and its handles share while it runs.

use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError, Weak},
    time::{Duration, Instant},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{Changed, ToolError};

/// Whether a call may still do something. Once it has ended, its handles refuse, so nothing happens
/// behind an outcome that was already recorded.
#[derive(Debug, Default)]
pub struct Live {
    cancel: CancellationToken,
    stopped: Mutex<Option<Stopped>>,
    ended: RwLock<bool>,
    changed: Mutex<Vec<Changed>>,
    pauses: Mutex<Pauses>,
    resumed: Notify,
    slot: Mutex<Option<Weak<dyn Any + Send + Sync>>>,
}

/// Keeps the slot of a call taken while a thread works for it. A call that timed out has its
/// outcome at once, but it counts as running until its threads have noticed.
#[derive(Debug)]
pub struct WorkerSlot(
    #[expect(dead_code, reason = "dropping it is its use")] Option<Arc<dyn Any + Send + Sync>>,
);

/// When the time of a call stood still.
#[derive(Debug, Default)]
struct Pauses {
    since: Option<Instant>,
    before: Duration,
}

/// While this is there, the time of the call stands still: a person is waited for.
#[derive(Debug)]
pub struct Paused<'a>(&'a Live);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        let mut pauses = self.0.pauses();
        if let Some(since) = pauses.since.take() {
            pauses.before += since.elapsed();
        }
        drop(pauses);
        self.0.resumed.notify_waiters();
    }
}

/// Why a call was stopped, if its caller did not do it.
#[derive(Debug)]
enum Stopped {
    TimedOut(Duration),
    Emergency(Arc<str>),
}

impl Stopped {
    fn error(&self) -> ToolError {
        match self {
            Self::TimedOut(after) => ToolError::TimedOut(*after),
            Self::Emergency(reason) => ToolError::stopped(&**reason),
        }
    }
}

/// While this is held the call cannot end.
#[derive(Debug)]
pub struct Held<'a>(
    #[expect(dead_code, reason = "dropping it is its use")] RwLockReadGuard<'a, bool>,
);

impl Live {
    /// A call that `cancel` stops.
    pub fn new(cancel: CancellationToken) -> Self {
        Self { cancel, ..Self::default() }
    }

    /// Stops the call.
    pub const fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Stops the call because its time is up.
    pub fn time_out(&self, after: Duration) {
        self.stop(Stopped::TimedOut(after));
    }

    /// Stops the call because everything is stopped.
    pub fn halt(&self, reason: Arc<str>) {
        self.stop(Stopped::Emergency(reason));
    }

    /// The first reason counts.
    fn stop(&self, why: Stopped) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.cancel.is_cancelled() {
            *stopped = Some(why);
            self.cancel.cancel();
        }
    }

    /// Refuses if the call was stopped. Loops that may run long ask this every round.
    pub fn check(&self) -> Result<(), ToolError> {
        if !self.cancel.is_cancelled() {
            return Ok(());
        }
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        Err(stopped.as_ref().map_or(ToolError::Cancelled, Stopped::error))
    }

    /// Says which slot the call has. Threads that work for it keep the slot until they are done.
    pub fn set_slot(&self, slot: Weak<dyn Any + Send + Sync>) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(slot);
    }

    /// Taken along by a thread that works for the call.
    pub fn worker(&self) -> WorkerSlot {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        WorkerSlot(slot.as_ref().and_then(Weak::upgrade))
    }

    /// Keeps the call from ending while a change is made; refuses if it has ended or was stopped.
    pub fn hold(&self) -> Result<Held<'_>, ToolError> {
        let ended = self.ended.read().unwrap_or_else(PoisonError::into_inner);
        self.check()?;
        if *ended {
            return Err(ToolError::Cancelled);
        }
        Ok(Held(ended))
    }

    /// Ends the call, unless a change is being made just now.
    pub fn try_end(&self) -> bool {
        match self.ended.try_write() {
            Ok(mut ended) => *ended = true,
            Err(TryLockError::Poisoned(ended)) => *ended.into_inner() = true,
            Err(TryLockError::WouldBlock) => return false,
        }
        self.cancel.cancel();
        true
    }

    /// Ends the call, after the change that is being made. May block.
    pub fn end(&self) {
        *self.ended.write().unwrap_or_else(PoisonError::into_inner) = true;
        self.cancel.cancel();
    }

    /// Lets the time of the call stand still.
    pub fn pause(&self) -> Paused<'_> {
        self.pauses().since.get_or_insert_with(Instant::now);
        Paused(self)
    }

    /// Returns when the call has had `most` time since `began`, pauses not counted.
    pub async fn spent(&self, began: Instant, most: Duration) {
        loop {
            let Some(before) = self.paused_before() else {
                self.resumed().await;
                continue;
            };
            let end = began + most + before;
            if Instant::now() >= end {
                return;
            }
            tokio::time::sleep_until(end.into()).await;
        }
    }

    /// How long it was paused; `None` while it is.
    fn paused_before(&self) -> Option<Duration> {
        let pauses = self.pauses();
        pauses.since.is_none().then_some(pauses.before)
    }

    /// Waits for the end of a pause.
    async fn resumed(&self) {
        let mut resumed = std::pin::pin!(self.resumed.notified());
        // Before the look, so that an end of the pause between the two is noticed.
        resumed.as_mut().enable();
        if self.paused_before().is_none() {
            resumed.await;
        }
    }

    fn pauses(&self) -> MutexGuard<'_, Pauses> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what was changed, for the outcome.
    pub fn note(&self, changed: &[Changed]) {
        let mut all = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(changed);
    }

    /// What was changed so far.
    pub fn changed(&self) -> Vec<Changed> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pause_takes_none_of_the_time_of_a_call() {
        let live = Live::default();
        let began = Instant::now();
        let pause = async {
            let paused = live.pause();
            tokio::time::sleep(Duration::from_millis(200)).await;
            drop(paused);
        };
        tokio::join!(pause, live.spent(began, Duration::from_millis(50)));
        assert!(began.elapsed() >= Duration::from_millis(250));
    }
}
