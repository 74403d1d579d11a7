//! Workers, each with its own list of actions that follows from the seed.

use std::{collections::VecDeque, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::try_join_all};
use tokio::time::Instant;

use crate::{actions, helper::Site, random::Random, turn::Turn};

/// So many clients,
const WORKERS: u64 = 12;
/// and so many actions of all of them in a second, if the machine can keep up; if it cannot, it takes longer.
const PER_SECOND: u64 = 50;
/// So many actions are told when one fails.
const TOLD: usize = 30;

/// Does all there is to do; fails with the first thing that is not as expected.
pub(crate) async fn work(site: &Arc<Site>, seed: u64, time: Duration) {
    let (start, count) = (Instant::now(), time.as_secs() * PER_SECOND / WORKERS);
    let workers = (0..WORKERS).map(|number| {
        let random = Random::new(seed.wrapping_mul(WORKERS) + number);
        one(Turn::new(site.clone(), number, random), seed, start, count)
    });
    if let Err(failure) = try_join_all(workers).await {
        panic!("{failure}\n\nthe log ends with\n{}", site.log());
    }
    eprintln!("{} actions in {:.0?}", count * WORKERS, start.elapsed());
}

async fn one(mut turn: Turn, seed: u64, start: Instant, count: u64) -> Result<(), String> {
    let mut history = VecDeque::new();
    for number in 0..count {
        let due = Duration::from_millis((number * WORKERS + turn.worker) * 1_000 / PER_SECOND);
        tokio::time::sleep_until(start + due).await;
        turn.number = number;
        let (kind, act) = actions::next(&mut turn.random);
        turn.kind = kind;
        history.push_back(format!("{number} {kind}"));
        if history.len() > TOLD {
            history.pop_front();
        }
        if let Err(panic) = AssertUnwindSafe(act(&mut turn)).catch_unwind().await {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            let done: Vec<_> = history.into();
            return Err(format!(
                "worker {}, with seed {seed}, failed in its action {number}, `{kind}`: {said}\n\
                 its actions: {}",
                turn.worker,
                done.join(", ")
            ));
        }
    }
    Ok(())
}
