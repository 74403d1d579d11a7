//! What one run may use up.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// When this part of a limit is used, the model is told; and once more when little is left.
const TELL_PERCENT: [u64; 2] = [80, 95];

/// What is left of it. Agents that a run sets to work use up its budget with their own.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    used: Mutex<Used>,
    since: Instant,
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
    /// The part of a limit that the model was told of last.
    told_percent: u64,
}

impl Budget {
    /// A budget of its own, within the one `above` if there is one.
    pub(crate) fn new(limits: Limits, above: Option<Arc<Self>>) -> Self {
        // A time so long that it cannot be counted is as good as a year.
        let most = Duration::from_hours(24 * 366);
        let since = Instant::now();
        let until = since + limits.time.min(most);
        let until = above.as_ref().map_or(until, |above| until.min(above.until));
        Self { limits, used: Mutex::default(), since, until, above }
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
        // All of them at once, from below: nobody else takes the same call.
        let mut all: Vec<_> =
            self.all().map(|budget| (budget.limits.calls, budget.used())).collect();
        let left = all.iter().map(|(most, used)| most.saturating_sub(used.calls)).min();
        let left = usize::try_from(left.unwrap_or_default()).unwrap_or(usize::MAX);
        let taken = wanted.min(left);
        for (_, used) in &mut all {
            used.calls = used.calls.saturating_add(taken as u64);
        }
        taken
    }

    /// That no calls are left, in words; the model may still say what it has found.
    pub(crate) fn no_calls_left(&self) -> Option<String> {
        self.find(&|budget| {
            let most = budget.limits.calls;
            (budget.used().calls >= most).then(|| format!("its {most} calls"))
        })
    }

    /// What else is used up, in words; nothing if the run may go on.
    pub(crate) fn exhausted(&self) -> Option<String> {
        self.find(&Self::own_exhausted)
    }

    /// What `look` finds here, else above.
    fn find(&self, look: &dyn Fn(&Self) -> Option<String>) -> Option<String> {
        let above = || self.above.as_ref()?.find(look);
        let above = || above().map(|what| format!("what the one that started it has left: {what}"));
        look(self).or_else(above)
    }

    fn own_exhausted(&self) -> Option<String> {
        let Limits { calls: _, tokens, cost_micros, time } = self.limits;
        let used = self.used();
        if used.tokens >= tokens {
            return Some(format!("its {tokens} tokens"));
        }
        if let Some(most) = cost_micros.filter(|most| used.cost_micros >= *most) {
            return Some(dollars(most));
        }
        (Instant::now() >= self.until).then(|| format!("its {} seconds", time.as_secs()))
    }

    /// What is nearly used up, in words: once when four fifths of a limit are used, once when little
    /// is left.
    pub(crate) fn nearly_exhausted(&self) -> Option<String> {
        let mut used = self.used();
        let parts = self.parts(&used);
        let (percent, what) = parts.into_iter().max_by_key(|(percent, _)| *percent)?;
        let reached = TELL_PERCENT.into_iter().rev().find(|tell| percent >= *tell)?;
        if reached <= used.told_percent {
            return None;
        }
        used.told_percent = reached;
        Some(format!("{percent} % of {what}"))
    }

    /// How much of each limit is used, in percent.
    fn parts(&self, used: &Used) -> Vec<(u64, String)> {
        let Limits { calls, tokens, cost_micros, time: _ } = self.limits;
        let percent = |part: u128, most: u128| {
            u64::try_from((part * 100).checked_div(most).unwrap_or(100)).unwrap_or(100).min(100)
        };
        let time = self.until.saturating_duration_since(self.since);
        let mut parts = vec![
            (percent(used.tokens.into(), tokens.into()), format!("its {tokens} tokens")),
            (
                percent(self.since.elapsed().as_millis(), time.as_millis()),
                format!("its {} seconds", time.as_secs()),
            ),
        ];
        if calls < u64::MAX {
            parts.push((percent(used.calls.into(), calls.into()), format!("its {calls} calls")));
        }
        if let Some(most) = cost_micros {
            parts.push((percent(used.cost_micros.into(), most.into()), dollars(most)));
        }
        parts
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

fn dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("its {}.{:02} dollars", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_model_is_told_before_something_is_used_up() {
        let budget = Budget::new(LIMITS, None);
        budget.spend(79, 0);
        assert_eq!(budget.nearly_exhausted(), None);
        budget.spend(2, 0);
        assert_eq!(budget.nearly_exhausted().unwrap(), "81 % of its 100 tokens");
        assert_eq!(budget.nearly_exhausted(), None);
        tokio::time::advance(Duration::from_secs(58)).await;
        assert_eq!(budget.nearly_exhausted().unwrap(), "96 % of its 60 seconds");
        assert_eq!(budget.nearly_exhausted(), None);
        let budget = Budget::new(Limits { calls: u64::MAX, ..LIMITS }, None);
        budget.take_calls(1_000_000);
        assert_eq!(budget.nearly_exhausted(), None);
        budget.spend(1, 40_000);
        assert_eq!(budget.nearly_exhausted().unwrap(), "80 % of its 0.05 dollars");
    }

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
        let calls = Budget::new(LIMITS, None);
        assert_eq!((calls.take_calls(2), calls.no_calls_left()), (2, None));
        assert_eq!((calls.take_calls(5), calls.exhausted()), (1, None));
        assert_eq!(calls.no_calls_left().unwrap(), "its 3 calls");
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
        assert!(one.no_calls_left().unwrap().ends_with("its 3 calls"));
        assert_eq!(one.until(), above.until());
        assert!(one.counts_cost());
        let above = Arc::new(Budget::new(LIMITS, None));
        let child = Budget::new(more, Some(above.clone()));
        child.spend(100, 0);
        assert_eq!(above.exhausted().unwrap(), "its 100 tokens");
    }
}
