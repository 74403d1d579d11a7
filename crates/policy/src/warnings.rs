//! Lists that name what does not exist, or can never match.

use std::fmt;

use config::{At, Config, Layer, Names};
use tool::{ToolInfo, nearest};

use crate::matches;

/// Something in a policy list that does nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What is wrong and what was probably meant.
    pub text: String,
    /// Where it is written.
    pub at: Option<At>,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// What in the lists of `config` does nothing, given every tool there is.
pub fn warnings(config: &Config, tools: &[&ToolInfo]) -> Vec<Warning> {
    let mut found = Vec::new();
    for layer in layers(config) {
        let Layer { profile: _, allow, also_allow, deny } = &layer;
        for names in [allow, also_allow, deny].into_iter().flatten() {
            unknown(names, tools, &mut found);
        }
        for names in [allow, also_allow].into_iter().flatten() {
            contradicted(names, deny.as_ref(), tools, &mut found);
        }
    }
    for names in config.hooks.values().filter_map(|hook| hook.tools.as_ref()) {
        unknown(names, tools, &mut found);
    }
    found
}

fn layers(config: &Config) -> Vec<Layer> {
    let tools = &config.tools;
    let maps = [&tools.by_provider, &tools.by_channel, &tools.by_sender];
    let agents = config.agents.values().flat_map(|agent| {
        std::iter::once(agent.tools.layer()).chain(agent.tools.by_provider.values().cloned())
    });
    let named = maps.into_iter().flat_map(|map| map.values().cloned());
    [tools.layer(), tools.sandbox.clone(), tools.subagents.clone()]
        .into_iter()
        .chain(named)
        .chain(agents)
        .collect()
}

fn unknown(names: &Names, tools: &[&ToolInfo], found: &mut Vec<Warning>) {
    for pattern in names.iter() {
        if tools.iter().any(|tool| matches(&pattern.value, tool)) {
            continue;
        }
        let known = tools.iter().flat_map(|tool| {
            std::iter::once(&*tool.name).chain(tool.aliases.iter().map(String::as_str))
        });
        let hint = nearest(&pattern.value, known).map(|near| format!("; did you mean `{near}`?"));
        let text = format!("no tool is called `{}`{}", pattern.value, hint.unwrap_or_default());
        found.push(Warning { text, at: pattern.at.clone() });
    }
}

/// Deny is looked at first, so what it covers is not allowed by the same layer.
fn contradicted(
    names: &Names,
    deny: Option<&Names>,
    tools: &[&ToolInfo],
    found: &mut Vec<Warning>,
) {
    let denied = |tool: &ToolInfo| {
        deny.is_some_and(|deny| deny.iter().any(|pattern| matches(&pattern.value, tool)))
    };
    for pattern in names.iter() {
        let mut meant = tools.iter().filter(|tool| matches(&pattern.value, tool)).peekable();
        if meant.peek().is_some() && meant.all(|tool| denied(tool)) {
            let text =
                format!("`{}` is denied in the same place, so this does nothing", pattern.value);
            found.push(Warning { text, at: pattern.at.clone() });
        }
    }
}
