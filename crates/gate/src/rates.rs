//! How often a user may call a tool.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use tool::Rate;

/// Remembered pairs of user and tool; beyond this, those that are no longer limited are forgotten.
const MAX_PAIRS: usize = 10_000;

/// For each user and tool, when the next call would be due if they came evenly.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    due: Mutex<HashMap<UserAndTool, Instant>>,
}

type UserAndTool = (Arc<str>, Arc<str>);

impl Rates {
    /// Counts a call; the error says how long to wait.
    pub(crate) fn take(
        &self,
        user: &Arc<str>,
        tool: &Arc<str>,
        rate: Rate,
    ) -> Result<(), Duration> {
        let now = Instant::now();
        let each = rate.per / rate.calls.max(1);
        let mut due = self.due.lock().unwrap_or_else(PoisonError::into_inner);
        if due.len() >= MAX_PAIRS {
            due.retain(|_, due| *due > now);
        }
        let next = due.entry((user.clone(), tool.clone())).or_insert(now);
        let start = (*next).max(now);
        // A whole period's calls may come at once, and no more than that ahead of time.
        let ahead = (start + each).saturating_duration_since(now);
        if ahead > rate.per {
            return Err(ahead.saturating_sub(rate.per));
        }
        *next = start + each;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn allows_a_burst_and_then_the_rate() {
        let (rates, ada, tool) = (Rates::default(), Arc::from("ada"), Arc::from("t"));
        let rate = Rate { calls: 2, per: Duration::from_mins(1) };
        assert_eq!(rates.take(&ada, &tool, rate), Ok(()));
        assert_eq!(rates.take(&ada, &tool, rate), Ok(()));
        assert_eq!(rates.take(&ada, &tool, rate), Err(Duration::from_secs(30)));
        assert_eq!(rates.take(&Arc::from("bo"), &tool, rate), Ok(()), "others are not limited");
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(rates.take(&ada, &tool, rate), Ok(()));
    }
}
