//! The one way to call a tool.

use std::{
    fmt,
    sync::{Arc, PoisonError},
    time::Instant,
};

use config::Config;
use policy::{ConfigWarning, Explanation, Rules, explain};
use serde_json::{Value, json};
use store::{Db, EmergencyFile, Journal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tool::{
    CallId, Caller, Capability, Digest, Live, Outcome, Prepared, Role, ToolError, ToolInfo, Updates,
};

use crate::{
    call::{Call, Learning, Origin, Planned},
    check::{Check, check, check_openly},
    outcome::meta,
    own::{Operation, own_entry},
    pipeline::Pipeline,
    redactor::Redactor,
    registry::{Entry, Registry},
    reload::{Reloaded, reload_tool},
    settings::Settings,
    shared::Shared,
    short,
    stages::{
        Approve, Contain, Deadline, Hooks, Permission, RateLimit, Record, Redact, Resolve, Reuse,
        Shape, SlotStage, Validate,
    },
    stats::Stats,
    turn::{Batch, Turn},
    underway::Underway,
    undo::{Undo, undo_tool},
    views::View,
};

/// The order of the stages, written once.
pub fn standard(shared: &Arc<Shared>) -> Pipeline {
    Pipeline::default()
        // Outermost, so that refusals are recorded too.
        .then(Record(shared.clone()))
        // Around everything, so that errors, panics and what goes into the journal are bounded too.
        .then(Shape(shared.clone()))
        // Inside shape, so that a cut cannot hide half a secret.
        .then(Redact(shared.clone()))
        // Before anything looks at the arguments: nothing is learnt about a tool that is not yours.
        .then(Resolve(shared.clone()))
        // Before hooks spawn anything and before people are disturbed.
        .then(RateLimit(shared.clone()))
        // Before validate, because a hook may rewrite the arguments.
        .then(Hooks(shared.clone()))
        // Before anybody is asked about a call that cannot run.
        .then(Validate(shared.clone()))
        // Before approve: a call whose capability is withheld is not put up for approval.
        .then(Permission(shared.clone()))
        // Last of the checks: the permit it issues is for what will run, byte for byte.
        .then(Approve(shared.clone()))
        // After approve: a result used again is still the answer to an authorised call.
        .then(Reuse(shared.clone()))
        // After approve: waiting for a person holds no slot.
        .then(SlotStage(shared.clone()))
        // After slot: waiting for a person or a slot does not use up the tool's time.
        .then(Deadline(shared.clone()))
        // Innermost: what runs was decided now, and a panic ends the tool, not the stages around it.
        .then(Contain(shared.clone()))
}

/// A call as a surface hands it in.
#[derive(Debug, Clone)]
pub struct Request {
    /// Tool name as the caller wrote it.
    pub name: String,
    /// Arguments as the caller wrote them, or why they cannot be read.
    pub args: Result<Value, String>,
    /// The id the model's provider gave it, if any.
    pub provider_call_id: Option<String>,
    /// The message of a conversation that asks for it, if one does.
    pub message_id: Option<String>,
    /// Where partial results go.
    pub updates: Updates,
    /// Stops the call.
    pub cancel: CancellationToken,
    /// The id it gets, from [`Gate::next_id`], for whoever must know it before the call ends.
    pub id: Option<CallId>,
}

impl Request {
    /// A call of `name`.
    pub fn new(name: &str, args: Value) -> Self {
        Self::with(name, Ok(args))
    }

    /// A call of `name` with arguments as text. What is not JSON, or has a key twice, is refused by
    /// the gate like any other wrong arguments.
    pub fn from_text(name: &str, args: &str) -> Self {
        match args.trim() {
            "" => Self::new(name, Value::Null),
            text => Self::with(
                name,
                tool::parse_json(text)
                    .map_err(|problem| format!("the arguments cannot be read as JSON: {problem}")),
            ),
        }
    }

    /// A call of `name` with arguments that somebody else has read.
    pub fn with(name: &str, args: Result<Value, String>) -> Self {
        Self {
            name: name.to_owned(),
            args,
            provider_call_id: None,
            message_id: None,
            updates: Updates::default(),
            cancel: CancellationToken::new(),
            id: None,
        }
    }
}

/// Every call passes here, whatever surface it came by.
#[derive(Clone)]
pub struct Gate {
    pipeline: Arc<Pipeline>,
    shared: Arc<Shared>,
    undo: Arc<Entry>,
    reload: Arc<Entry>,
}

impl Gate {
    /// A gate with `shared` behind the stages that `stages` puts in order, normally [`standard`].
    pub fn new(shared: Shared, stages: impl FnOnce(&Arc<Shared>) -> Pipeline) -> Self {
        let shared = Arc::new(shared);
        let (undo, reload) = (own_entry(undo_tool()), own_entry(reload_tool()));
        Self { pipeline: Arc::new(stages(&shared)), shared, undo, reload }
    }

    /// Calls the tool `name` for `caller`. Every call has exactly one outcome.
    pub async fn call(&self, caller: &Caller, name: &str, args: Value) -> Outcome {
        self.run(caller, Request::new(name, args)).await
    }

    /// Calls a tool. Dropping the future stops the call, and its outcome is still recorded.
    pub async fn run(&self, caller: &Caller, request: Request) -> Outcome {
        self.start(self.new_call(Arc::new(caller.clone()), request, None)).await
    }

    /// Runs the calls of one request: together while they change nothing, in order where they do.
    /// Outcomes are in request order.
    pub async fn run_all(&self, caller: &Caller, requests: Vec<Request>) -> Vec<Outcome> {
        self.run_all_telling(caller, requests, |_, _| ()).await
    }

    /// The same; `ended` is told of each outcome, with the number of its request, when it is there.
    pub async fn run_all_telling(
        &self,
        caller: &Caller,
        requests: Vec<Request>,
        ended: impl Fn(usize, &Outcome),
    ) -> Vec<Outcome> {
        let (caller, ended) = (Arc::new(caller.clone()), &ended);
        let turns = Batch::places(requests.len());
        let calls = requests.into_iter().zip(turns).enumerate();
        let calls = calls.map(|(number, (request, turn))| {
            let call = self.start(self.new_call(caller.clone(), request, Some(turn)));
            async move {
                let outcome = call.await;
                ended(number, &outcome);
                outcome
            }
        });
        futures_util::future::join_all(calls).await
    }

    /// Takes back all that a call changed, or nothing of it: files, notes, tasks. A person's operation, recorded like any call.
    pub async fn undo(&self, caller: &Caller, undone: CallId) -> Outcome {
        let args = json!({"call_id": undone});
        match self.prepare_undo(caller, undone).await {
            Ok((owner_of_files, planned)) => {
                self.run_own(owner_of_files, &self.undo, args, Ok(planned)).await
            }
            Err(error) => self.run_own(caller.clone(), &self.undo, args, Err(error)).await,
        }
    }

    /// Does what a person asked for themselves: recorded like any call, asked about no more.
    pub async fn perform(&self, caller: &Caller, operation: Operation) -> Outcome {
        let Operation { info, args, prepared } = operation;
        let uses_files = info.uses.contains(&Capability::Files);
        let disk = uses_files.then(|| self.shared.world.disk(caller)).transpose();
        let name = info.name.clone();
        let planned = disk.map(|disk| {
            let identity = disk.as_ref().map_or("", |disk| disk.identity());
            let fingerprint = Digest::of(json!([&*name, identity, args]).to_string());
            let plan = Arc::new(prepared.plan());
            let planned = Planned::new(Arc::new(args.clone()), fingerprint, plan, prepared);
            match disk {
                Some(disk) => planned.within(disk.folder()),
                None => planned,
            }
        });
        self.run_own(caller.clone(), &own_entry(info), args, planned).await
    }

    /// Records that a changed configuration was taken over, or why not.
    pub async fn record_reload(&self, file: &str, taken: Result<(), String>) -> Outcome {
        let args = Arc::new(json!({"file": file}));
        let planned = taken.map_err(|problem| ToolError::failed(&problem)).map(|()| {
            let fingerprint = Digest::of(json!(["reload", args]).to_string());
            Planned::new(args.clone(), fingerprint, Arc::default(), Box::new(Reloaded))
        });
        let args = Value::clone(&args);
        self.run_own(Caller::owner("main"), &self.reload, args, planned).await
    }

    /// Through the same stages as every call.
    async fn run_own(
        &self,
        caller: Caller,
        tool: &Arc<Entry>,
        args: Value,
        planned: Result<Planned, ToolError>,
    ) -> Outcome {
        let request = Request::new(&tool.info().name, args);
        let mut call = self.new_call(Arc::new(caller), request, None);
        call.origin = Origin::Person;
        call.tool = Some(tool.clone());
        call.own = Some(planned);
        self.start(call).await
    }

    /// What would happen to a call, and why. Runs nothing.
    pub async fn check(&self, caller: &Caller, name: &str, args: &Value) -> Check {
        check(&self.shared, caller, name, args).await
    }

    /// The same for whoever owns the policy: names the rule that takes a tool away.
    pub async fn check_openly(&self, caller: &Caller, name: &str, args: &Value) -> Check {
        check_openly(&self.shared, caller, name, args).await
    }

    /// The tools; they may be added and removed while calls run.
    pub fn registry(&self) -> &Registry {
        &self.shared.registry
    }

    /// What `caller` has.
    pub fn view(&self, caller: &Caller) -> Arc<View> {
        self.shared.view(caller)
    }

    /// Why `caller` has the tool `name` or does not; also of tools that are not built yet. `None` if
    /// nobody knows such a tool.
    pub fn explain(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let own = self.explain_alone(caller, name)?;
        let above = caller.parent.as_ref().and_then(|parent| self.explain(parent, name));
        Some(match above {
            Some(above) => own.below(&above),
            None => own,
        })
    }

    fn explain_alone(&self, caller: &Caller, name: &str) -> Option<Explanation> {
        let snapshot = self.shared.registry.snapshot();
        let rules = Rules::new(&self.shared.settings.load().config, caller);
        if let Some(entry) = snapshot.find(name) {
            let missing = snapshot.unavailable(&entry.info().name);
            return Some(explain(&rules, entry.info(), missing));
        }
        let planned = policy::planned().into_iter().find(|tool| policy::matches(name, tool))?;
        Some(explain(&rules, &planned, Some("it is not part of this build yet")))
    }

    /// Every tool that a configuration may name: the registered ones, and those that are not built yet.
    pub fn nameable_tools(&self) -> Vec<ToolInfo> {
        let snapshot = self.shared.registry.snapshot();
        let built = snapshot.tools().map(|entry| ToolInfo::clone(entry.info()));
        built.chain(policy::planned()).collect()
    }

    /// Rules of the configuration that have no effect.
    pub fn warnings(&self) -> Vec<ConfigWarning> {
        let tools = self.nameable_tools();
        let tools: Vec<_> = tools.iter().collect();
        policy::config_warnings(&self.shared.settings.load().config, &tools)
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Whether everything is stopped, and the way to say so.
    pub fn emergency(&self) -> &Arc<EmergencyFile> {
        self.shared.alarm.file()
    }

    /// The untrusted content that the session of `caller` has read, oldest first.
    pub async fn sources(&self, caller: &Caller) -> Result<Arc<[String]>, ToolError> {
        self.shared.trust.sources(&self.shared.db, caller).await
    }

    /// What the session of `from` says goes to that of `to`: so does what untrusted content it rests on.
    pub async fn inherit_sources(&self, from: &Caller, to: &Caller) -> Result<(), ToolError> {
        let Shared { trust, db, .. } = &*self.shared;
        let (read, known) = (trust.sources(db, from).await?, trust.sources(db, to).await?);
        let (stored, now) = (db.get().await?, self.shared.world.clock().now());
        for source in read.iter().filter(|source| !known.contains(source)) {
            stored.remember_source(to, source, self.shared.ids.next(), now).await?;
        }
        trust.forget_sources(to);
        Ok(())
    }

    /// From now on the session of `caller` has read something that nobody here vouches for.
    pub async fn distrust(&self, caller: &Caller, source: &str) -> Result<(), ToolError> {
        let Shared { trust, db, .. } = &*self.shared;
        let now = self.shared.world.clock().now();
        db.get().await?.remember_source(caller, source, self.shared.ids.next(), now).await?;
        trust.forget_sources(caller);
        Ok(())
    }

    /// Approvals and permissions.
    pub async fn db(&self) -> Result<&Db, ToolError> {
        Ok(self.shared.db.get().await?)
    }

    /// Replaces the configuration. Calls that wait are decided again before they run.
    pub fn configure(&self, config: Config, redactor: Redactor) {
        let mut next = Settings::new(config, redactor, 0);
        // Two at once must not get the same number: a call would not notice the second.
        let mut changing = self.shared.changing.lock().unwrap_or_else(PoisonError::into_inner);
        *changing += 1;
        next.generation = *changing;
        self.shared.settings.store(Arc::new(next));
        self.shared.registry.refresh();
    }

    /// Told whenever tools come or go, or the configuration changes.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.shared.registry.changes()
    }

    /// The configuration that holds now.
    pub fn config(&self) -> Arc<Config> {
        self.shared.settings.load().config.clone()
    }

    /// An id for a call that is about to be made; see [`Request::id`].
    pub fn next_id(&self) -> CallId {
        self.shared.ids.next()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// What the gate is doing.
    pub fn stats(&self) -> Stats {
        let (running, waiting) = self.shared.slots.counts();
        let (cache_entries, cache_hits, cache_misses) = self.shared.cache.counts();
        Stats {
            running,
            waiting,
            open_questions: self.shared.questions.all(),
            unrecorded: self.shared.refusals.unrecorded(),
            cache_entries,
            cache_hits,
            cache_misses,
        }
    }

    /// The names of the stages in order.
    pub fn stages(&self) -> Vec<&'static str> {
        self.pipeline.names()
    }

    /// The plan, and the person as they act: with the agent and the session whose files these are.
    async fn prepare_undo(
        &self,
        caller: &Caller,
        undone: CallId,
    ) -> Result<(Caller, Planned), ToolError> {
        let journal = self.shared.journal.clone();
        let found = tokio::task::spawn_blocking(move || {
            Ok::<_, store::StoreError>((journal.entry(undone)?, journal.changes(undone)?))
        });
        let (entry, records) = found.await.map_err(ToolError::internal)??;
        let own =
            |entry: &store::Entry| caller.role == Role::Owner || *entry.user_id == *caller.user;
        let Some(entry) = entry.filter(own) else {
            let problem = format!("there is no call `{undone}`; `toolgate history` lists them");
            return Err(ToolError::invalid("undo", "call_id", problem));
        };
        let rows = self.shared.db.get().await?.undoable_rows(undone).await?;
        let undo = Undo::new(undone, &records, rows, self.shared.db.clone());
        if undo.is_empty() {
            let problem = "that call changed no files, notes or tasks: there is nothing to undo";
            return Err(ToolError::invalid("undo", "call_id", problem));
        }
        // As the user whose files these are; who did it is kept beside.
        let sender = (*entry.user_id != *caller.user).then(|| caller.user.clone());
        let caller = Caller {
            user: entry.user_id.into(),
            agent: entry.agent.into(),
            session: entry.session.into(),
            sender: sender.or_else(|| caller.sender.clone()),
            ..caller.clone()
        };
        let disk = self.shared.world.disk(&caller)?;
        let fingerprint = Digest::of(json!(["undo", disk.identity(), undone]).to_string());
        let plan = Arc::new(undo.plan());
        let args = Arc::new(json!({"call_id": undone}));
        let planned = Planned::new(args, fingerprint, plan, Box::new(undo));
        Ok((caller, planned.within(disk.folder())))
    }

    fn new_call(&self, caller: Arc<Caller>, request: Request, turn: Option<Turn>) -> Call {
        let Request { name, args, provider_call_id, message_id, updates, cancel, id } = request;
        let name = short::name(name, &self.shared);
        // In a conversation the model's provider chose it, and what was interrupted is found by it.
        let shorten = |id| if message_id.is_some() { id } else { short::id(id) };
        let own = args.as_ref().err().map(|problem| Err(ToolError::invalid(&name, "", problem)));
        let args = Arc::new(args.unwrap_or_default());
        let started_at = self.shared.world.clock().now();
        Call {
            id: id.unwrap_or_else(|| self.shared.ids.next()),
            provider_call_id: provider_call_id.map(shorten),
            message_id: message_id.map(short::id),
            caller,
            name,
            live: Arc::new(Live::new(cancel)),
            updates,
            learnt: Arc::new(Learning::new(args.clone(), Instant::now(), started_at)),
            args,
            origin: Origin::Caller,
            turn,
            entry: None,
            tool: None,
            generation: 0,
            deadline: None,
            own,
            planned: None,
            unasked: false,
            asked: false,
            lacking: Vec::new(),
            pinned: None,
            overridden: None,
            permit: None,
            slot: Arc::default(),
            context: None,
        }
    }

    /// Whoever waits may go away, or look elsewhere for a while, and the call still goes on and gets its
    /// outcome: in a task of its own, unless it is over before that.
    async fn start(&self, call: Call) -> Outcome {
        let (id, name) = (call.id, call.name.clone());
        let (learnt, live) = (call.learnt.clone(), call.live.clone());
        // Boxed once: it is handed from stage to stage.
        let (pipeline, call) = (self.pipeline.clone(), Box::new(call));
        let stop = live.cancellation().clone().drop_guard();
        let stages = Box::pin(async move { pipeline.run(call).await });
        let result = Underway::new(&self.shared.soon, stages).await;
        stop.disarm();
        if let Err(error) = &result
            && let Some(detail) = error.operator_detail()
        {
            tracing::warn!(call = %id, tool = name, error = error.kind(), detail, "the call failed");
        }
        let found = learnt.now().tool.clone();
        let settings = self.shared.settings.load();
        let name =
            found.map_or_else(|| settings.redactor.text(&name).into_owned(), |n| n.to_string());
        Outcome::new(&name, result, meta(id, &learnt, &live))
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("stages", &self.pipeline.names()).finish_non_exhaustive()
    }
}
