//! Agents that were made over the API or on the command line, while the program runs.

use std::path::Path;

use agent::missing_workspace;
use config::{Agent, Config};
use serde_json::Value;

use crate::BuildError;

/// The agents that were made here, by id, with their settings.
pub(crate) type StoredAgents = Vec<(String, Value)>;

/// With the agents that were made here, and what was found. The file wins, and what no longer makes
/// sense is left out.
pub(crate) fn with_stored_agents(
    mut config: Config,
    data: &Path,
) -> Result<(Config, StoredAgents), BuildError> {
    let stored = store::stored_agents(data)?;
    for (id, settings) in &stored {
        if config.agents.contains_key(id) {
            continue;
        }
        match usable(id, settings) {
            Ok(agent) => drop(config.agents.insert(id.clone(), agent)),
            Err(problem) => tracing::warn!(agent = id, "an agent is left out: {problem}"),
        }
    }
    Ok((config, stored))
}

/// An agent that can work; otherwise, why it cannot.
fn usable(id: &str, settings: &Value) -> Result<Agent, String> {
    let agent = config::stored_agent(id, settings).map_err(|error| error.to_string())?;
    match missing_workspace(&agent) {
        None => Ok(agent),
        // Elsewhere it would change files that are not its own.
        Some(path) => Err(format!("its folder `{}` is gone", path.display())),
    }
}
