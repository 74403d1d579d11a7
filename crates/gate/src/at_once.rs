//! Gives work that is quick the chance to be done before anything is prepared for work that is slow.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::Duration,
};

use tokio::runtime::{self, Handle};

use crate::underway::Work;

/// Work that takes longer is slow.
const QUICK: Duration = Duration::from_millis(5);
/// More at once are not looked after: for each of them a timer is set, or it leaves at once.
const MOST: usize = 10_000;

/// Calls back those whose work may be slow, all together, a moment after the first of them asked for it: one timer
/// for many.
#[derive(Debug, Default)]
pub(crate) struct Soon(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// In the order they came; nothing where somebody waits no more.
    called: Vec<Option<Called>>,
    /// Counts how often they were called back.
    round: u64,
    /// The runtime in which somebody will do it. Nobody relies on another one, which may not be driven.
    due_in: Option<runtime::Id>,
}

/// Who is called back, and what is to leave for a task of its own first.
#[derive(Debug)]
struct Called {
    waker: Waker,
    work: Option<Arc<Work>>,
}

/// Somebody who is called back, until this is dropped: what they hold is not kept for that.
pub(crate) struct Asked<'a> {
    soon: &'a Soon,
    round: u64,
    place: usize,
    waker: Waker,
}

impl Asked<'_> {
    /// Whether this is the one who is called.
    pub(crate) fn calls(&self, waker: &Waker) -> bool {
        self.waker.will_wake(waker)
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut waiting = self.soon.lock();
        let same = waiting.round == self.round;
        let place = waiting.called.get_mut(self.place).filter(|_| same);
        let called = place.and_then(Option::take);
        drop(waiting);
        // Not while it is locked: it may be the last that holds much.
        drop(called);
    }
}

impl Soon {
    /// What `work` gives if that does not take long. Otherwise nothing is lost, and it can be waited for: with a
    /// timer, which costs more than most work does.
    pub(crate) async fn at_once<F: Future>(&self, mut work: Pin<&mut F>) -> Option<F::Output> {
        let mut asked: Option<Asked<'_>> = None;
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            if let Some(asked) = asked.as_ref().filter(|asked| asked.calls(cx.waker())) {
                let over = self.lock().round != asked.round;
                return if over { Poll::Ready(None) } else { Poll::Pending };
            }
            asked = self.call_back(cx.waker(), None);
            if asked.is_some() { Poll::Pending } else { Poll::Ready(None) }
        })
        .await
    }

    /// Asks to be called back, after `work` has left; `None` if too many have.
    pub(crate) fn call_back(&self, waker: &Waker, work: Option<&Arc<Work>>) -> Option<Asked<'_>> {
        let runtime = Handle::try_current();
        let (asked, first) = {
            let mut waiting = self.lock();
            let (round, place) = (waiting.round, waiting.called.len());
            if place >= MOST {
                return None;
            }
            waiting.called.push(Some(Called { waker: waker.clone(), work: work.cloned() }));
            let asked = Asked { soon: self, round, place, waker: waker.clone() };
            let own = runtime.as_ref().ok().map(Handle::id);
            let first = own.is_none() || waiting.due_in != own;
            waiting.due_in = own;
            (asked, first)
        };
        if first {
            // Not while it is locked: without a runtime, or in one that ends, the round is over at once.
            let due = Round(self.0.clone());
            if let Ok(runtime) = runtime {
                runtime.spawn(async move {
                    let _due = due;
                    tokio::time::sleep(QUICK).await;
                });
            }
        }
        Some(asked)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }
}

fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls everybody back when it is dropped, also because its runtime ends: others may wait in another one.
struct Round(Arc<Mutex<Waiting>>);

impl Drop for Round {
    fn drop(&mut self) {
        let called = {
            let mut waiting = lock(&self.0);
            waiting.round += 1;
            waiting.due_in = None;
            mem::take(&mut waiting.called)
        };
        for Called { waker, work } in called.into_iter().flatten() {
            work.inspect(|work| work.leave());
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, pin::pin};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_quick_is_done_and_what_is_not_is_not_lost() {
        let soon = Soon::default();
        assert_eq!(soon.at_once(pin!(async { 1 })).await, Some(1));
        let spawned = async { tokio::spawn(async { 2 }).await.ok() };
        assert_eq!(soon.at_once(pin!(spawned)).await, Some(Some(2)));
        let yields = async {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            3
        };
        assert_eq!(soon.at_once(pin!(yields)).await, Some(3));
        assert_eq!(soon.at_once(pin!(pending::<()>())).await, None);
        let mut slow = pin!(async {
            tokio::time::sleep(QUICK * 3).await;
            4
        });
        assert_eq!(soon.at_once(slow.as_mut()).await, None);
        assert_eq!(slow.await, 4);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_done_is_not_kept() {
        let soon = Soon::default();
        let mut polls = 0;
        let work = poll_fn(|cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            if polls > 3 { Poll::Ready(()) } else { Poll::Pending }
        });
        assert_eq!(soon.at_once(pin!(work)).await, Some(()));
        assert!(soon.lock().called.iter().all(Option::is_none));
        assert_eq!(soon.lock().round, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn many_are_called_back_together() {
        let soon = Arc::new(Soon::default());
        let all: Vec<_> = (0..100)
            .map(|_| {
                let soon = soon.clone();
                tokio::spawn(async move { soon.at_once(pin!(pending::<()>())).await })
            })
            .collect();
        for one in all {
            assert_eq!(one.await.unwrap(), None);
        }
        assert_eq!(soon.lock().round, 1);
        assert!(soon.lock().called.is_empty());
    }

    #[test]
    fn without_a_runtime_nobody_waits() {
        let soon = Soon::default();
        assert_eq!(soon.call_back(Waker::noop(), None).unwrap().round, 0);
        assert_eq!(soon.lock().round, 1);
    }

    /// Whether its runtime goes on without being driven, or ends.
    #[test]
    fn nobody_relies_on_the_runtime_of_another() {
        for ends in [false, true] {
            let soon = Soon::default();
            let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let first = runtime();
            // It asks, and its runtime never gets to the end of the round.
            let asked = first.block_on(async { soon.call_back(Waker::noop(), None) }).unwrap();
            let first = (!ends).then_some(first);
            assert_eq!(runtime().block_on(soon.at_once(pin!(pending::<()>()))), None);
            drop((asked, first));
        }
    }

    #[test]
    fn those_of_other_runtimes_are_called_back_if_the_first_one_ends() {
        let soon = Soon::default();
        let first = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let asked = first.block_on(async { soon.call_back(Waker::noop(), None) }).unwrap();
        drop(first);
        assert_eq!(soon.lock().round, asked.round + 1);
    }
}
