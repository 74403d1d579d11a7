//! The `exec` capability: commands, and processes that go on after their call.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    BoxFuture, CallId, Caller, ChangeLog, Changed, Effect, Live, Named, Pinned, Place, Plan,
    Review, Run, ToolError, Updates,
};

/// Runs commands.
pub trait Exec: fmt::Debug + Send + Sync {
    /// Runs a command to its end. What it changed in the workspace is there afterwards, as far as
    /// the review keeps it, all of that or none.
    fn run<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>>;

    /// Runs a command at the terminal of the person who started us, to its end.
    fn interact<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>>;

    /// Shows the review what an earlier [`Exec::interact`] changed and nobody decided about, and
    /// commits what it keeps. `held` is the call that ran the command. Fails if nothing waits there.
    fn resume<'a>(
        &'a self,
        held: CallId,
        start: Start<'a>,
    ) -> BoxFuture<'a, Result<Ran, ToolError>> {
        let _ = start;
        let refused = ToolError::failed(format!("no changes of a run `{held}` wait here"));
        Box::pin(std::future::ready(Err(refused)))
    }

    /// What the command depends on now besides its own words; `scripts` are the files it may name to
    /// be executed.
    fn pin<'a>(
        &'a self,
        caller: &'a Caller,
        run: &'a Run,
        scripts: &'a [Named],
    ) -> BoxFuture<'a, Result<Pinned, ToolError>>;

    /// Starts a command that goes on after its call.
    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Arc<dyn Process>, ToolError>>;

    /// The processes of an agent, oldest first; finished ones are kept for a while.
    fn processes(&self, caller: &Caller) -> Vec<Arc<dyn Process>>;

    /// Forgets a finished process of this agent; false if it still runs or is not there.
    fn forget(&self, caller: &Caller, id: &str) -> bool;
}

/// A command that is about to run.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// What was planned.
    pub run: &'a Run,
    /// How.
    pub how: How,
    /// For which call.
    pub call: CallId,
    /// On whose behalf.
    pub caller: &'a Caller,
    /// Whether it still may.
    pub live: &'a Arc<Live>,
    /// Where changes are recorded before they happen.
    pub log: &'a Arc<dyn ChangeLog>,
    /// Where output goes as it comes.
    pub updates: &'a Updates,
    /// Who looks at what it changed.
    pub review: &'a Arc<dyn Review>,
    /// What it depended on when a person agreed to it; if that changed, it must not run.
    pub pinned: Option<&'a Arc<Pinned>>,
}

/// How a command runs, besides what the plan says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How {
    /// It is ended after this.
    pub timeout: Duration,
    /// What it reads and writes.
    pub terminal: Terminal,
}

/// What a command reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminal {
    /// Pipes.
    #[default]
    No,
    /// A terminal of its own.
    Yes,
}

/// Which of its outputs a process wrote to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What a command wrote: the beginning and the end of it, in the order it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// Pieces of the beginning.
    pub head: Vec<(Stream, Vec<u8>)>,
    /// How many bytes between the two were left out.
    pub left_out: u64,
    /// Pieces of the end.
    pub tail: Vec<(Stream, Vec<u8>)>,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ended {
    /// What it returned, if it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Why it was ended, if it did not end by itself: `timeout`, `memory`, `written`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_for: Option<String>,
    /// How long it ran.
    #[serde(skip)]
    pub took: Duration,
    /// Processor time of all its processes.
    #[serde(skip)]
    pub cpu: Duration,
    /// The most memory it had.
    #[serde(skip)]
    pub max_rss_bytes: u64,
}

/// What came of a command.
#[derive(Debug, Clone)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it wrote.
    pub output: Captured,
    /// Where it ran.
    pub place: Place,
    /// What it changed in the workspace.
    pub changed: Vec<Changed>,
    /// What else a model and a person should know, such as changes that were dropped.
    pub notes: Vec<String>,
}

/// A process that goes on after its call. It belongs to one agent.
pub trait Process: fmt::Debug + Send + Sync {
    /// Names it.
    fn id(&self) -> &str;
    /// What is known about it now.
    fn status(&self) -> ProcessStatus;
    /// What it wrote, from byte `from` on, at most `max` bytes; both outputs as they came.
    fn output(&self, from: u64, max: usize) -> OutputPart;
    /// Sends it input. Fails if it takes none any more.
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>>;
    /// Tells it that there will be no more input.
    fn close_input(&self) -> Result<(), ToolError>;
    /// Ends it, with everything it started.
    fn kill(&self) -> Result<(), ToolError>;
    /// Returns once it wrote more than `seen` bytes, or ended.
    fn changed(&self, seen: u64) -> BoxFuture<'_, ()>;
}

/// What is known about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStatus {
    /// The command.
    pub command: String,
    /// Where it started.
    pub cwd: String,
    /// Where it runs.
    pub place: Place,
    /// Its number on this machine.
    pub pid: u32,
    /// How long it runs or ran.
    pub age: Duration,
    /// How it ended, if it did.
    pub ended: Option<Ended>,
    /// How many bytes it wrote.
    pub written: u64,
    /// Whether it has a terminal.
    pub terminal: Terminal,
    /// What else is to be known about what it did.
    pub notes: Vec<String>,
}

/// A part of what a process wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputPart {
    /// The first byte of it; later than asked for if what was before is no longer kept.
    pub from: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many it wrote in all.
    pub written: u64,
}

/// The commands one call planned to run; any other is refused.
#[derive(Debug, Clone)]
pub struct Commands {
    pub(crate) call: CallId,
    pub(crate) caller: Arc<Caller>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) live: Arc<Live>,
    pub(crate) exec: Option<Execution>,
    pub(crate) log: Arc<dyn ChangeLog>,
    pub(crate) updates: Updates,
}

/// What a call runs its command with.
#[derive(Debug, Clone)]
pub struct Execution {
    /// What runs it.
    pub exec: Arc<dyn Exec>,
    /// Who looks at what it changed.
    pub review: Arc<dyn Review>,
    /// What it depended on when a person agreed to it.
    pub pinned: Option<Arc<Pinned>>,
}

impl Commands {
    /// Runs the planned command to its end.
    pub async fn run(&self, how: How) -> Result<Ran, ToolError> {
        let (with, run) = self.planned()?;
        self.live.check()?;
        let ran = with.exec.run(self.start_of(with, run, how)).await?;
        self.live.note(&ran.changed);
        Ok(ran)
    }

    /// Runs the planned command at the person's own terminal; they look at what it changed.
    pub async fn interact(&self, how: How, review: &Arc<dyn Review>) -> Result<Ran, ToolError> {
        let (with, run) = self.planned()?;
        self.live.check()?;
        let start = Start { review, ..self.start_of(with, run, how) };
        let ran = with.exec.interact(start).await?;
        self.live.note(&ran.changed);
        Ok(ran)
    }

    /// Lets the person decide about what the planned command changed in an earlier call.
    pub async fn resume(
        &self,
        held: CallId,
        how: How,
        review: &Arc<dyn Review>,
    ) -> Result<Ran, ToolError> {
        let (with, run) = self.planned()?;
        self.live.check()?;
        let start = Start { review, ..self.start_of(with, run, how) };
        let ran = with.exec.resume(held, start).await?;
        self.live.note(&ran.changed);
        Ok(ran)
    }

    /// Starts the planned command, which goes on after the call.
    pub async fn start(&self, how: How) -> Result<Arc<dyn Process>, ToolError> {
        let (with, run) = self.planned()?;
        self.live.check()?;
        let process = with.exec.start(self.start_of(with, run, how)).await?;
        Ok(self.guarded(process))
    }

    /// The processes of this agent, oldest first.
    pub fn processes(&self) -> Result<Vec<Arc<dyn Process>>, ToolError> {
        let all = self.exec()?.exec.processes(&self.caller);
        Ok(all.into_iter().map(|process| self.guarded(process)).collect())
    }

    /// Forgets a finished process of this agent.
    pub fn forget(&self, id: &str) -> Result<bool, ToolError> {
        may_act(&self.plan)?;
        Ok(self.exec()?.exec.forget(&self.caller, id))
    }

    fn guarded(&self, process: Arc<dyn Process>) -> Arc<dyn Process> {
        Arc::new(Guarded { process, plan: self.plan.clone(), live: self.live.clone() })
    }

    fn exec(&self) -> Result<&Execution, ToolError> {
        self.exec.as_ref().ok_or_else(|| {
            ToolError::denied("plan", "uses", "this tool does not say that it runs commands")
        })
    }

    fn planned(&self) -> Result<(&Execution, &Run), ToolError> {
        let run = self.plan.command().ok_or_else(|| {
            ToolError::denied("plan", "plan", "this call did not plan to run a command")
        })?;
        Ok((self.exec()?, run))
    }

    fn start_of<'a>(&'a self, with: &'a Execution, run: &'a Run, how: How) -> Start<'a> {
        let Self { call, caller, plan: _, live, exec: _, log, updates } = self;
        let Execution { exec: _, review, pinned } = with;
        let pinned = pinned.as_ref();
        Start { run, how, call: *call, caller, live, log, updates, review, pinned }
    }
}

/// A process, as far as a call planned to deal with it: looking is free, touching is not.
#[derive(Debug)]
struct Guarded {
    process: Arc<dyn Process>,
    plan: Arc<Plan>,
    live: Arc<Live>,
}

impl Guarded {
    fn touch(&self) -> Result<(), ToolError> {
        may_act(&self.plan)?;
        self.live.check()
    }
}

fn may_act(plan: &Plan) -> Result<(), ToolError> {
    if plan.effects().contains(Effect::Act) {
        return Ok(());
    }
    Err(ToolError::denied("plan", "plan", "this call did not plan to touch a process"))
}

impl Process for Guarded {
    fn id(&self) -> &str {
        self.process.id()
    }

    fn status(&self) -> ProcessStatus {
        self.process.status()
    }

    fn output(&self, from: u64, max: usize) -> OutputPart {
        self.process.output(from, max)
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
        match self.touch() {
            Ok(()) => self.process.write(bytes),
            Err(refused) => Box::pin(std::future::ready(Err(refused))),
        }
    }

    fn close_input(&self) -> Result<(), ToolError> {
        self.touch()?;
        self.process.close_input()
    }

    fn kill(&self) -> Result<(), ToolError> {
        self.touch()?;
        self.process.kill()
    }

    fn changed(&self, seen: u64) -> BoxFuture<'_, ()> {
        self.process.changed(seen)
    }
}
