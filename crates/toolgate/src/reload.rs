//! Takes over a configuration while calls run.

use std::{path::PathBuf, sync::Arc};

use agent::{Agents, Models};
use config::Config;
use gate::Redactor;
use services::Runner;
use world::{NetSettings, World};

use crate::{
    BuildError,
    build::{models, with_stored_agents},
    hooks::Programs,
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
}

impl Reload {
    /// Whether `config` could hold.
    pub(crate) fn check(&self, config: &Config) -> Result<(Models, Redactor), BuildError> {
        policy::shell::check_safe_bins(&config.tools.exec)?;
        models(config, &self.data)
    }

    /// Lets `config` hold.
    pub(crate) fn take(&self, config: Config) -> Result<(), BuildError> {
        let config = with_stored_agents(config, &self.data)?;
        let (models, redactor) = self.check(&config)?;
        self.agents.configure(models);
        self.world.door().configure(NetSettings::new(&config.tools.web));
        self.runner.configure(&config);
        self.programs.configure(&config);
        self.gate.configure(config, redactor);
        self.warn();
        Ok(())
    }

    /// Says once what in the policy lists does nothing.
    pub(crate) fn warn(&self) {
        for warning in self.gate.warnings() {
            tracing::warn!("{warning}");
        }
    }
}
