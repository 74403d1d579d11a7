//! What one run may use up.

use std::time::Duration;

use tokio::time::Instant;

/// What is left of it.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    limits: Limits,
    calls: u64,
    tokens: u64,
    cost_micros: u64,
    until: Instant,
}

/// The most a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
    /// In millionths of a US dollar; absent is any.
    pub(crate) cost_micros: Option<u64>,
    pub(crate) time: Duration,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        // A time so long that it cannot be counted is as good as a year.
        let most = Duration::from_hours(24 * 366);
        let until = Instant::now() + limits.time.min(most);
        Self { limits, calls: 0, tokens: 0, cost_micros: 0, until }
    }

    /// When its time is up.
    pub(crate) const fn until(&self) -> Instant {
        self.until
    }

    pub(crate) const fn spend(&mut self, tokens: u64, cost_micros: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost_micros = self.cost_micros.saturating_add(cost_micros);
    }

    /// Takes as many of `wanted` calls as there are left.
    pub(crate) fn take_calls(&mut self, wanted: usize) -> usize {
        let left = self.limits.calls.saturating_sub(self.calls);
        let taken = wanted.min(usize::try_from(left).unwrap_or(usize::MAX));
        self.calls = self.calls.saturating_add(taken as u64);
        taken
    }

    /// What is used up, in words; nothing if the run may go on.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let Limits { calls, tokens, cost_micros, time } = self.limits;
        if self.calls >= calls {
            return Some(format!("its {calls} calls"));
        }
        if self.tokens >= tokens {
            return Some(format!("its {tokens} tokens"));
        }
        if let Some(most) = cost_micros.filter(|most| self.cost_micros >= *most) {
            let cents = most.div_ceil(10_000);
            return Some(format!("its {}.{:02} dollars", cents / 100, cents % 100));
        }
        (Instant::now() >= self.until).then(|| format!("its {} seconds", time.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { calls: 3, tokens: 100, cost_micros: Some(50_000), time: Duration::from_mins(1) };

    #[tokio::test(start_paused = true)]
    async fn says_what_is_used_up() {
        let used = |use_up: fn(&mut Budget)| {
            let mut budget = Budget::new(LIMITS);
            use_up(&mut budget);
            budget.exhausted()
        };
        assert_eq!(used(|_| ()), None);
        assert_eq!(used(|budget| assert_eq!(budget.take_calls(2), 2)), None);
        assert_eq!(used(|budget| assert_eq!(budget.take_calls(5), 3)).unwrap(), "its 3 calls");
        assert_eq!(used(|budget| budget.spend(100, 0)).unwrap(), "its 100 tokens");
        assert_eq!(used(|budget| budget.spend(1, 50_000)).unwrap(), "its 0.05 dollars");
        let budget = Budget::new(LIMITS);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(budget.exhausted().unwrap(), "its 60 seconds");
    }
}
