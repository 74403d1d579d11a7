use std::{iter, task::Waker, time::Duration};

use tokio::{
    sync::oneshot,
    task::{try_id, yield_now},
    time::{sleep, timeout},
};
use tool::ToolOutput;

use super::*;

const LONG: Duration = Duration::from_mins(1);

/// Waits for a while, and says whether it was in a task of its own then.
fn work(wait: Duration) -> (BoxFuture<'static, ToolResult>, oneshot::Receiver<&'static str>) {
    let (done, told) = oneshot::channel();
    let work = async move {
        yield_now().await;
        if !wait.is_zero() {
            sleep(wait).await;
        }
        // A test itself is in none.
        let place = if try_id().is_some() { "elsewhere" } else { "here" };
        let _ = done.send(place);
        Ok(ToolOutput::text(place))
    };
    (Box::pin(work), told)
}

fn look_once(underway: Pin<&mut Underway<'_>>) {
    assert!(underway.poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[tokio::test(start_paused = true)]
async fn what_takes_a_while_gets_a_task_of_its_own() {
    for (wait, expected) in [(0, "here"), (1, "here"), (50, "elsewhere")] {
        let soon = Soon::default();
        let (work, _) = work(Duration::from_millis(wait));
        let result = Underway::new(&soon, work).await;
        assert_eq!(result.unwrap().joined_text(), expected, "{wait} ms");
    }
}

#[tokio::test]
async fn who_looks_elsewhere_or_goes_away_does_not_stop_it() {
    for goes in [false, true] {
        let soon = Soon::default();
        let (work, told) = work(Duration::from_millis(20));
        let mut underway = Box::pin(Underway::new(&soon, work));
        look_once(underway.as_mut());
        let underway = (!goes).then_some(underway);
        assert_eq!(timeout(LONG, told).await.unwrap(), Ok("elsewhere"), "{goes}");
        if let Some(underway) = underway {
            let result = timeout(LONG, underway).await.unwrap();
            assert_eq!(result.unwrap().joined_text(), "elsewhere");
        }
    }
}

#[tokio::test]
async fn if_too_many_wait_it_has_a_task_at_once() {
    let soon = Soon::default();
    let _others: Vec<_> =
        iter::from_fn(|| soon.call_back(Waker::noop(), None)).take(20_000).collect();
    let (work, _) = work(Duration::ZERO);
    let result = timeout(LONG, Underway::new(&soon, work)).await.unwrap();
    assert_eq!(result.unwrap().joined_text(), "elsewhere");
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_the_call_and_nothing_else() {
    for wait in [0, 50] {
        let soon = Soon::default();
        let work = async move {
            sleep(Duration::from_millis(wait)).await;
            panic!("as it was meant to");
        };
        let error = Underway::new(&soon, Box::pin(work)).await.unwrap_err();
        assert_eq!(error.kind(), "internal_error", "{wait} ms");
    }
}
