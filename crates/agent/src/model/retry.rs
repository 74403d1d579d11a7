//! Tries again what may work the next time.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use provider::Assembled;
use tokio::time::sleep;

use super::{ModelError, answer::Attempt};

/// The wait before the second attempt, about; it doubles each time.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait that we choose ourselves.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest wait that a provider may ask for. Who asks for more is told to the person instead.
const PATIENCE: Duration = Duration::from_mins(1);
/// More than anybody configures on purpose.
const MOST: u32 = 20;

/// What went wrong, and whether it may work the next time.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: ModelError,
    pub(super) retry: Retry,
}

/// Whether something may work the next time.
#[derive(Debug)]
pub(super) enum Retry {
    Never,
    /// After this time, if the provider said.
    After(Option<Duration>),
}

impl Failure {
    /// It will go wrong the next time too.
    pub(super) const fn for_good(error: ModelError) -> Self {
        Self { error, retry: Retry::Never }
    }

    /// It may work, after this time if the provider said.
    pub(super) const fn for_now(error: ModelError, after: Option<Duration>) -> Self {
        Self { error, retry: Retry::After(after) }
    }
}

/// Makes attempts until there is an answer, or something that cannot be tried again. Once a person
/// has seen something, nothing is.
pub(super) async fn until_answered(
    attempt: &Attempt<'_>,
    retries: u32,
    on_text: &mut (dyn FnMut(&str) + Send),
) -> Result<Assembled, ModelError> {
    let mut before = 0;
    loop {
        let mut seen = Seen::Nothing;
        let mut pass = |text: &str| {
            seen = Seen::Something;
            on_text(text);
        };
        let Failure { error, retry } = match attempt.make(&mut pass).await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let wait = match (retry, seen) {
            (Retry::After(asked), Seen::Nothing) if before < retries.min(MOST) => {
                wait(before, asked, RandomState::new().hash_one(before))
            }
            (Retry::After(_) | Retry::Never, Seen::Nothing | Seen::Something) => None,
        };
        let Some(wait) = wait else { return Err(error) };
        before += 1;
        tracing::warn!(
            provider = attempt.choice.provider,
            model = attempt.choice.model,
            reason = error.facts().0,
            attempt = before + 1,
            wait_ms = wait.as_millis(),
            "asking the model again"
        );
        sleep(wait).await;
    }
}

/// Whether a person has seen some of an answer.
enum Seen {
    Nothing,
    Something,
}

/// How long to wait after so many retries; none if that is too long. `random` spreads those who
/// failed together.
fn wait(before: u32, asked: Option<Duration>, random: u64) -> Option<Duration> {
    if let Some(asked) = asked {
        return Some(asked).filter(|asked| *asked <= PATIENCE);
    }
    let whole = FIRST.saturating_mul(1 << before.min(10)).min(LONGEST);
    let share = u32::try_from(random % 1_001).unwrap_or_default();
    Some(whole / 2 + (whole / 2).saturating_mul(share) / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_are_never_the_same_for_all() {
        let seconds = Duration::from_secs;
        for (before, asked, random, expected) in [
            (0, None, 0, Some(Duration::from_millis(250))),
            (0, None, 1_000, Some(Duration::from_millis(500))),
            (1, None, 1_000, Some(seconds(1))),
            (3, None, 500, Some(seconds(3))),
            (9, None, 1_000, Some(seconds(30))),
            (u32::MAX, None, u64::MAX, wait(10, None, u64::MAX)),
            (0, Some(seconds(7)), 3, Some(seconds(7))),
            (5, Some(Duration::ZERO), 3, Some(Duration::ZERO)),
            (0, Some(seconds(60)), 3, Some(seconds(60))),
            (0, Some(seconds(61)), 3, None),
        ] {
            assert_eq!(wait(before, asked, random), expected, "{before} {asked:?} {random}");
        }
    }
}
