//! How an agent is spoken to, whatever surface it came by.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agent::{AgentError, Answer, Input, Sink};
use tokio_util::sync::CancellationToken;
use tool::Caller;

use crate::{
    auth::Signed,
    problem::{Kind, Problem},
    state::State,
};

/// When to come back, if nobody knows better.
const LATER: Duration = Duration::from_secs(5);

/// How many runs of each user go on.
#[derive(Debug, Default, Clone)]
pub(crate) struct Runs(Arc<Mutex<HashMap<Arc<str>, usize>>>);

/// A run that is counted until this is dropped.
#[derive(Debug)]
struct Counted {
    runs: Runs,
    user: Arc<str>,
}

impl Runs {
    fn admit(&self, user: &Arc<str>, most: usize) -> Option<Counted> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = runs.get(user).copied().unwrap_or_default();
        if own >= most {
            return None;
        }
        runs.insert(user.clone(), own + 1);
        Some(Counted { runs: self.clone(), user: user.clone() })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut runs = self.runs.0.lock().unwrap_or_else(PoisonError::into_inner);
        match runs.get_mut(&self.user) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(runs.remove(&self.user)),
        }
    }
}

/// Somebody who may speak to an agent now.
#[derive(Debug)]
pub(crate) struct Speaking {
    state: State,
    pub(crate) caller: Caller,
    _counted: Counted,
}

/// Lets somebody speak as `caller`, unless too much of theirs goes on already.
pub(crate) async fn begin(
    state: &State,
    signed: &Signed,
    caller: Caller,
) -> Result<Speaking, Problem> {
    let most = state.gate.config().server.runs.value.get();
    let counted = state.speaking.admit(&caller.user, most).ok_or_else(|| {
        let message = format!(
            "{most} conversations of yours go on already, which `server.runs` allows; wait for one"
        );
        Problem::new(Kind::TooMany, message)
    })?;
    // Who asks with a token must not answer with it.
    let db = state.gate.db().await.map_err(Problem::internal)?;
    let noted = state.events.running.note_speaker(db, &caller, signed).await;
    noted.map_err(|error| Problem::internal(crate::problem::in_full(&error)))?;
    Ok(Speaking { state: state.clone(), caller, _counted: counted })
}

impl Speaking {
    /// Says it, and waits for the answer. Dropping the future ends the run, as the end of the server does.
    pub(crate) async fn run(self, input: Input, sink: Sink) -> Result<Answer, AgentError> {
        let stop = self.stop();
        self.run_until(&stop, input, sink).await
    }

    /// The same; `stop` ends it, too.
    pub(crate) async fn run_until(
        self,
        stop: &CancellationToken,
        input: Input,
        sink: Sink,
    ) -> Result<Answer, AgentError> {
        self.state.agents.run(&self.caller, input, sink, stop).await
    }

    /// Is cancelled with the server, and by whoever has it.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.state.runs.child_token()
    }
}

/// Why there is no answer, as far as `caller` may know.
pub(crate) fn problem(error: &AgentError, caller: &Caller) -> Problem {
    let shown = error.shown_to(caller);
    let kind = match error.facts().1 {
        400 => Kind::Invalid,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        429 => Kind::TooMany,
        499 => Kind::Conflict,
        502 | 504 => Kind::ModelFailed,
        503 => Kind::Unavailable,
        _ => return Problem::internal(crate::problem::in_full(error)),
    };
    let problem = Problem::new(kind, shown);
    match retry_after(error) {
        Some(wait) => problem.after(wait),
        None => problem,
    }
}

/// When it may work, if waiting helps.
pub(crate) fn retry_after(error: &AgentError) -> Option<Duration> {
    let said = if let AgentError::Model(error) = error { error.retry_after() } else { None };
    said.or_else(|| (error.facts().1 == 429).then_some(LATER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_bounded_for_each_user_and_counted_back() {
        let (runs, [ada, bo]) = (Runs::default(), ["ada", "bo"].map(Arc::from));
        let first = runs.admit(&ada, 2).unwrap();
        let second = runs.admit(&ada, 2).unwrap();
        assert!(runs.admit(&ada, 2).is_none() && runs.admit(&bo, 2).is_some());
        drop(first);
        drop(runs.admit(&ada, 2).unwrap());
        drop(second);
        assert!(runs.0.lock().unwrap().is_empty());
    }
}
