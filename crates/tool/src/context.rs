//! What a running call may touch.

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use crate::{
    CallId, Caller, ChangeLog, Clock, Commands, Configuration, Conversations, Disk, Execution,
    Files, Live, Need, Net, Notebook, OwnData, Plan, Redact, TaskList, ToolError, Updates, Web,
    own_data::Desk,
};

/// What the gate builds a context from.
#[derive(Debug)]
#[expect(missing_docs, reason = "the types say it")]
pub struct ContextParts {
    pub call: CallId,
    pub caller: Arc<Caller>,
    pub plan: Arc<Plan>,
    pub live: Arc<Live>,
    pub deadline: Instant,
    pub clock: Arc<dyn Clock>,
    pub updates: Updates,
    pub redact: Arc<dyn Redact>,
    /// `None` unless the tool says that it uses files.
    pub disk: Option<Arc<dyn Disk>>,
    /// `None` unless the tool says that it uses the network.
    pub net: Option<Arc<dyn Net>>,
    /// `None` unless the tool says that it runs commands.
    pub exec: Option<Execution>,
    pub own: Arc<dyn OwnData>,
    pub log: Arc<dyn ChangeLog>,
}

/// The world, cut down to what one permitted call planned.
#[derive(Debug)]
pub struct ToolContext {
    call: CallId,
    caller: Arc<Caller>,
    live: Arc<Live>,
    deadline: Instant,
    clock: Arc<dyn Clock>,
    updates: Updates,
    redact: Arc<dyn Redact>,
    files: Files,
    web: Web,
    commands: Commands,
    own: Arc<dyn OwnData>,
}

impl ToolContext {
    /// Only the gate builds one, after it has redeemed a permit; a lint keeps everybody else out.
    pub fn new(parts: ContextParts) -> Self {
        let ContextParts {
            call,
            caller,
            plan,
            live,
            deadline,
            clock,
            updates,
            redact,
            disk,
            net,
            exec,
            own,
            log,
        } = parts;
        let commands = Commands {
            call,
            caller: caller.clone(),
            plan: plan.clone(),
            live: live.clone(),
            exec,
            log: log.clone(),
            updates: updates.clone(),
        };
        let web = Web { plan: plan.clone(), live: live.clone(), net };
        let files = Files { call, plan, live: live.clone(), disk, log };
        Self { call, caller, live, deadline, clock, updates, redact, files, web, commands, own }
    }

    /// Id of the call.
    pub const fn call(&self) -> CallId {
        self.call
    }

    /// On whose behalf it runs.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The planned files.
    pub const fn files(&self) -> &Files {
        &self.files
    }

    /// The planned URLs.
    pub const fn net(&self) -> &Web {
        &self.web
    }

    /// The planned command, and the processes of the agent.
    pub const fn exec(&self) -> &Commands {
        &self.commands
    }

    /// The notes of the user, as planned.
    pub fn notes(&self) -> Result<Notebook, ToolError> {
        Ok(Notebook { notes: self.own.notes(&self.caller)?, desk: self.desk() })
    }

    /// The tasks of the user, as planned.
    pub fn tasks(&self) -> Result<TaskList, ToolError> {
        Ok(TaskList { tasks: self.own.tasks(&self.caller)?, desk: self.desk() })
    }

    /// The conversations of agents, as planned.
    pub fn sessions(&self) -> Conversations {
        Conversations { sessions: self.own.sessions(), desk: self.desk() }
    }

    /// The configuration, as planned.
    pub fn gateway(&self) -> Configuration {
        Configuration { gateway: self.own.gateway(), desk: self.desk() }
    }

    /// Makes a planned change of our own data. Once it has begun it goes on to its end, and the call
    /// does not end before.
    pub async fn keep<T: Send + 'static>(
        &self,
        need: &Need,
        change: impl Future<Output = Result<T, ToolError>> + Send + 'static,
    ) -> Result<T, ToolError> {
        self.desk().keep(need, change).await
    }

    fn desk(&self) -> Desk {
        Desk { call: self.call, plan: self.files.plan.clone(), live: self.live.clone() }
    }

    /// The current time.
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// When the call's time is up.
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether the call may go on.
    pub const fn live(&self) -> &Arc<Live> {
        &self.live
    }

    /// Takes secrets out of text that is about to be cut. What is not cut needs no care.
    pub const fn redact(&self) -> &Arc<dyn Redact> {
        &self.redact
    }

    /// Reports a partial result.
    pub async fn update(&self, text: &str) {
        self.updates.send(text).await;
    }

    /// Runs work that takes a while, where it holds up no other call.
    ///
    /// A thread cannot be ended from outside: `work` asks [`Live::check`] often enough to stop within
    /// a second. Until it has stopped, the call keeps its slot and counts as running.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Live) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let live = self.live.clone();
        live.check()?;
        let slot = live.worker();
        let work = move || {
            let result = work(&live);
            drop(slot);
            result
        };
        tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)?
    }
}
