//! Gives work that is quick the chance to be done before anything is prepared for work that is slow.

use std::{future::poll_fn, pin::Pin, task::Poll};

/// What `work` gives if it is done as soon as everything it has just begun has had its turn. Otherwise
/// nothing is lost, and it can be waited for: with a timer, which costs more than most work does.
pub async fn at_once<F: Future>(mut work: Pin<&mut F>) -> Option<F::Output> {
    let mut turns = 0;
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if turns == 0 => {
            turns = 1;
            // After those who are ready now, which are what it waits for if it is quick.
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::{future::pending, pin::pin};

    use super::at_once;

    #[tokio::test]
    async fn what_is_quick_is_done_and_what_is_not_is_not_lost() {
        assert_eq!(at_once(pin!(async { 1 })).await, Some(1));
        assert_eq!(
            at_once(pin!(async { tokio::spawn(async { 2 }).await.ok() })).await,
            Some(Some(2))
        );
        assert_eq!(at_once(pin!(pending::<()>())).await, None);
        let mut slow = pin!(async {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            3
        });
        assert_eq!(at_once(slow.as_mut()).await, None);
        assert_eq!(slow.await, 3);
    }
}
