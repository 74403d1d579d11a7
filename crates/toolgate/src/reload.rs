//! Takes over a configuration while calls run.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, TryLockError},
};

use agent::{Agents, MAIN, Models};
use config::Config;
use gate::Redactor;
use services::Runner;
use world::{NetSettings, World};

use crate::{
    BuildError,
    build::models,
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
    /// The agents made here that hold now.
    pub(crate) stored: Arc<Mutex<StoredAgents>>,
}

impl Reload {
    /// Whether `config` could hold.
    pub(crate) fn check(&self, config: &Config) -> Result<(Models, Redactor), BuildError> {
        policy::shell::check_safe_bins(&config.tools.exec)?;
        models(config, &self.data)
    }

    /// Lets `config` hold.
    pub(crate) fn take(&self, config: Config) -> Result<(), BuildError> {
        // Held to the end, so that of two at once the later one wins as a whole.
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        let (config, found) = with_stored_agents(config, &self.data)?;
        let (models, redactor) = self.check(&config)?;
        self.settle(&config)?;
        self.agents.configure(models);
        self.world.door().configure(NetSettings::new(&config.tools.web));
        self.runner.configure(&config);
        self.programs.configure(&config);
        self.gate.configure(config, redactor);
        *stored = found;
        self.warn();
        Ok(())
    }

    /// Agents that are new work in their own folders.
    fn settle(&self, config: &Config) -> Result<(), BuildError> {
        let known = self.gate.config();
        let is_new = |id: &str| id != MAIN && !known.agents.contains_key(id);
        for (id, agent) in config.agents.iter().filter(|(id, _)| is_new(id)) {
            let folder = agent.workspace.as_ref().map(|folder| folder.value.as_path());
            self.world.work_in(id, folder)?;
        }
        Ok(())
    }

    /// Whether these are the agents made here that hold now; `None` while that changes.
    pub(crate) fn has_stored(&self, found: &StoredAgents) -> Option<bool> {
        match self.stored.try_lock() {
            Ok(stored) => Some(*stored == *found),
            Err(TryLockError::Poisoned(stored)) => Some(*stored.into_inner() == *found),
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
