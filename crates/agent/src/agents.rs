//! The agents of this process, and how one is spoken to.

use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, PoisonError, RwLock, Weak},
    time::Duration,
};

use arc_swap::ArcSwap;
use config::Config;
use gate::Gate;
use provider::{Definitions, Message};
use serde_json::json;
use store::{
    Db, NewSession, Session, SessionChange, SessionKey, SessionKind, SessionState, StoreError,
};
use tokio_util::sync::CancellationToken;
use tool::{Caller, Cleanup, Clock, ItemId, ToolError, nearest};

use crate::{
    Admitted, AgentError, Answer, Event, Input, Listener, RunLimit, Sink,
    acting::acting,
    budget::{Budget, Limits},
    lanes::{Lanes, Turn},
    model::Models,
    names::{check_name, is_request, is_reserved},
    prompt,
    repetition::Repetition,
    run::Run,
    taking::Standing,
    transcript,
};

/// The agent that is always there.
pub const MAIN: &str = "main";

/// What agents are put together from.
#[derive(Debug)]
pub struct AgentsParts {
    /// What their calls go through.
    pub gate: Gate,
    /// Who answers them.
    pub models: Models,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// The agents of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Agents(pub(crate) Arc<Inner>);

/// Agents that somebody else keeps: what a gate knows of those that call through it.
#[derive(Debug, Clone, Default)]
pub struct WeakAgents(Weak<Inner>);

impl WeakAgents {
    /// The agents, if they are still there.
    pub fn upgrade(&self) -> Option<Agents> {
        self.0.upgrade().map(Agents)
    }
}

pub(crate) struct Inner {
    pub(crate) gate: Gate,
    pub(crate) models: ArcSwap<Models>,
    pub(crate) definitions: Definitions,
    pub(crate) lanes: Arc<Lanes>,
    /// Ends what goes on by itself, when the process ends.
    pub(crate) ending: CancellationToken,
    pub(crate) clock: Arc<dyn Clock>,
    listeners: RwLock<Vec<Arc<dyn Listener>>>,
    /// Nothing without a server: whoever runs agents themselves is not protected from themselves.
    limit: RwLock<Option<Arc<dyn RunLimit>>>,
}

/// Whether whoever started a run waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attached {
    /// They do; when they go, it ends.
    Yes,
    /// It goes on by itself, also after a restart; this becomes of its session then.
    No(Cleanup),
}

/// What a run is besides what is said.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) id: String,
    pub(crate) input: Input,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) attached: Attached,
    /// Less than the agent's own time.
    pub(crate) time: Option<Duration>,
    /// The budget of whoever set it to work.
    pub(crate) above: Option<Arc<Budget>>,
}

impl Start {
    /// A run that nobody waits for; it ends with `ending`.
    pub(crate) fn by_itself(cleanup: Cleanup, ending: &CancellationToken) -> Self {
        Self {
            id: new_id(),
            input: Input::default(),
            sink: Sink::default(),
            cancel: ending.child_token(),
            attached: Attached::No(cleanup),
            time: None,
            above: None,
        }
    }
}

impl Agents {
    /// Agents behind `gate`.
    pub fn new(parts: AgentsParts) -> Self {
        let AgentsParts { gate, models, clock } = parts;
        Self(Arc::new(Inner {
            gate,
            models: ArcSwap::from_pointee(models),
            definitions: Definitions::default(),
            lanes: Arc::default(),
            ending: CancellationToken::new(),
            clock,
            listeners: RwLock::default(),
            limit: RwLock::default(),
        }))
    }

    /// The same, kept by somebody else.
    pub fn downgrade(&self) -> WeakAgents {
        WeakAgents(Arc::downgrade(&self.0))
    }

    /// Lets somebody hear what goes on in all sessions.
    pub fn listen(&self, listener: Arc<dyn Listener>) {
        self.0.listeners.write().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// Lets somebody bound how many conversations of one user go on at once: what agents begin by
    /// themselves counts there, too. What they are spoken to is for whoever speaks to count.
    pub fn bound(&self, limit: Arc<dyn RunLimit>) {
        *self.0.limit.write().unwrap_or_else(PoisonError::into_inner) = Some(limit);
    }

    /// Other models from now on; what is under way goes on with the old ones.
    pub fn configure(&self, models: Models) {
        self.0.models.store(Arc::new(models));
    }

    /// The model that `agent` uses unless a session or a request says otherwise, for people: `provider/model`, or
    /// why there is none.
    pub fn model_of(&self, agent: &str) -> String {
        let config = self.0.gate.config();
        match self.0.models.load().pick(config.agents.get(agent), None) {
            Ok(choice) if choice.is_demo() => {
                "demo, built in; set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `providers` for a real one".to_owned()
            }
            Ok(choice) => format!("{}/{}", choice.provider, choice.model),
            Err(error) => format!("none: {error}"),
        }
    }

    /// The ids of all agents, in order; `main` is always one.
    pub fn ids(&self) -> Vec<String> {
        let config = self.0.gate.config();
        let mut ids: Vec<_> = config.agents.keys().cloned().chain([MAIN.to_owned()]).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// Says `input` to the agent of `caller`, in its session, and gives the answer. Dropping the
    /// future ends the run.
    pub async fn run(
        &self,
        caller: &Caller,
        input: Input,
        sink: Sink,
        cancel: &CancellationToken,
    ) -> Result<Answer, AgentError> {
        let cancel = cancel.child_token();
        let stop = cancel.clone().drop_guard();
        let (id, time) = (input.run.clone().unwrap_or_else(new_id), None);
        let start = Start { id, input, sink, cancel, attached: Attached::Yes, time, above: None };
        let (inner, caller) = (self.0.clone(), caller.clone());
        // In a task of its own: whoever waits may go away, and the session is still left in order.
        let task = tokio::spawn(async move { inner.start(&caller, start).await });
        let answer = task.await.unwrap_or(Err(AgentError::Cancelled));
        stop.disarm();
        answer
    }

    /// Ends what goes on in a session; whether there was something.
    pub fn stop(&self, key: &SessionKey) -> bool {
        self.0.lanes.find(key).is_some_and(|lane| lane.stop())
    }

    /// Ends whatever goes on for a user; how many sessions there were.
    pub fn stop_all_of(&self, user: &str) -> usize {
        self.0.lanes.of_user(user).iter().filter(|lane| lane.stop()).count()
    }

    /// The process is about to end: what goes on by itself stops here, and goes on after the next start.
    pub fn end(&self) {
        self.0.ending.cancel();
    }

    /// The store.
    pub async fn db(&self) -> Result<&Db, AgentError> {
        Ok(self.0.gate.db().await?)
    }
}

/// A new id for a run.
pub fn new_id() -> String {
    ItemId::random().to_string()
}

impl Inner {
    pub(crate) fn tell(&self, key: &SessionKey, event: &Event) {
        let listeners = self.listeners.read().unwrap_or_else(PoisonError::into_inner);
        for listener in listeners.iter() {
            listener.heard(key, event);
        }
    }

    /// Counts a conversation that an agent begins by itself, if there may be one more.
    pub(crate) fn admit(&self, caller: &Caller) -> Result<Admitted, AgentError> {
        let limit = self.limit.read().unwrap_or_else(PoisonError::into_inner).clone();
        limit.map_or(Ok(Admitted::free()), |limit| limit.admit(caller))
    }

    /// The settings of an agent, if there is one.
    pub(crate) fn agent(&self, id: &str) -> Result<config::Agent, AgentError> {
        let config: Arc<Config> = self.gate.config();
        if let Some(agent) = config.agents.get(id) {
            return Ok(agent.clone());
        }
        if id == MAIN {
            return Ok(config::Agent::default());
        }
        let known = config.agents.keys().map(String::as_str).chain([MAIN]);
        let hint = nearest(id, known).map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| "; `GET /v1/agents` lists them".to_owned());
        Err(AgentError::UnknownAgent { id: id.to_owned(), hint })
    }

    /// The session `caller` speaks in, and as whom its agent acts there.
    pub(crate) async fn open(&self, caller: &Caller) -> Result<(Session, Arc<Caller>), AgentError> {
        let key = key_of(caller);
        check_name(&key.name)?;
        let db = self.gate.db().await?;
        let session = if let Some(session) = db.session(&key).await? {
            session
        } else {
            let kind = kind_of(&key)?;
            db.open_session(NewSession::new(key, kind), self.clock.now()).await?
        };
        let acting = acting(&session, caller)?;
        Ok((session, Arc::new(acting)))
    }

    /// Waits for the session and has the run in it.
    pub(crate) async fn start(
        self: &Arc<Self>,
        caller: &Caller,
        start: Start,
    ) -> Result<Answer, AgentError> {
        // Before anything is stored: a wrong name must leave nothing behind.
        self.agent(&caller.agent)?;
        let (session, _) = self.open(caller).await?;
        let turn = tokio::select! {
            biased;
            () = start.cancel.cancelled() => return Err(AgentError::Cancelled),
            turn = self.lanes.enter(&session.key, &start.cancel) => turn,
        };
        let turn = turn.ok_or_else(|| AgentError::Busy { session: session.key.clone() })?;
        let (db, key, journal) = (self.gate.db().await?, session.key.clone(), self.gate.journal());
        if !db.claim_session(&key, journal, self.clock.now()).await? {
            return Err(not_ours(db, key).await?);
        }
        let (mut before, by_itself) = (session.state, start.attached != Attached::Yes);
        let result = Box::pin(self.have_in(caller, start, &turn, &mut before)).await;
        let state = match &result {
            Ok(answer) if !answer.calls.is_empty() => SessionState::Waiting,
            Ok(_) => SessionState::Idle,
            // It goes on after the next start.
            Err(_) if by_itself && self.ending.is_cancelled() => SessionState::Running,
            // Nothing was begun.
            Err(AgentError::Invalid(_)) if before != SessionState::Running => before,
            Err(_) => SessionState::Interrupted,
        };
        let left = self.leave_in_order(&key, state, turn.lane.finish()).await;
        let released = db.release_session(&key, journal).await;
        let answer = result?;
        left?;
        released?;
        Ok(answer)
    }

    /// The run, in a session that nobody else changes from now on; says how it stood `before`.
    async fn have_in(
        &self,
        caller: &Caller,
        start: Start,
        turn: &Turn,
        before: &mut SessionState,
    ) -> Result<Answer, AgentError> {
        // Only now: it may have been another one's until a moment ago.
        let (session, acting) = self.open(caller).await?;
        *before = session.state;
        if session.state == SessionState::Ended {
            return Err(AgentError::Ended { session: session.key });
        }
        // What went on for somebody who was removed was ended then; this one waited for its turn.
        if start.attached != Attached::Yes && self.is_removed(&session.key.user).await? {
            return Err(AgentError::Cancelled);
        }
        self.have(session, acting, start, turn).await
    }

    async fn is_removed(&self, user: &str) -> Result<bool, AgentError> {
        let user = self.gate.db().await?.user(user).await?;
        Ok(user.is_some_and(|user| !user.is_there()))
    }

    /// What a run leaves behind: how it ended, and what it was told and has not read.
    async fn leave_in_order(
        &self,
        key: &SessionKey,
        state: SessionState,
        unread: Vec<String>,
    ) -> Result<(), AgentError> {
        let (db, now) = (self.gate.db().await?, self.clock.now());
        let unread: Vec<_> = unread.into_iter().map(Message::user).collect();
        if !unread.is_empty() {
            transcript::add(db, key, &unread, now).await?;
        }
        let change = SessionChange { state: Some(state), ..SessionChange::default() };
        db.change_session(key, change, now).await?;
        Ok(())
    }

    async fn have(
        &self,
        session: Session,
        acting: Arc<Caller>,
        start: Start,
        turn: &Turn,
    ) -> Result<Answer, AgentError> {
        let Start { id, input, sink, cancel, attached, time, above } = start;
        let Input { messages, system, tools, mut options, model, run: _ } = input;
        let db = self.gate.db().await?;
        let agent = self.agent(&acting.agent)?;
        let wanted = model.as_deref().or(session.model.as_deref());
        let choice = self.models.load().pick(Some(&agent), wanted)?;
        let caller = Arc::new(Caller {
            provider: Some(choice.provider.as_str().into()),
            model: Some(choice.model.as_str().into()),
            ..Caller::clone(&acting)
        });
        options.max_tokens =
            options.max_tokens.or(agent.max_tokens.as_ref().map(|most| most.value.into()));
        options.temperature =
            options.temperature.or(agent.temperature.as_ref().map(|set| set.value.as_f64()));
        let own = own_prompt(&agent).await?;
        let system = prompt::system(&caller, own.as_deref(), system.as_deref());
        let mut limits = limits(&agent);
        limits.time = time.map_or(limits.time, |time| time.min(limits.time));
        let budget = Arc::new(Budget::new(limits, above));
        if budget.counts_cost() && choice.price.is_none() {
            return Err(AgentError::Invalid(format!(
                "the cost of a run is limited, and what `{choice}` costs is not known; set \
                 `providers.{0}.input_price` and `providers.{0}.output_price`",
                choice.provider
            )));
        }
        turn.lane.set_budget(budget.clone());
        self.mark(db, &session, &acting, (attached, limits.time)).await?;
        let run = Run {
            agents: self,
            db,
            id,
            session,
            caller,
            choice,
            system,
            theirs: tools,
            options,
            budget,
            lane: &turn.lane,
            sink,
            cancel,
            messages: Vec::new(),
            repetition: Repetition::default(),
            text: String::new(),
            usage: provider::Usage::default(),
            notes: Vec::new(),
        };
        run.go(messages).await
    }

    /// The session says what goes on in it, for a process that starts after this one died.
    async fn mark(
        &self,
        db: &Db,
        session: &Session,
        acting: &Caller,
        (attached, time): (Attached, Duration),
    ) -> Result<(), AgentError> {
        let run = session.run.clone().unwrap_or_default();
        let standing: Standing = serde_json::from_value(run).unwrap_or_default();
        let (by_itself, cleanup) = match attached {
            Attached::Yes => (None, Cleanup::Keep),
            Attached::No(cleanup) => (Some(acting.clone()), cleanup),
        };
        let until = self.clock.now().checked_add(time).filter(|_| by_itself.is_some());
        let standing = Standing { by_itself, cleanup, until, ..standing };
        let change = SessionChange {
            state: Some(SessionState::Running),
            run: Some(json!(standing)),
            ..SessionChange::default()
        };
        db.change_session(&session.key, change, self.clock.now()).await?;
        Ok(())
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agents").finish_non_exhaustive()
    }
}

/// Why a session cannot be had: another process has it, or somebody removed it meanwhile.
async fn not_ours(db: &Db, session: SessionKey) -> Result<AgentError, StoreError> {
    Ok(match db.session(&session).await? {
        Some(_) => AgentError::Elsewhere { session },
        None => AgentError::UnknownSession(session.to_string()),
    })
}

/// What a session is that is opened by speaking in it: names that we give ourselves are not for others
/// to open.
fn kind_of(key: &SessionKey) -> Result<SessionKind, AgentError> {
    if is_request(&key.name) {
        return Ok(SessionKind::Request);
    }
    if is_reserved(&key.name) {
        return Err(AgentError::UnknownSession(key.to_string()));
    }
    Ok(SessionKind::Chat)
}

/// The session `caller` speaks in.
pub fn key_of(caller: &Caller) -> SessionKey {
    SessionKey {
        user: caller.user.to_string(),
        agent: caller.agent.to_string(),
        name: caller.session.to_string(),
    }
}

/// What the operator tells the model; a file of theirs is read anew for every run.
async fn own_prompt(agent: &config::Agent) -> Result<Option<String>, AgentError> {
    let Some(prompt) = agent.prompt.clone() else { return Ok(None) };
    let read = tokio::task::spawn_blocking(move || prompt.value.read().map(Cow::into_owned));
    let text = read.await.map_err(ToolError::internal)?;
    text.map(Some).map_err(|error| {
        AgentError::Invalid(format!("the prompt of the agent cannot be read: {error}"))
    })
}

fn limits(agent: &config::Agent) -> Limits {
    // The gate looks at the others.
    let config::Budget { calls, tokens, cost, time, at_once: _, rate: _ } = &agent.limits;
    Limits {
        calls: calls.as_ref().map_or(u64::MAX, |calls| calls.value.into()),
        tokens: tokens.value.into(),
        cost_micros: cost.as_ref().map(|cost| cost.value.millionths()),
        time: time.value,
    }
}
