//! A call that is under way: where its caller waits for it while that does not take long, then in a task of its own.

use std::{
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use tokio::{runtime::Handle, task::JoinHandle};
use tool::{BoxFuture, ToolError, ToolResult};

use crate::at_once::{Asked, Soon};

/// A call that is under way. It goes on to its end if this is dropped, and if nobody looks at it: a moment after
/// it had to wait for the first time it gets a task of its own.
pub(crate) struct Underway<'a> {
    soon: &'a Soon,
    work: Arc<Work>,
    asked: Option<Asked<'a>>,
}

/// The stages of a call, wherever they are run.
#[derive(Debug)]
pub(crate) struct Work {
    /// That of its caller: timers and sockets belong there.
    runtime: Handle,
    place: Mutex<Place>,
}

enum Place {
    /// With whoever waits for it.
    Here(BoxFuture<'static, ToolResult>),
    /// In their hands just now; whether it is to leave when they put it down.
    InHand(Then),
    /// In a task of its own.
    Elsewhere(JoinHandle<ToolResult>),
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Stay,
    Leave,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here(_) => "here",
            Self::InHand(_) => "in hand",
            Self::Elsewhere(_) => "elsewhere",
            Self::Over => "over",
        })
    }
}

impl<'a> Underway<'a> {
    /// Begins `work`. Whoever makes this waits for it at once.
    pub(crate) fn new(soon: &'a Soon, work: BoxFuture<'static, ToolResult>) -> Self {
        let place = Mutex::new(Place::Here(work));
        let work = Arc::new(Work { runtime: Handle::current(), place });
        Self { soon, work, asked: None }
    }

    /// Has it leave in a moment, or at once if that cannot be promised.
    fn leave_soon(&mut self, cx: &Context<'_>) {
        if self.asked.as_ref().is_some_and(|asked| asked.calls(cx.waker())) {
            return;
        }
        self.asked = self.soon.call_back(cx.waker(), Some(&self.work));
        if self.asked.is_none() {
            self.work.leave();
        }
    }
}

impl Future for Underway<'_> {
    type Output = ToolResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ToolResult> {
        let mut task = match self.work.put(Place::InHand(Then::Stay)) {
            Place::Here(mut work) => {
                if let Poll::Ready(result) = caught(work.as_mut(), cx) {
                    self.work.put(Place::Over);
                    return Poll::Ready(result);
                }
                self.leave_soon(cx);
                let Some(task) = self.work.put_down(work) else { return Poll::Pending };
                task
            }
            Place::Elsewhere(task) => task,
            Place::InHand(_) | Place::Over => {
                return Poll::Ready(Err(ToolError::internal("the call is over")));
            }
        };
        let done = Pin::new(&mut task).poll(cx);
        self.work.put(if done.is_ready() { Place::Over } else { Place::Elsewhere(task) });
        done.map(|done| done.unwrap_or_else(|error| Err(ToolError::internal(error))))
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.work.leave();
    }
}

impl Work {
    /// Gives it a task of its own, unless it has one.
    pub(crate) fn leave(&self) {
        let mut place = self.place();
        match mem::replace(&mut *place, Place::Over) {
            Place::Here(work) => *place = Place::Elsewhere(self.runtime.spawn(work)),
            Place::InHand(_) => *place = Place::InHand(Then::Leave),
            other @ (Place::Elsewhere(_) | Place::Over) => *place = other,
        }
    }

    /// Leaves it where it is waited for; or gives the task it is in from now on.
    fn put_down(&self, work: BoxFuture<'static, ToolResult>) -> Option<JoinHandle<ToolResult>> {
        let mut place = self.place();
        if matches!(*place, Place::InHand(Then::Leave)) {
            return Some(self.runtime.spawn(work));
        }
        *place = Place::Here(work);
        None
    }

    fn put(&self, next: Place) -> Place {
        mem::replace(&mut *self.place(), next)
    }

    fn place(&self) -> MutexGuard<'_, Place> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A panic of a stage ends the call, and not whoever waits for it. What it left half done is dropped with the call.
fn caught(
    work: Pin<&mut (dyn Future<Output = ToolResult> + Send)>,
    cx: &mut Context<'_>,
) -> Poll<ToolResult> {
    let polled = catch_unwind(AssertUnwindSafe(|| work.poll(cx)));
    polled.unwrap_or_else(|_| Poll::Ready(Err(ToolError::internal("a stage panicked"))))
}

#[cfg(test)]
mod tests;
