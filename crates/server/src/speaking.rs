//! How an agent is spoken to, whatever surface it came by.

use std::time::Duration;

use agent::{Admitted, AgentError, Answer, Input, RunLimit, Sink};
use gate::Gate;
use policy::Allowance;
use tokio_util::sync::CancellationToken;
use tool::Caller;

use crate::{
    auth::Signed,
    per_user::PerUser,
    problem::{Kind, Problem, in_full},
    state::State,
};

/// When to come back, if nobody knows better.
const LATER: Duration = Duration::from_secs(5);
/// The status of a run that was stopped.
const STOPPED: u16 = 499;

/// The conversations that go on: those that somebody began, and those that agents began for them.
#[derive(Debug)]
pub(crate) struct Conversations {
    gate: Gate,
    open: PerUser,
}

impl Conversations {
    pub(crate) fn new(gate: Gate) -> Self {
        Self { gate, open: PerUser::default() }
    }
}

impl RunLimit for Conversations {
    fn admit(&self, caller: &Caller) -> Result<Admitted, AgentError> {
        let most = Allowance::of(&self.gate.config(), &caller.user, caller.role).runs;
        let Some(most) = most else { return Ok(Admitted::free()) };
        let counted = self.open.admit(&caller.user, most);
        counted.map(Admitted::with).ok_or(AgentError::TooMany { most })
    }
}

/// Somebody who may speak to an agent now.
#[derive(Debug)]
pub(crate) struct Speaking {
    state: State,
    pub(crate) caller: Caller,
    _counted: Admitted,
}

/// Lets somebody speak as `caller`, unless too much of theirs goes on already.
pub(crate) async fn begin(
    state: &State,
    signed: &Signed,
    caller: Caller,
) -> Result<Speaking, Problem> {
    let counted = state.speaking.admit(&caller);
    let counted = counted.map_err(|error| NoAnswer::Agent(error).problem(&caller))?;
    // Who asks with a token must not answer with it.
    let db = state.gate.db().await.map_err(Problem::internal)?;
    let noted = state.events.running.note_speaker(db, &caller, signed).await;
    noted.map_err(|error| Problem::internal(in_full(&error)))?;
    Ok(Speaking { state: state.clone(), caller, _counted: counted })
}

impl Speaking {
    /// Says it, and waits for the answer. Dropping the future ends the run, as the end of the server does.
    pub(crate) async fn run(self, input: Input, sink: Sink) -> Result<Answer, NoAnswer> {
        let stop = self.stop();
        self.run_until(&stop, input, sink).await
    }

    /// The same; `stop` ends it, too.
    pub(crate) async fn run_until(
        self,
        stop: &CancellationToken,
        input: Input,
        sink: Sink,
    ) -> Result<Answer, NoAnswer> {
        let answer = self.state.agents.run(&self.caller, input, sink, stop).await;
        answer.map_err(|error| {
            let stopped = error.facts().1 == STOPPED;
            if stopped && self.state.runs.is_cancelled() {
                NoAnswer::Ending
            } else {
                NoAnswer::Agent(error)
            }
        })
    }

    /// Is cancelled with the server, and by whoever has it.
    pub(crate) fn stop(&self) -> CancellationToken {
        self.state.runs.child_token()
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It could not be had, or somebody stopped it.
    Agent(AgentError),
    /// The server ends, and waits no longer.
    Ending,
}

impl From<AgentError> for NoAnswer {
    fn from(error: AgentError) -> Self {
        Self::Agent(error)
    }
}

/// Why there is no answer, as a client may know it.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) status: u16,
    /// The stable type.
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    /// When it may work, if waiting helps.
    pub(crate) retry_after: Option<Duration>,
}

impl NoAnswer {
    /// What `caller` may know of it; what is our fault goes to the log in full.
    pub(crate) fn shown_to(&self, caller: &Caller) -> Shown {
        let error = match self {
            Self::Agent(error) => error,
            Self::Ending => {
                let ending = Problem::ending();
                return Shown {
                    status: ending.kind().status(),
                    kind: ending.kind().error_type(),
                    message: ending.message().to_owned(),
                    retry_after: ending.retry_after(),
                };
            }
        };
        let (kind, status) = error.facts();
        if kind_of(status) == Kind::Internal {
            tracing::error!(error = in_full(error), "a request failed");
        }
        let said = if let AgentError::Model(error) = error { error.retry_after() } else { None };
        let retry_after = said.or_else(|| (status == 429).then_some(LATER));
        Shown { status, kind, message: error.shown_to(caller), retry_after }
    }

    /// The same, as it is said where no vendor's form is expected.
    pub(crate) fn problem(&self, caller: &Caller) -> Problem {
        let Shown { status, message, retry_after, .. } = self.shown_to(caller);
        let kind = kind_of(status);
        let problem = if kind == Kind::Internal {
            Problem::unexplained()
        } else {
            Problem::new(kind, message)
        };
        match retry_after {
            Some(wait) => problem.after(wait),
            None => problem,
        }
    }
}

/// What the status of an agent's error is here.
const fn kind_of(status: u16) -> Kind {
    match status {
        400 => Kind::Invalid,
        403 => Kind::Forbidden,
        404 => Kind::NotFound,
        429 => Kind::TooMany,
        STOPPED => Kind::Conflict,
        502 | 504 => Kind::ModelFailed,
        503 => Kind::Unavailable,
        _ => Kind::Internal,
    }
}

/// What somebody says. Refused before anything is begun if it is nothing.
pub(crate) fn said(message: String, model: Option<String>) -> Result<Input, Problem> {
    if message.trim().is_empty() {
        return Err(Problem::new(Kind::Invalid, "`message` is empty; say something"));
    }
    Ok(Input { model, ..Input::text(message) })
}
