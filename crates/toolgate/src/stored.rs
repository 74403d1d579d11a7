//! Agents that were made over the API or on the command line, while the program runs.

use std::{
    fs,
    path::{Path, PathBuf},
};

use agent::{has_agent, missing_workspace};
use config::{Agent, Config};
use serde_json::Value;

use crate::{BuildError, config_names::NameableTools};

/// The agents that were made here, by id, with their settings.
pub(crate) type StoredAgents = Vec<(String, Value)>;

/// With the agents that were made here, and what was found. The file wins, and what no longer makes
/// sense is left out: nothing else must wait for it, least of all a stricter policy.
pub(crate) fn with_stored_agents(
    mut config: Config,
    data: &Path,
    names: &NameableTools,
) -> Result<(Config, StoredAgents), BuildError> {
    let stored = store::stored_agents(data)?;
    for (id, settings) in &stored {
        if config.agents.contains_key(id) {
            continue;
        }
        let agent = usable(id, settings, (data, config.workspaces.get(id)));
        let agent = agent.and_then(|agent| {
            names.check_agent(&config, id, &agent).map_err(|error| error.to_string())?;
            Ok(agent)
        });
        match agent {
            Ok(agent) => drop(config.agents.insert(id.clone(), agent)),
            Err(problem) => {
                tracing::warn!(agent = id, "an agent is left out: {problem}");
                config.gone.insert(id.clone());
            }
        }
    }
    // Last, so that an agent which was made here keeps its rules.
    for (id, folder) in config.workspaces.clone() {
        // One that nobody made, or that was removed meanwhile, does not come to be by this.
        if has_agent(&config, &id) {
            config.agents.entry(id).or_default().workspace = Some(folder.into());
        }
    }
    Ok((config, stored))
}

/// An agent that can work, in `folder` if one is named; otherwise, why it cannot.
fn usable(
    id: &str,
    settings: &Value,
    (data, folder): (&Path, Option<&PathBuf>),
) -> Result<Agent, String> {
    let mut agent = config::stored_agent(id, settings).map_err(|error| error.to_string())?;
    if let Some(folder) = folder {
        agent.workspace = Some(folder.clone().into());
    }
    // Elsewhere it would change files that are not its own.
    if let Some(path) = missing_workspace(&agent) {
        return Err(format!("its folder `{}` is gone", path.display()));
    }
    // A world refuses such a folder, and with it everything else.
    if let Some(folder) = &agent.workspace {
        let problem = closed(&folder.value, data);
        problem.map_err(|why| format!("its folder `{}` {why}", folder.value.display()))?;
    }
    Ok(agent)
}

/// Why nobody can work in `folder`.
fn closed(folder: &Path, data: &Path) -> Result<(), String> {
    let unreadable = |error| format!("cannot be opened: {error}");
    let within = |data| folder.canonicalize().map(|folder| folder.starts_with(data));
    if data.canonicalize().and_then(within).map_err(unreadable)? {
        return Err("is in the data folder".to_owned());
    }
    fs::read_dir(folder).map(drop).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use agent::MAIN;
    use serde_json::json;
    use store::Db;
    use tempfile::TempDir;

    use super::*;

    #[tokio::test]
    async fn an_agent_that_cannot_work_is_left_out_also_where_a_folder_is_named() {
        let (data, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let db = Db::open(data.path()).await.unwrap();
        let settings = json!({"tools": {"denny": ["write"]}});
        db.add_agent("reader", "owner", &settings, SystemTime::UNIX_EPOCH).await.unwrap();
        let mut elsewhere = Config::default();
        elsewhere.workspaces.insert("reader".to_owned(), folder.path().to_owned());
        for config in [Config::default(), elsewhere] {
            let (config, _) =
                with_stored_agents(config, data.path(), &NameableTools::default()).unwrap();
            assert!(!config.agents.contains_key("reader"));
        }
    }

    #[test]
    fn a_workspace_makes_no_agent() {
        let (data, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let mut config = Config::default();
        for id in [MAIN, "nobody"] {
            config.workspaces.insert(id.to_owned(), folder.path().to_owned());
        }
        let (config, _) =
            with_stored_agents(config, data.path(), &NameableTools::default()).unwrap();
        assert_eq!(config.agents.keys().collect::<Vec<_>>(), [MAIN]);
    }
}
