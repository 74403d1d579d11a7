//! The agent that a client acts as.

use anyhow::{Result, anyhow};
use config::{Agent, Config};
use tool::nearest;

use crate::{cli::Global, context, visible::visible};

/// The agent that is always there.
pub(super) const MAIN: &str = "main";

/// What is set for an agent: by the file, else by whoever made it. One that nobody knows would have the rules
/// of no agent, so a slip of the pen would loosen them.
pub(in crate::commands) fn known_agent(
    global: &Global,
    config: &Config,
    id: &str,
) -> Result<Agent> {
    if let Some(agent) = config.agents.get(id) {
        return Ok(agent.clone());
    }
    if id == MAIN {
        return Ok(Agent::default());
    }
    let made = store::stored_agents(&context::data(global)?)?;
    if let Some((_, settings)) = made.iter().find(|(known, _)| known == id) {
        return Ok(config::stored_agent(id, settings)?);
    }
    let known = config.agents.keys().chain(made.iter().map(|(known, _)| known));
    let near = nearest(id, known.map(String::as_str).chain([MAIN]));
    let hint = near.map(|near| format!("; did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| "; `toolgate agents list` shows them".to_owned());
    Err(anyhow!("there is no agent `{}`{hint}", visible(id)))
}
