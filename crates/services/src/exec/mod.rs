//! Runs commands: in the sandbox, on an overlay of the workspace, or in the background; and on the
//! host itself, where somebody allowed it.

mod argv;
mod background;
mod capture;
mod credential_masks;
mod direct;
mod egress;
mod environment;
mod filter;
mod foreground;
mod git;
mod heard;
mod host;
mod identity;
mod interactive;
mod job;
mod keep;
mod pin;
mod problem;
mod processes;
mod pump;
mod reachable;
mod refusals;
mod settings;
mod steps;
mod temp_bound;
mod toolchains;
mod watch;
mod workdir;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use config::Config;
use sandbox::{Level, Report, Sandbox, SandboxError, SandboxSettings, SandboxStats};
use tool::{
    BoxFuture, CallId, Caller, Exec, How, Isolation, IsolationLevel, Named, Pinned, Place, Process,
    Ran, Run, Start, ToolError,
};
use world::World;

use self::{
    processes::Processes,
    settings::RunSettings,
    temp_bound::{SessionTemp, TempBound},
};

pub use host::refuse_outside;

/// Runs commands for every agent.
#[derive(Debug)]
pub struct Runner {
    sandbox: Sandbox,
    world: Arc<World>,
    settings: ArcSwap<RunSettings>,
    processes: Arc<Processes>,
    temp_bound: Arc<TempBound>,
}

/// What a runner is doing, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunnerStats {
    /// Launchers that wait for a command.
    pub parked: usize,
    /// Commands that run.
    pub running: usize,
    /// Commands that were started since the process was.
    pub jobs: u64,
    /// Background processes that run.
    pub processes: usize,
}

impl Runner {
    /// Starts nothing yet.
    pub fn new(world: Arc<World>, config: &Config) -> Self {
        Self {
            sandbox: Sandbox::new(SandboxSettings::default()),
            world,
            settings: ArcSwap::from_pointee(RunSettings::new(config)),
            processes: Arc::default(),
            temp_bound: Arc::default(),
        }
    }

    /// Takes over changed settings; what runs goes on as it was started.
    pub fn configure(&self, config: &Config) {
        self.settings.store(Arc::new(RunSettings::new(config)));
    }

    /// What this machine offers to hold a command.
    pub async fn report(&self) -> Result<&Report, SandboxError> {
        self.sandbox.report().await
    }

    /// How commands in the sandbox are isolated here; `None` if none can run in it. The first time
    /// blocks for some milliseconds.
    pub fn isolation(&self) -> Option<Arc<Isolation>> {
        let report = self.sandbox.report_now().ok()?;
        let level = match report.level {
            Level::Full => IsolationLevel::Full,
            Level::Reduced => IsolationLevel::Reduced,
            Level::None => return None,
        };
        let (mode, missing) = (report.mode?.to_string(), report.lacks.clone());
        Some(Arc::new(Isolation { level, mode, missing }))
    }

    /// What people are told once, at the start of a program that runs commands: that isolation is not
    /// full here, or that no command can run, and the one command that helps. Blocks as
    /// [`Runner::isolation`] does.
    pub fn announcement(&self) -> Option<String> {
        if let Some(reason) = self.unavailable() {
            return Some(format!("commands cannot run here: {reason}"));
        }
        let settings = self.settings.load();
        let isolation = self.isolation().filter(|_| settings.is_announced && !settings.on_host)?;
        let note = isolation.note()?;
        let fix = self.sandbox.report_now().ok().and_then(|report| report.fix.clone());
        let fix = fix.map(|fix| format!(". To change that: {fix}")).unwrap_or_default();
        Some(format!(
            "{note}{fix}. `tools.sandbox.minimum = \"full\"` refuses commands here instead; \
             \"reduced\" accepts this without a message"
        ))
    }

    /// Why no command can run, with what helps; `None` if one can. Blocks as [`Runner::isolation`]
    /// does.
    pub fn unavailable(&self) -> Option<String> {
        let settings = self.settings.load();
        if settings.on_host {
            return None;
        }
        let refused = self.sandbox.check(settings.minimum, &settings.limits).err()?;
        Some(format!("{refused} (`toolgate doctor` says more)"))
    }

    /// What it is doing.
    pub fn stats(&self) -> RunnerStats {
        let SandboxStats { parked, running, jobs } = self.sandbox.stats();
        RunnerStats { parked, running, jobs, processes: self.processes.running() }
    }

    /// No longer than configuration lets any command run.
    fn bounded<'a>(&self, start: Start<'a>) -> Start<'a> {
        let timeout = start.how.timeout.min(self.settings.load().timeout);
        Start { how: How { timeout, ..start.how }, ..start }
    }

    /// The temp folder of the caller's session, to be kept within bounds.
    fn session_temp(&self, caller: &Caller) -> SessionTemp {
        SessionTemp {
            bound: self.temp_bound.clone(),
            world: self.world.clone(),
            caller: caller.clone(),
            max_bytes: self.settings.load().limits.written_bytes,
        }
    }

    /// Ends every process; commands can still be started.
    pub fn halt(&self) {
        self.processes.kill_all();
    }

    /// Ends every process of a user.
    pub fn halt_all_of(&self, user: &str) {
        self.processes.kill_all_of(user);
    }

    /// Ends every process and everything that waits to start one.
    pub async fn shutdown(&self) {
        self.halt();
        self.sandbox.shutdown().await;
        let world = self.world.clone();
        // Fails only if the runtime ends, and then so does the process.
        let _ = tokio::task::spawn_blocking(move || world.settle()).await;
    }
}

impl Exec for Runner {
    fn run<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(async move {
            let start = self.bounded(start);
            match ground(start.run.place)? {
                ground if start.run.is_harmless() => steps::run(self, start, ground).await,
                Ground::Sandbox if start.run.direct => direct::run(self, start).await,
                Ground::Sandbox => foreground::run(self, start).await,
                Ground::Host => host::run(self, start).await,
            }
        })
    }

    fn interact<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(async move {
            match ground(start.run.place)? {
                Ground::Sandbox if start.run.direct => interactive::direct(self, start).await,
                Ground::Sandbox => interactive::interact(self, start).await,
                Ground::Host => Err(ToolError::failed(
                    "a command at your own terminal runs in the sandbox only; leave `host` out",
                )),
            }
        })
    }

    fn resume<'a>(
        &'a self,
        held: CallId,
        start: Start<'a>,
    ) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(interactive::resume(self, held, start))
    }

    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Arc<dyn Process>, ToolError>> {
        Box::pin(async move {
            let start = self.bounded(start);
            match ground(start.run.place)? {
                Ground::Sandbox => background::start(self, start).await,
                Ground::Host => host::start(self, start).await,
            }
        })
    }

    fn pin<'a>(
        &'a self,
        caller: &'a Caller,
        run: &'a Run,
        scripts: &'a [Named],
    ) -> BoxFuture<'a, Result<Pinned, ToolError>> {
        let (world, settings) = (self.world.clone(), self.settings.load_full());
        let (caller, run, scripts) = (caller.clone(), run.clone(), scripts.to_vec());
        Box::pin(async move {
            blocking(move || pin::pin(&world, &settings, (&caller, &run), &scripts)).await
        })
    }

    fn processes(&self, caller: &Caller) -> Vec<Arc<dyn Process>> {
        self.processes.of(caller)
    }

    fn forget(&self, caller: &Caller, id: &str) -> bool {
        self.processes.forget(caller, id)
    }
}

/// Where commands can run on this machine.
#[derive(Debug, Clone, Copy)]
enum Ground {
    Sandbox,
    Host,
}

/// Other places come with later versions; policy has said so before.
fn ground(place: Option<Place>) -> Result<Ground, ToolError> {
    match place {
        Some(Place::Sandbox) => Ok(Ground::Sandbox),
        Some(Place::Host) => Ok(Ground::Host),
        Some(place @ (Place::Container | Place::Node)) => {
            let message = format!("`{place}` comes with a later version; leave `host` out");
            Err(ToolError::failed(message))
        }
        None => Err(ToolError::internal("nobody decided where the command runs")),
    }
}

/// How long a killed command may take to be gone; it is only the kernel that still works then.
const GONE: Duration = Duration::from_secs(10);

/// Does what takes a while where it holds up nobody.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(ToolError::internal)?
}
