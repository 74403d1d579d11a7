//! Puts a gate together from its parts.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use agent::{Agents, AgentsParts, Models};
use config::Config;
use gate::{Approver, Hook, Observer, Parts, Pipeline, Redactor, RegistryError, Shared, standard};
use provider::Definitions;
use services::Runner;
use store::{EmergencyFile, Journal, LazyDb, SteadyClock, StoreError};
use tool::{AnyTool, Clock, Tool, ToolError, ToolInfo, Typed};
use world::{Keep, NetSettings, SystemClock, World, WorldError, WorldSettings};

use crate::{
    capabilities::Everything,
    config_names::NameableTools,
    gateway::Gateway,
    hooks::Programs,
    key::redaction_key,
    recovery::recover,
    reload::{Held, Reload},
    stored::with_stored_agents,
    upkeep,
};

/// Which tools may be used and when people are asked: the section `tools` of the configuration.
pub type Policy = config::Tools;

/// Why a gate could not be put together.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BuildError {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("cannot read the key for redaction in `{}`: {source}", data.display())]
    Key { data: PathBuf, source: std::io::Error },
    #[error("cannot put in order what an earlier process left: {0}")]
    Recovery(#[from] ToolError),
    #[error(transparent)]
    Config(#[from] config::ConfigError),
    #[error("no folder for data: set `--data`, `TOOLGATE_DATA` or `HOME`")]
    NoDataFolder,
}

/// The gate with a world behind it. Everything [`gate::Gate`] can do, it can.
#[derive(Debug, Clone)]
pub struct Gate {
    inner: gate::Gate,
    world: Arc<World>,
    runner: Arc<Runner>,
    agents: Agents,
    pub(crate) gateway: Gateway,
    pub(crate) definitions: Arc<Definitions>,
}

impl Gate {
    /// Starts to put one together.
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// Replaces policy, limits and secrets while calls run; those that wait are decided again. Roots
    /// and what is kept stay as they were built; only an agent that is new gets its own folder.
    pub fn reload(&self, config: Config) -> Result<(), BuildError> {
        self.gateway.take(config)
    }

    /// Takes over the agents that are made here now; all else stays as it was last given, and no file
    /// is read. May block.
    pub fn reload_agents(&self) -> Result<(), BuildError> {
        self.gateway.take_agents()
    }

    /// Says what happens when an agent wants a restart and a person agrees: `restart` is to begin it
    /// and return at once, because the call that asks is still under way. Without it there is nothing
    /// to restart.
    pub fn on_restart(&self, restart: impl Fn() + Send + Sync + 'static) {
        self.gateway.on_restart(Arc::new(restart));
    }

    /// The gate itself, for whoever serves it.
    pub const fn inner(&self) -> &gate::Gate {
        &self.inner
    }

    /// What runs commands.
    pub const fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Those who speak to models.
    pub const fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The folder for journal, undo data and artifacts.
    pub fn data_folder(&self) -> &Path {
        self.gateway.data()
    }

    /// The files and everything else tools can be given.
    pub const fn world(&self) -> &Arc<World> {
        &self.world
    }
}

impl Deref for Gate {
    type Target = gate::Gate;

    fn deref(&self) -> &gate::Gate {
        &self.inner
    }
}

/// What a gate is put together from. Everything has a default.
#[derive(Debug, Default)]
pub struct GateBuilder {
    tools: Vec<Arc<dyn AnyTool>>,
    config: Config,
    data: Option<PathBuf>,
    workspace: Option<PathBuf>,
    clock: Option<Arc<dyn Clock>>,
    approvers: Vec<Arc<dyn Approver>>,
    hooks: Vec<Arc<dyn Hook>>,
    observers: Vec<Arc<dyn Observer>>,
    journal: Option<Journal>,
    file: Option<PathBuf>,
    later_tools: Vec<String>,
}

impl GateBuilder {
    /// Adds the tool `T`.
    #[must_use]
    pub fn tool<T: Tool>(mut self) -> Self {
        self.tools.push(Typed::<T>::erased());
        self
    }

    /// Adds tools, such as [`crate::builtin`].
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn AnyTool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Names tools that are registered only after the gate is built, so that the policy may name them. Any
    /// other name that no tool has is refused by [`GateBuilder::build`]: a misspelt `deny` must not leave its
    /// tool open.
    #[must_use]
    pub fn later_tools<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.later_tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Says which tools may be used and when people are asked.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.config.tools = policy;
        self
    }

    /// Takes all of the configuration; a policy given before is part of what it replaces.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Where the configuration comes from, or would if there were a file; agents see it and may change
    /// a little of it there. Does not read it.
    #[must_use]
    pub fn configuration_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// The folder for journal, undo data and artifacts; by default the user's data folder.
    #[must_use]
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data = Some(folder.into());
        self
    }

    /// The folder file tools work in; by default the current one.
    #[must_use]
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Adds somebody who can be asked; they are tried in the order they were added.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approvers.push(approver);
        self
    }

    /// Adds a hook; they run in the order they were added.
    #[must_use]
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Adds somebody who watches calls come and go.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Takes the machine's time from `clock`. Deadlines and call ids go by a [`store::SteadyClock`] on top of it,
    /// which never goes back.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Records elsewhere than in the data folder; for benchmarks.
    #[must_use]
    pub fn journal(mut self, journal: Journal) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Opens everything, and puts in order what an earlier process left behind. May block.
    pub fn build(self) -> Result<Gate, BuildError> {
        self.build_with(standard)
    }

    /// The same with other stages, so that a test can show what each is for.
    pub fn build_with(
        self,
        stages: impl FnOnce(&Arc<Shared>) -> Pipeline,
    ) -> Result<Gate, BuildError> {
        policy::shell::check_safe_bins(&self.config.tools.exec)?;
        let data = self.data.or_else(|| config::paths().data).ok_or(BuildError::NoDataFolder)?;
        let base = self.config;
        let built = self.tools.iter().map(|tool| ToolInfo::clone(tool.info()));
        let names = NameableTools {
            tools: built.chain(policy::planned()).collect(),
            later: self.later_tools,
        };
        let (config, stored) = with_stored_agents(base.clone(), &data, &names)?;
        names.check(&config, &data)?;
        let machine = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let clock: Arc<dyn Clock> = Arc::new(SteadyClock::open(&data, machine));
        let workspace = self.workspace.unwrap_or_else(|| PathBuf::from("."));
        let settings = world_settings(&config, &data, &workspace);
        let world = Arc::new(World::open(settings, clock.clone())?);
        let journal = if let Some(journal) = self.journal {
            journal
        } else {
            let journal = Journal::open(&data, clock.clone())?;
            recover(&journal, &world, &clock, &data)?;
            upkeep::start(&data, &config, &journal, &world, &clock);
            journal
        };
        let db = Arc::new(LazyDb::new(data.clone()));
        let runner = Arc::new(Runner::new(world.clone(), &config));
        let programs = Arc::new(Programs::new(runner.clone(), &config));
        let mut hooks = self.hooks;
        hooks.push(programs.clone());
        let (known, configuration) = <(Arc<OnceLock<_>>, Arc<OnceLock<_>>)>::default();
        let (models, redactor) = models(&config, &data)?;
        let parts = Parts {
            redactor,
            config,
            world: Arc::new(Everything {
                world: world.clone(),
                runner: runner.clone(),
                agents: known.clone(),
                gateway: configuration.clone(),
                db: db.clone(),
            }),
            journal,
            emergency: EmergencyFile::open(&data)?,
            db,
            approvers: self.approvers,
            hooks,
            observers: self.observers,
        };
        let inner = gate::Gate::new(parts.assemble(self.tools)?, stages);
        let agents = Agents::new(AgentsParts { gate: inner.clone(), models, clock });
        // Nobody else can have set it.
        let _ = known.set(agents.downgrade());
        let reload = Reload {
            gate: inner.clone(),
            world: world.clone(),
            runner: runner.clone(),
            agents: agents.clone(),
            programs,
            data,
            later_tools: names.later,
            held: Arc::new(Mutex::new(Held { base, stored })),
        };
        reload.warn();
        let gateway = Gateway::new(reload, self.file);
        let _ = configuration.set(gateway.downgrade());
        Ok(Gate { inner, world, runner, agents, gateway, definitions: Arc::default() })
    }
}

/// The models there are, and what takes their keys and all other secrets out.
pub(crate) fn models(config: &Config, data: &Path) -> Result<(Models, Redactor), BuildError> {
    let key = redaction_key(data);
    let key = key.map_err(|source| BuildError::Key { data: data.to_owned(), source })?;
    let secrets = config::resolve_secrets(config, config::environment)?;
    let models = Models::new(config, config::environment, &secrets);
    let secrets = models.secrets().into_iter().chain(secrets);
    let secrets = secrets.map(|(name, value)| (name, value.reveal().to_owned()));
    Ok((models, Redactor::new(&key, secrets)))
}

fn world_settings(config: &Config, data: &Path, workspace: &Path) -> WorldSettings {
    let agents = config
        .agents
        .iter()
        .filter_map(|(id, agent)| Some((id.clone(), agent.workspace.as_ref()?.value.clone())));
    let fs = &config.tools.fs;
    let day = Duration::from_hours(24);
    WorldSettings {
        data: data.to_owned(),
        workspace: workspace.to_owned(),
        agents: agents.collect(),
        roots: fs.roots.iter().map(|root| root.value.clone()).collect(),
        protected: fs.protected.iter().map(|path| path.value.to_string()).collect(),
        max_file_bytes: config.limits.file_bytes.value,
        keep: Keep {
            bytes: config.store.keep_bytes.value,
            age: day * config.store.keep_days.value,
        },
        net: NetSettings::new(&config.tools.web),
    }
}
