//! Agents that are kept elsewhere than in a file.

use serde_json::{Value, json};

use crate::{Agent, ConfigError, ConfigProblem, parse};

/// The longest name of an agent.
const MAX_ID: usize = 64;

/// The agent that `settings` describe with the keys of `agents.<id>`, checked as in a file.
pub fn stored_agent(id: &str, settings: &Value) -> Result<Agent, ConfigError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(fits) {
        let id: String = id.chars().take(MAX_ID).collect();
        let message =
            format!("`{id}` cannot be the name of an agent: use letters, digits, `_` and `-`");
        let (key, file) = ("agents".to_owned(), "the agent".into());
        return Err(ConfigError::new(vec![ConfigProblem {
            file,
            line: 0,
            column: 0,
            key,
            message,
        }]));
    }
    let document = json!({"agents": {id: settings}}).to_string();
    let mut config = parse(&document, "the agent.json5")?;
    Ok(config.agents.remove(id).unwrap_or_default())
}
