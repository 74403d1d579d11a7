//! How many refusals of a user are recorded: a journal without bound is nobody's record.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tool::{Rate, ToolError};

/// Remembered users; beyond this, those that are no longer held back are forgotten.
const MAX_USERS: usize = 10_000;

/// The refusals of each user, and what came after so many that none is recorded any more.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    users: Mutex<HashMap<Arc<str>, Refused>>,
    unrecorded: AtomicU64,
}

#[derive(Debug)]
struct Refused {
    /// When the next refusal would be due if they came evenly.
    due: Instant,
    /// Calls that left no trace since somebody was last told.
    unrecorded: u64,
    told: Option<Instant>,
}

impl Refusals {
    /// Refuses a call that may not be refused on the record any more, before anything is known of it.
    pub(crate) fn admit(&self, user: &str, rate: Rate) -> Result<(), ToolError> {
        let now = Instant::now();
        let mut users = self.users();
        let Some(refused) = users.get_mut(user) else { return Ok(()) };
        let retry_after = wait(refused.due, now, rate);
        if retry_after.is_zero() {
            return Ok(());
        }
        let untold = refused.leave_out(now, rate.per);
        drop(users);
        self.unrecorded.fetch_add(1, Ordering::Relaxed);
        if let Some(calls) = untold {
            tracing::warn!(user, calls, "refused without a record: more than are recorded");
        }
        let (calls, seconds) = (rate.calls, rate.per.as_secs());
        let reason = format!("more than {calls} of your calls were refused in {seconds} s");
        Err(ToolError::RateLimited { reason, retry_after })
    }

    /// Counts a refusal that was recorded. Those that came at once all count, so the next one waits longer.
    pub(crate) fn count(&self, user: &Arc<str>, rate: Rate) {
        let now = Instant::now();
        let mut users = self.users();
        if users.len() >= MAX_USERS {
            users.retain(|_, refused| refused.due > now);
        }
        let new = || Refused { due: now, unrecorded: 0, told: None };
        let refused = users.entry(user.clone()).or_insert_with(new);
        refused.due = refused.due.max(now) + each(rate);
    }

    /// How many calls left no trace, of all users.
    pub(crate) fn unrecorded(&self) -> u64 {
        self.unrecorded.load(Ordering::Relaxed)
    }

    fn users(&self) -> MutexGuard<'_, HashMap<Arc<str>, Refused>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refused {
    /// Counts a call that leaves no trace. Once in a period, gives how many there were.
    fn leave_out(&mut self, now: Instant, period: Duration) -> Option<u64> {
        self.unrecorded += 1;
        if self.told.is_some_and(|told| now < told + period) {
            return None;
        }
        self.told = Some(now);
        Some(std::mem::take(&mut self.unrecorded))
    }
}

/// How long until one more may come: a whole period's refusals may come at once.
fn wait(due: Instant, now: Instant, rate: Rate) -> Duration {
    let ahead = (due.max(now) + each(rate)).saturating_duration_since(now);
    ahead.saturating_sub(rate.per)
}

fn each(rate: Rate) -> Duration {
    rate.per / rate.calls.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { calls: 2, per: Duration::from_mins(1) };

    /// How long `user` is told to wait.
    fn wait_of(refusals: &Refusals, user: &str) -> Option<Duration> {
        match refusals.admit(user, RATE) {
            Err(ToolError::RateLimited { retry_after, .. }) => Some(retry_after),
            _ => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn records_a_burst_and_then_the_rate() {
        let (refusals, bo) = (Refusals::default(), Arc::from("bo"));
        for _ in 0..2 {
            assert_eq!(wait_of(&refusals, &bo), None);
            refusals.count(&bo, RATE);
        }
        assert_eq!(wait_of(&refusals, &bo), Some(Duration::from_secs(30)));
        assert_eq!(wait_of(&refusals, "ada"), None, "others are not held back");
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(wait_of(&refusals, &bo), None);
        assert_eq!(refusals.unrecorded(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn refusals_that_come_at_once_are_made_up_for_later() {
        let (refusals, bo) = (Refusals::default(), Arc::from("bo"));
        for _ in 0..5 {
            refusals.count(&bo, RATE);
        }
        assert_eq!(wait_of(&refusals, &bo), Some(Duration::from_mins(2)));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_recorded_is_told_once_in_a_period() {
        let period = Duration::from_mins(1);
        let mut refused = Refused { due: Instant::now(), unrecorded: 0, told: None };
        let mut told = Vec::new();
        for _ in 0..5 {
            told.push(refused.leave_out(Instant::now(), period));
            tokio::time::advance(Duration::from_secs(20)).await;
        }
        assert_eq!(told, [Some(1), None, None, Some(3), None]);
    }
}
