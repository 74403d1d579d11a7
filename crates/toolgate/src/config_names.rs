//! Which names a configuration may use here.

use std::path::Path;

use agent::{MAIN, provider_names};
use config::{Agent, Config};
use policy::{KnownNames, check_agent_names, check_names};
use tool::ToolInfo;

use crate::BuildError;

/// The tools that a configuration may name.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameableTools {
    /// Registered tools, and those that are not built yet.
    pub(crate) tools: Vec<ToolInfo>,
    /// Tools that the program says it will register later.
    pub(crate) later: Vec<String>,
}

impl NameableTools {
    /// Refuses a configuration that names a tool, group, user, agent or provider that does not exist.
    /// `config` has the agents of the database already. Reads the users there, so it may block.
    pub(crate) fn check(&self, config: &Config, data: &Path) -> Result<(), BuildError> {
        let names_users = !config.tools.approvers.is_empty() || !config.users.is_empty();
        let users = names_users.then(|| store::stored_users(data)).transpose()?;
        let agents: Vec<_> = config.agents.keys().cloned().chain([MAIN.to_owned()]).collect();
        let known = KnownNames {
            tools: &self.tools.iter().collect::<Vec<_>>(),
            later_tools: &self.later,
            users: users.as_deref(),
            agents: Some(&agents),
            providers: &provider_names(config),
        };
        Ok(check_names(config, &known)?)
    }

    /// Refuses settings of an agent that name a tool or provider that does not exist.
    pub(crate) fn check_agent(
        &self,
        config: &Config,
        id: &str,
        agent: &Agent,
    ) -> Result<(), config::ConfigError> {
        let known = KnownNames {
            tools: &self.tools.iter().collect::<Vec<_>>(),
            later_tools: &self.later,
            users: None,
            agents: None,
            providers: &provider_names(config),
        };
        check_agent_names(id, agent, &known)
    }
}

/// The tools that a configuration of the command may name: the built-in ones, and those that are not built yet.
pub(crate) fn builtin_names() -> NameableTools {
    let built = tools::builtin().into_iter().map(|tool| ToolInfo::clone(tool.info()));
    NameableTools { tools: built.chain(policy::planned()).collect(), later: Vec::new() }
}

/// Refuses a configuration for the built-in tools that names a tool, group, user, agent or provider that does
/// not exist in the data folder `data`.
pub fn check_configuration(config: &Config, data: &Path) -> Result<(), BuildError> {
    let names = builtin_names();
    let (config, _) = crate::stored::with_stored_agents(config.clone(), data, &names)?;
    policy::shell::check_safe_bins(&config.tools.exec)?;
    names.check(&config, data)
}

/// Refuses settings of the agent `id` that name a tool or provider that does not exist, for the built-in tools.
pub fn check_agent_settings(
    config: &Config,
    id: &str,
    agent: &Agent,
) -> Result<(), config::ConfigError> {
    builtin_names().check_agent(config, id, agent)
}
