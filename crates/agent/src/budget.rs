//! What one run may use up.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// What is left of it. Agents that a run sets to work use up its budget with their own.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    used: Mutex<Used>,
    until: Instant,
    above: Option<Arc<Self>>,
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

#[derive(Debug, Default)]
struct Used {
    calls: u64,
    tokens: u64,
    cost_micros: u64,
}

impl Budget {
    /// A budget of its own, within the one `above` if there is one.
    pub(crate) fn new(limits: Limits, above: Option<Arc<Self>>) -> Self {
        // A time so long that it cannot be counted is as good as a year.
        let most = Duration::from_hours(24 * 366);
        let until = Instant::now() + limits.time.min(most);
        let until = above.as_ref().map_or(until, |above| until.min(above.until));
        Self { limits, used: Mutex::default(), until, above }
    }

    /// When its time is up.
    pub(crate) const fn until(&self) -> Instant {
        self.until
    }

    pub(crate) fn spend(&self, tokens: u64, cost_micros: u64) {
        for budget in self.all() {
            let mut used = budget.used();
            used.tokens = used.tokens.saturating_add(tokens);
            used.cost_micros = used.cost_micros.saturating_add(cost_micros);
        }
    }

    /// Takes as many of `wanted` calls as there are left.
    pub(crate) fn take_calls(&self, wanted: usize) -> usize {
        let left = self.all().map(|budget| budget.limits.calls.saturating_sub(budget.used().calls));
        let left = usize::try_from(left.min().unwrap_or_default()).unwrap_or(usize::MAX);
        let taken = wanted.min(left);
        for budget in self.all() {
            let mut used = budget.used();
            used.calls = used.calls.saturating_add(taken as u64);
        }
        taken
    }

    /// What is used up, in words; nothing if the run may go on.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let above = || self.above.as_ref()?.exhausted();
        let above = || above().map(|what| format!("what the one that started it has left: {what}"));
        self.own_exhausted().or_else(above)
    }

    fn own_exhausted(&self) -> Option<String> {
        let Limits { calls, tokens, cost_micros, time } = self.limits;
        let used = self.used();
        if used.calls >= calls {
            return Some(format!("its {calls} calls"));
        }
        if used.tokens >= tokens {
            return Some(format!("its {tokens} tokens"));
        }
        if let Some(most) = cost_micros.filter(|most| used.cost_micros >= *most) {
            let cents = most.div_ceil(10_000);
            return Some(format!("its {}.{:02} dollars", cents / 100, cents % 100));
        }
        (Instant::now() >= self.until).then(|| format!("its {} seconds", time.as_secs()))
    }

    /// Whether money is counted, here or above.
    pub(crate) fn counts_cost(&self) -> bool {
        self.all().any(|budget| budget.limits.cost_micros.is_some())
    }

    /// This one and those above.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |budget| budget.above.as_deref())
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { calls: 3, tokens: 100, cost_micros: Some(50_000), time: Duration::from_mins(1) };

    #[tokio::test(start_paused = true)]
    async fn says_what_is_used_up() {
        let used = |use_up: fn(&Budget)| {
            let budget = Budget::new(LIMITS, None);
            use_up(&budget);
            budget.exhausted()
        };
        assert_eq!(used(|_| ()), None);
        assert_eq!(used(|budget| assert_eq!(budget.take_calls(2), 2)), None);
        assert_eq!(used(|budget| assert_eq!(budget.take_calls(5), 3)).unwrap(), "its 3 calls");
        assert_eq!(used(|budget| budget.spend(100, 0)).unwrap(), "its 100 tokens");
        assert_eq!(used(|budget| budget.spend(1, 50_000)).unwrap(), "its 0.05 dollars");
        let budget = Budget::new(LIMITS, None);
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(budget.exhausted().unwrap(), "its 60 seconds");
    }

    #[tokio::test(start_paused = true)]
    async fn those_below_use_up_what_those_above_have() {
        let above = Arc::new(Budget::new(LIMITS, None));
        let more = Limits { calls: 10, tokens: 1_000, cost_micros: None, time: LIMITS.time * 9 };
        let [one, other] = [(); 2].map(|()| Budget::new(more, Some(above.clone())));
        assert_eq!((one.take_calls(2), other.take_calls(2)), (2, 1));
        assert!(one.exhausted().unwrap().ends_with("its 3 calls"));
        assert_eq!(one.until(), above.until());
        assert!(one.counts_cost());
        let above = Arc::new(Budget::new(LIMITS, None));
        let child = Budget::new(more, Some(above.clone()));
        child.spend(100, 0);
        assert_eq!(above.exhausted().unwrap(), "its 100 tokens");
    }
}
