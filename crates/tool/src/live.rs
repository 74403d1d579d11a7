//! What a call and its handles share while it runs.

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, TryLockError},
    time::Duration,
};

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
