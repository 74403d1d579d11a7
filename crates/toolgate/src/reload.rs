//! Takes over a configuration while calls run.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use agent::{Agents, Models, has_agent};
use config::Config;
use gate::Redactor;
use services::Runner;
use world::{NetSettings, World};

use crate::{
    BuildError,
    build::models,
    config_names::NameableTools,
    hooks::Programs,
    stored::{StoredAgents, with_stored_agents},
};

/// Everything that a configuration changes.
#[derive(Debug, Clone)]
pub(crate) struct Reload {
    pub(crate) gate: gate::Gate,
    pub(crate) world: Arc<World>,
    pub(crate) runner: Arc<Runner>,
    pub(crate) programs: Arc<Programs>,
    pub(crate) agents: Agents,
    pub(crate) data: PathBuf,
    /// Tools that the program registers later.
    pub(crate) later_tools: Vec<String>,
    pub(crate) held: Arc<Mutex<Held>>,
}

/// What holds now, in its two parts.
#[derive(Debug)]
pub(crate) struct Held {
    /// What the file says, without the agents made here. Kept, because a change of agents must not
    /// depend on what became of the file since.
    pub(crate) base: Config,
    /// The agents made here.
    pub(crate) stored: StoredAgents,
}

impl Reload {
    /// Refuses what a file must not say, before it is written.
    pub(crate) fn check_file(&self, config: &Config) -> Result<(), BuildError> {
        let names = self.names();
        let (config, _) = with_stored_agents(config.clone(), &self.data, &names)?;
        names.check(&config, &self.data)?;
        self.check(&config).map(drop)
    }

    /// Whether `config` could hold.
    fn check(&self, config: &Config) -> Result<(Models, Redactor), BuildError> {
        policy::shell::check_safe_bins(&config.tools.exec)?;
        models(config, &self.data)
    }

    fn names(&self) -> NameableTools {
        NameableTools { tools: self.gate.nameable_tools(), later: self.later_tools.clone() }
    }

    /// Lets `config` hold, with the agents made here.
    pub(crate) fn take(&self, config: Config) -> Result<(), BuildError> {
        let mut held = self.held();
        let names = self.names();
        let (with_agents, _) = with_stored_agents(config.clone(), &self.data, &names)?;
        names.check(&with_agents, &self.data)?;
        self.take_both(&mut held, config)
    }

    /// Lets the agents hold that are made here now, with the configuration that holds already. Its names are
    /// not checked again: an agent that was removed must be gone also if the file still names it.
    pub(crate) fn take_agents(&self) -> Result<(), BuildError> {
        let mut held = self.held();
        let base = held.base.clone();
        self.take_both(&mut held, base)
    }

    /// The configuration that holds, without the agents made here.
    pub(crate) fn base(&self) -> Config {
        self.held().base.clone()
    }

    /// Locked to the end of a change, so that of two at once the later one wins as a whole.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_both(&self, held: &mut Held, base: Config) -> Result<(), BuildError> {
        let (mut config, stored) = with_stored_agents(base.clone(), &self.data, &self.names())?;
        // Calls that wait, or begin just now, must not be decided by the rules of no agent.
        let known = self.gate.config();
        for id in known.agents.keys().chain(&known.gone) {
            if !has_agent(&config, id) {
                config.gone.insert(id.clone());
            }
        }
        let (models, redactor) = self.check(&config)?;
        self.settle(&config)?;
        self.agents.configure(models);
        self.world.door().configure(NetSettings::new(&config.tools.web));
        self.runner.configure(&config);
        self.programs.configure(&config);
        self.gate.configure(config, redactor);
        *held = Held { base, stored };
        self.warn();
        Ok(())
    }

    /// Agents that are new work in their own folders.
    fn settle(&self, config: &Config) -> Result<(), BuildError> {
        let known = self.gate.config();
        for (id, agent) in config.agents.iter().filter(|(id, _)| !has_agent(&known, id)) {
            let folder = agent.workspace.as_ref().map(|folder| folder.value.as_path());
            self.world.work_in(id, folder)?;
        }
        Ok(())
    }

    /// Whether these are the agents made here that hold now; `None` while that changes.
    pub(crate) fn has_stored(&self, found: &StoredAgents) -> Option<bool> {
        match self.held.try_lock() {
            Ok(held) => Some(held.stored == *found),
            Err(TryLockError::Poisoned(held)) => Some(held.into_inner().stored == *found),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Says once what in the policy lists does nothing.
    pub(crate) fn warn(&self) {
        for warning in self.gate.warnings() {
            tracing::warn!("{warning}");
        }
    }
}
