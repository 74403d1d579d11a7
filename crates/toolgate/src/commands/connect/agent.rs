//! The agent that a client acts as.

use anyhow::{Result, anyhow};
use config::Config;
use tool::nearest;

use crate::{cli::Global, context, visible::visible};

/// The agent that is always there.
pub(super) const MAIN: &str = "main";

/// Refuses an agent that nobody knows: it would have the rules of no agent, so a slip of the pen would loosen
/// them.
pub(in crate::commands) fn check_agent(global: &Global, config: &Config, id: &str) -> Result<()> {
    if id == MAIN || config.agents.contains_key(id) {
        return Ok(());
    }
    let made = store::stored_agents(&context::data(global)?)?;
    if made.iter().any(|(known, _)| known == id) {
        return Ok(());
    }
    let known = config.agents.keys().chain(made.iter().map(|(known, _)| known));
    let near = nearest(id, known.map(String::as_str).chain([MAIN]));
    let hint = near.map(|near| format!("; did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| "; `toolgate agents list` shows them".to_owned());
    Err(anyhow!("there is no agent `{}`{hint}", visible(id)))
}
