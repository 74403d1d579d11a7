//! Gives work that is quick the chance to be done before anything is prepared for work that is slow.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
    time::Duration,
};

use tokio::runtime::Handle;

/// Work that takes longer is slow.
const QUICK: Duration = Duration::from_millis(5);
/// More at once are not looked after; for each of them a timer is set.
const MOST: usize = 10_000;

/// Calls back those whose work may be slow, all together, a moment after the first of them asked for it: one timer
/// for many.
#[derive(Debug, Default)]
pub(crate) struct Soon(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<Waker>,
    /// Counts how often they were called back.
    round: u64,
    /// Whether somebody will do it.
    is_due: bool,
}

impl Soon {
    /// What `work` gives if that does not take long. Otherwise nothing is lost, and it can be waited for: with a
    /// timer, which costs more than most work does.
    pub(crate) async fn at_once<F: Future>(&self, mut work: Pin<&mut F>) -> Option<F::Output> {
        let mut asked: Option<(u64, Waker)> = None;
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            if asked.as_ref().is_some_and(|(_, waker)| waker.will_wake(cx.waker())) {
                let round = self.lock().round;
                return match &asked {
                    Some((since, _)) if *since == round => Poll::Pending,
                    Some(_) | None => Poll::Ready(None),
                };
            }
            asked = self.call_back(cx.waker()).map(|round| (round, cx.waker().clone()));
            if asked.is_some() { Poll::Pending } else { Poll::Ready(None) }
        })
        .await
    }

    /// Asks to be called back; says in which round it is asked, or `None` if that cannot be.
    fn call_back(&self, waker: &Waker) -> Option<u64> {
        let mut waiting = self.lock();
        if waiting.wakers.len() >= MOST {
            return None;
        }
        if !waiting.is_due {
            let round = Round(self.0.clone());
            Handle::try_current().ok()?.spawn(async move {
                let _round = round;
                tokio::time::sleep(QUICK).await;
            });
            waiting.is_due = true;
        }
        waiting.wakers.push(waker.clone());
        Some(waiting.round)
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
        let wakers = {
            let mut waiting = lock(&self.0);
            waiting.round += 1;
            waiting.is_due = false;
            mem::take(&mut waiting.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, pin::pin, sync::mpsc, thread};

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
        assert!(soon.lock().wakers.is_empty());
    }

    #[test]
    fn those_of_other_runtimes_are_called_back_if_the_first_one_ends() {
        let soon = Arc::new(Soon::default());
        let first = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // It asks, and its runtime never gets to the end of the round.
        first.block_on(async { soon.call_back(Waker::noop()) }).unwrap();
        let (said, heard) = mpsc::channel();
        let other = soon;
        let waiting = thread::spawn(move || {
            let second =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            second.block_on(async move {
                let mut polls = 0;
                let work = poll_fn(|_| {
                    polls += 1;
                    if polls == 1 {
                        said.send(()).unwrap();
                    }
                    Poll::<()>::Pending
                });
                other.at_once(pin!(work)).await
            })
        });
        heard.recv().unwrap();
        drop(first);
        assert_eq!(waiting.join().unwrap(), None);
    }
}
