//! Runs commands: in the sandbox, on an overlay of the workspace, or in the background.

mod background;
mod capture;
mod egress;
mod environment;
mod filter;
mod foreground;
mod identity;
mod interactive;
mod job;
mod problem;
mod processes;
mod pump;
mod reachable;
mod settings;
mod toolchains;
mod workdir;

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use config::Config;
use sandbox::{Report, Sandbox, SandboxError, SandboxSettings};
use tool::{BoxFuture, Caller, Exec, Place, Process, Ran, Review, Start, ToolError};
use world::World;

use self::{processes::Processes, settings::RunSettings};

/// Runs commands for every agent.
#[derive(Debug)]
pub struct Runner {
    sandbox: Sandbox,
    world: Arc<World>,
    settings: ArcSwap<RunSettings>,
    processes: Arc<Processes>,
}

impl Runner {
    /// Starts nothing yet.
    pub fn new(world: Arc<World>, config: &Config) -> Self {
        Self {
            sandbox: Sandbox::new(SandboxSettings::default()),
            world,
            settings: ArcSwap::from_pointee(RunSettings::new(config)),
            processes: Arc::default(),
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

    /// With no more time than configuration gives.
    fn bounded<'a>(&self, mut start: Start<'a>) -> Start<'a> {
        start.how.timeout = start.how.timeout.min(self.settings.load().timeout);
        start
    }

    /// Ends every process and everything that waits to start one.
    pub async fn shutdown(&self) {
        self.processes.kill_all();
        self.sandbox.shutdown().await;
    }
}

impl Exec for Runner {
    fn run<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(async move {
            in_sandbox(start.run.place)?;
            foreground::run(self, self.bounded(start)).await
        })
    }

    fn interact<'a>(
        &'a self,
        start: Start<'a>,
        review: &'a dyn Review,
    ) -> BoxFuture<'a, Result<Ran, ToolError>> {
        Box::pin(async move {
            in_sandbox(start.run.place)?;
            interactive::interact(self, start, review).await
        })
    }

    fn start<'a>(&'a self, start: Start<'a>) -> BoxFuture<'a, Result<Arc<dyn Process>, ToolError>> {
        Box::pin(async move {
            in_sandbox(start.run.place)?;
            background::start(self, self.bounded(start)).await
        })
    }

    fn processes(&self, caller: &Caller) -> Vec<Arc<dyn Process>> {
        self.processes.of(caller)
    }

    fn forget(&self, caller: &Caller, id: &str) -> bool {
        self.processes.forget(caller, id)
    }
}

/// Other places come with later steps; policy has said so before.
fn in_sandbox(place: Option<Place>) -> Result<(), ToolError> {
    match place {
        Some(Place::Sandbox) => Ok(()),
        Some(place @ (Place::Container | Place::Host | Place::Node)) => {
            Err(ToolError::failed(format!("commands cannot run on `{place}` yet")))
        }
        None => Err(ToolError::internal("nobody decided where the command runs")),
    }
}

/// How long a killed command may take to be gone; it is only the kernel that still works then.
const GONE: Duration = Duration::from_secs(10);
