//! Agents that people make while the program runs, besides those of the configuration.

use std::{path::PathBuf, time::SystemTime};

use config::{Agent, Config, ConfigError};
use serde_json::Value;
use store::{Db, StoreError, StoredAgent};
use tool::nearest;

use crate::MAIN;

/// An agent that somebody makes.
#[derive(Debug, Clone)]
pub struct NewAgent {
    /// Its name.
    pub id: String,
    /// The user who makes it.
    pub by: String,
    /// What configuration would say about it.
    pub settings: Value,
    /// What happens if there is an agent of this name.
    pub existing: ExistingAgent,
}

/// What happens to an agent that has the name of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingAgent {
    /// It stays as it is, and no agent is made.
    Keep,
    /// All its settings are replaced.
    Replace,
}

/// Why an agent is not made or removed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NotStored {
    #[error(transparent)]
    Invalid(#[from] ConfigError),
    #[error("there is an agent `{0}` already")]
    Exists(String),
    #[error("`{}` is not a folder, so no agent can work in it", .0.display())]
    NoFolder(PathBuf),
    #[error("`{0}` is in the configuration; change it there")]
    Configured(String),
    #[error("no agent `{id}` was made here{hint}")]
    Unknown { id: String, hint: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Makes an agent, or replaces the settings of one that was made before. What `config` says about one
/// stays. `check` refuses settings that name a tool, agent or provider that does not exist.
pub async fn store_agent(
    db: &Db,
    config: &Config,
    new: &NewAgent,
    check: impl FnOnce(&Agent) -> Result<(), ConfigError>,
    now: SystemTime,
) -> Result<StoredAgent, NotStored> {
    let NewAgent { id, by, settings, existing } = new;
    let agent = config::stored_agent(id, settings)?;
    check(&agent)?;
    if let Some(path) = missing_workspace(&agent) {
        return Err(NotStored::NoFolder(path));
    }
    if *existing == ExistingAgent::Replace
        && let Some(changed) = db.change_agent(id, settings, now).await?
    {
        return Ok(changed);
    }
    // `config` has the agents of the database too.
    if has_agent(config, id) && db.agent(id).await?.is_none() {
        return Err(NotStored::Configured(id.clone()));
    }
    match db.add_agent(id, by, settings, now).await {
        Err(StoreError::AgentExists(id)) => Err(NotStored::Exists(id)),
        made => Ok(made?),
    }
}

/// Removes an agent that was made here.
pub async fn remove_agent(db: &Db, config: &Config, id: &str) -> Result<(), NotStored> {
    if db.remove_agent(id).await? {
        return Ok(());
    }
    if has_agent(config, id) {
        return Err(NotStored::Configured(id.to_owned()));
    }
    let made = db.agents(None).await?;
    let near = nearest(id, made.iter().map(|agent| agent.id.as_str()));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Err(NotStored::Unknown { id: id.to_owned(), hint })
}

/// The folder an agent should work in, if it is none. Looks at the disk.
pub fn missing_workspace(agent: &Agent) -> Option<PathBuf> {
    let workspace = &agent.workspace.as_ref()?.value;
    (!workspace.is_dir()).then(|| workspace.clone())
}

/// Whether `config` has an agent `id`; `main` is always there.
pub fn has_agent(config: &Config, id: &str) -> bool {
    id == MAIN || config.agents.contains_key(id)
}
