//! What an agent may change in the configuration.

use std::fmt;

use serde_json::{Number, Value};

use crate::{KeyPath, Need};

/// Longer than any prompt a person would read before agreeing to it.
const MAX_BYTES: usize = 32 * 1024;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Text,
    Whole,
    Decimal,
}

/// What an agent may change about agents: how they speak, never what they may do. Nothing else of a
/// configuration can be changed with a [`ConfigChange`].
const CHANGEABLE: &[(&str, Holds)] = &[
    ("description", Holds::Text),
    ("max_tokens", Holds::Whole),
    ("model", Holds::Text),
    ("prompt", Holds::Text),
    ("temperature", Holds::Decimal),
];

/// What stands in the rest of the configuration, to read on after "it says".
const REASONS: &[(&str, &str)] = &[
    ("hooks", "which programs see calls and stop them"),
    ("limits", "what calls may use up"),
    ("users", "what users may use up"),
    ("providers", "where what agents say is sent, and with which key"),
    ("secrets", "where secrets are"),
    ("server", "who reaches the server"),
    ("store", "what is kept, and for how long"),
    ("tools", "which tools agents have, and when people are asked"),
];

/// The same for what stands in the table of an agent.
const AGENT_REASONS: &[(&str, &str)] = &[
    ("limits", "what a run may use up"),
    ("sessions", "whose conversations an agent sees"),
    ("subagents", "which agents an agent may start"),
    ("tools", "which tools an agent has"),
    ("workspace", "which files an agent works on"),
];

/// One key of the configuration that an agent may change, and what it is to be. There is no other way
/// to make one than to name such a key, so whoever has one need not ask again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigChange {
    agent: String,
    key: &'static str,
    value: Value,
}

impl ConfigChange {
    /// What `path` is to be: `value` as text, or `null` to remove it. The error says why not.
    pub fn new(path: &KeyPath, value: &str) -> Result<Self, String> {
        let (agent, key, holds) = match path.parts() {
            [section, agent, name] if section == "agents" => {
                let found = CHANGEABLE.iter().find(|(key, _)| is_spelling(name, key));
                let (key, holds) = found.ok_or_else(|| refusal(path))?;
                (agent.clone(), *key, *holds)
            }
            _ => return Err(refusal(path)),
        };
        let value = read(key, holds, value)?;
        Ok(Self { agent, key, value })
    }

    /// Whether an agent may change the key of the reference at `path`, such as `agents.<id>.model`.
    pub fn is_possible(path: &str) -> bool {
        let key = path.strip_prefix("agents.<id>.");
        key.is_some_and(|key| CHANGEABLE.iter().any(|(name, _)| *name == key))
    }

    /// What making it needs.
    pub fn need(&self) -> Need {
        Need::Act(self.to_string())
    }

    /// The agent it is about.
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The key, as the reference spells it.
    pub fn path(&self) -> KeyPath {
        KeyPath::from(["agents", &self.agent, self.key])
    }

    /// What it is to be; `null` removes it.
    pub const fn value(&self) -> &Value {
        &self.value
    }
}

/// Reads on after "to", with all of the new value.
impl fmt::Display for ConfigChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, value) = (self.path(), &self.value);
        if value.is_null() {
            return write!(f, "remove `{path}` from the configuration");
        }
        write!(f, "change `{path}` in the configuration to {value}")
    }
}

/// `max_tokens` and `maxTokens` are the same key.
fn is_spelling(name: &str, key: &str) -> bool {
    let mut capital = false;
    let camel = key.chars().filter_map(|letter| match letter {
        '_' => {
            capital = true;
            None
        }
        _ if std::mem::take(&mut capital) => Some(letter.to_ascii_uppercase()),
        _ => Some(letter),
    });
    name == key || camel.eq(name.chars())
}

fn read(key: &str, holds: Holds, text: &str) -> Result<Value, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("`value` has {} bytes, more than the {MAX_BYTES} allowed", text.len()));
    }
    if text.trim() == "null" {
        return Ok(Value::Null);
    }
    let expected = |what: &str| format!("`value`: expected {what} for `{key}`, got {text:?}");
    match holds {
        Holds::Text if text.trim().is_empty() => {
            Err(format!("`value` is empty; to remove `{key}` give `null`"))
        }
        // What a file says, and any file, would go out to the provider of the model.
        Holds::Text if key == "prompt" && text.trim_start().starts_with("file:") => Err(
            "`value`: an agent may give a prompt as text only, not a file; a person can name a file \
             in the configuration"
                .to_owned(),
        ),
        Holds::Text => Ok(text.into()),
        Holds::Whole => {
            text.trim().parse::<u32>().map(Value::from).map_err(|_| expected("a whole number"))
        }
        Holds::Decimal => {
            let number = serde_json::from_str::<Number>(text.trim()).ok();
            number.map(Value::Number).ok_or_else(|| expected("a number"))
        }
    }
}

/// Why `path` may not be changed, and what may.
fn refusal(path: &KeyPath) -> String {
    let says = |list: &[(&str, &'static str)], name: &str| {
        list.iter().find(|(key, _)| is_spelling(name, key)).map(|(_, reason)| *reason)
    };
    let reason = match path.parts() {
        [] => Some("an agent cannot change all of it; say which key with `path`".to_owned()),
        [section] | [section, _] if section == "agents" => {
            Some(format!("`{path}` is a table, and an agent changes one key at a time"))
        }
        [section, _, name, ..] if section == "agents" => says(AGENT_REASONS, name)
            .map(|reason| format!("an agent may not change `{path}`: it says {reason}")),
        [section, ..] => says(REASONS, section)
            .map(|reason| format!("an agent may not change `{path}`: it says {reason}")),
    };
    let reason = reason.unwrap_or_else(|| format!("`{path}` is no key that an agent may change"));
    let keys: Vec<_> = CHANGEABLE.iter().map(|(key, _)| format!("`agents.<id>.{key}`")).collect();
    format!("{reason}; it may change {}, and a person the rest in the file", keys.join(", "))
}

#[cfg(test)]
mod tests;
