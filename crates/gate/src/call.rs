//! A call on its way through the stages.

use std::{
    fmt,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use policy::Decision;
use serde_json::Value;
use tool::{
    CallId, Caller, Effects, Isolation, Live, Pinned, Place, Plan, Prepared, ToolContext,
    ToolError, Updates,
};

use crate::{
    registry::Entry, slots::Slot, stages::OpenEntry, stages::Permit, trust::Suspect, turn::Turn,
};

/// A call. Each stage that learns something about it fills in one more field.
pub struct Call {
    /// Our own id of it.
    pub id: CallId,
    /// The id the model's provider gave it, if any.
    pub provider_call_id: Option<String>,
    /// The message of a conversation that asks for it, if one does.
    pub message_id: Option<String>,
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// Tool name as the caller wrote it.
    pub name: String,
    /// Arguments as the caller wrote them, or as a hook rewrote them.
    pub args: Arc<Value>,
    /// Whether it may go on.
    pub live: Arc<Live>,
    /// Where partial results go.
    pub updates: Updates,
    /// What the stages learnt, for the journal and the outcome.
    pub learnt: Arc<Learning>,
    pub(crate) origin: Origin,
    pub(crate) turn: Option<Turn>,
    pub(crate) entry: Option<Arc<OpenEntry>>,
    pub(crate) tool: Option<Arc<Entry>>,
    pub(crate) generation: u64,
    pub(crate) deadline: Option<Instant>,
    /// An operation of the gate's own brings its plan along, or why it cannot be made.
    pub(crate) own: Option<Result<Planned, ToolError>>,
    pub(crate) planned: Option<Planned>,
    /// Whether a permission counted as given because nobody is ever asked.
    pub(crate) unasked: bool,
    /// Whether a person was asked about it, or about one of its permissions.
    pub(crate) asked: bool,
    /// Questions about permissions that are asked together with the one about the call itself.
    pub(crate) lacking: Vec<Decision>,
    /// What its command depends on, once somebody was asked about it.
    pub(crate) pinned: Option<Arc<Pinned>>,
    /// What an override of the owner's said in place of a permission.
    pub(crate) overridden: Option<Decision>,
    pub(crate) permit: Option<Permit>,
    /// Its place among the running calls; empty while a person is waited for.
    pub(crate) slot: Arc<Mutex<Option<Arc<Slot>>>>,
    pub(crate) context: Option<ToolContext>,
}

impl Call {
    /// The tool, once `resolve` has found it.
    pub fn tool(&self) -> Result<&Arc<Entry>, ToolError> {
        self.tool.as_ref().ok_or_else(|| ToolError::internal("`resolve` did not run"))
    }

    /// The decoded call, once `validate` has made it.
    pub fn planned(&self) -> Result<&Planned, ToolError> {
        self.planned.as_ref().ok_or_else(|| ToolError::internal("`validate` did not run"))
    }

    /// Refuses if the call is stopped before `wait` is done.
    pub(crate) async fn unless_stopped<T>(
        live: &Live,
        wait: impl Future<Output = T>,
    ) -> Result<T, ToolError> {
        let stopped = || live.check().and(Err(ToolError::Cancelled));
        if live.cancellation().is_cancelled() {
            return stopped();
        }
        // What is there at once needs nobody who listens.
        tokio::select! {
            biased;
            value = wait => Ok(value),
            () = live.cancellation().cancelled() => stopped(),
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} of `{}`", self.id, self.name)
    }
}

/// Where a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A model, a program, a script.
    Caller,
    /// A person, about an operation of the gate's own.
    Person,
}

/// A decoded call. Fields are private so that digest, plan and runnable object stay together.
pub struct Planned {
    args: Arc<Value>,
    fingerprint: tool::Digest,
    workspace: Option<Arc<str>>,
    plan: Arc<Plan>,
    prepared: Box<dyn Prepared>,
}

impl Planned {
    pub(crate) fn new(
        args: Arc<Value>,
        fingerprint: tool::Digest,
        plan: Arc<Plan>,
        prepared: Box<dyn Prepared>,
    ) -> Self {
        Self { args, fingerprint, workspace: None, plan, prepared }
    }

    /// The same, working on files beneath `folder`.
    pub(crate) fn within(mut self, folder: &Path) -> Self {
        self.workspace = Some(folder.to_string_lossy().into());
        self
    }

    /// The root folder it works in, if it works on files.
    pub const fn workspace(&self) -> Option<&Arc<str>> {
        self.workspace.as_ref()
    }

    /// The arguments, as decoded.
    pub fn args(&self) -> &Arc<Value> {
        &self.args
    }

    /// What the call needs.
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Names this exact call: tool, arguments, workspace.
    pub const fn fingerprint(&self) -> tool::Digest {
        self.fingerprint
    }

    pub(crate) fn into_prepared(self) -> Box<dyn Prepared> {
        self.prepared
    }
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.fingerprint, self.plan)
    }
}

/// A hook gave a call other arguments.
#[derive(Debug, Clone)]
pub struct ArgumentRewrite {
    /// Who did: `hook:NAME`.
    pub by: String,
    /// The arguments until then.
    pub before: Arc<Value>,
}

/// What the stages learnt about a call so far.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// Canonical name of the tool, once found.
    pub tool: Option<Arc<str>>,
    /// The arguments, as they are best known.
    pub input: Arc<Value>,
    /// The arguments before each rewrite, oldest first.
    pub rewrites: Vec<ArgumentRewrite>,
    /// The root folder it works in, if it works on files.
    pub workspace: Option<Arc<str>>,
    /// What it needs.
    pub plan: Option<Arc<Plan>>,
    /// The effects of the plan.
    pub effects: Effects,
    /// What was decided.
    pub decision: Option<Decision>,
    /// The person's answer it rests on.
    pub approval: Option<String>,
    /// Where it ran.
    pub place: Option<Place>,
    /// How it was isolated, if it ran a command in the sandbox.
    pub isolation: Option<Arc<Isolation>>,
    /// Untrusted files it may read.
    pub(crate) suspects: Vec<Suspect>,
}

/// [`Learnt`], shared between the stages; and when the call began.
#[derive(Debug)]
pub struct Learning {
    started: Instant,
    started_at: SystemTime,
    learnt: Mutex<Learnt>,
}

impl Learning {
    pub(crate) const fn new(input: Arc<Value>, started: Instant, started_at: SystemTime) -> Self {
        let learnt = Learnt {
            tool: None,
            input,
            rewrites: Vec::new(),
            workspace: None,
            plan: None,
            effects: Effects::NONE,
            decision: None,
            approval: None,
            place: None,
            isolation: None,
            suspects: Vec::new(),
        };
        Self { started, started_at, learnt: Mutex::new(learnt) }
    }

    /// When the call began, by the clock that never goes back.
    pub(crate) const fn started(&self) -> Instant {
        self.started
    }

    /// How long ago the call began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// When the call began.
    pub const fn started_at(&self) -> SystemTime {
        self.started_at
    }

    /// What is known now; also the way to add to it.
    pub fn now(&self) -> MutexGuard<'_, Learnt> {
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
