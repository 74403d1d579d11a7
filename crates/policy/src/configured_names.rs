//! Names in a configuration: tools, groups, users, agents and providers that do not exist.
//!
//! A misspelt name in a `deny` list would leave its tool open, so an unknown name is an error and the
//! configuration that has it does not take effect. Senders and channels are not checked: their names
//! come from outside, and no list of them exists.

use std::fmt;

use config::{
    Agent, AgentTools, At, Config, ConfigError, ConfigProblem, Layer, Names, Tools, User,
    UserLimits,
};
use tool::{Section, ToolInfo, nearest};

use crate::{
    catalogue::is_openclaw_tool,
    fold, matches,
    name::{OPENCLAW_GROUP, like},
};

/// The names that a configuration may use.
#[derive(Debug)]
pub struct KnownNames<'a> {
    /// Every tool, also those that are not part of this build.
    pub tools: &'a [&'a ToolInfo],
    /// Tools that a program will register later.
    pub later_tools: &'a [String],
    /// Every user, removed ones too. `None` leaves users unchecked.
    pub users: Option<&'a [String]>,
    /// Every agent. `None` leaves agents unchecked.
    pub agents: Option<&'a [String]>,
    /// Every provider of models.
    pub providers: &'a [String],
}

/// Refuses a configuration that names a tool, group, user, agent or provider that does not exist.
///
/// The error has one problem for each such name, with its line and the name that was probably meant.
pub fn check_names(config: &Config, known: &KnownNames<'_>) -> Result<(), ConfigError> {
    let mut check = NameCheck { known, problems: Vec::new() };
    check.tools(&config.tools);
    for (id, agent) in &config.agents {
        check.agent(id, agent);
    }
    for (number, hook) in &config.hooks {
        check.tool_names(&format!("hooks.{number}.tools"), hook.tools.as_ref());
    }
    for (id, user) in &config.users {
        check.user(&format!("users.{id}"), id, user_line(user));
    }
    for (tool, rate) in &config.limits.rates {
        check.tool(&format!("limits.rates.{tool}"), tool, rate.at.as_ref());
    }
    for (tool, timeout) in &config.limits.timeouts {
        check.tool(&format!("limits.timeouts.{tool}"), tool, timeout.at.as_ref());
    }
    if check.problems.is_empty() { Ok(()) } else { Err(ConfigError::new(check.problems)) }
}

/// Like [`check_names`], for the settings of one agent that stands in no file.
pub fn check_agent_names(
    id: &str,
    agent: &Agent,
    known: &KnownNames<'_>,
) -> Result<(), ConfigError> {
    let mut check = NameCheck { known, problems: Vec::new() };
    check.agent(id, agent);
    if check.problems.is_empty() { Ok(()) } else { Err(ConfigError::new(check.problems)) }
}

struct NameCheck<'a> {
    known: &'a KnownNames<'a>,
    problems: Vec<ConfigProblem>,
}

impl NameCheck<'_> {
    fn tools(&mut self, tools: &Tools) {
        self.layer("tools", &tools.layer());
        self.layer("tools.sandbox", &tools.sandbox);
        self.layer("tools.subagents", &tools.subagents);
        for (name, layer) in &tools.by_provider {
            let key = format!("tools.by_provider.{name}");
            self.provider(&key, name, layer);
            self.layer(&key, layer);
        }
        for (section, layers) in
            [("by_channel", &tools.by_channel), ("by_sender", &tools.by_sender)]
        {
            for (name, layer) in layers {
                self.layer(&format!("tools.{section}.{name}"), layer);
            }
        }
        self.agent_names("tools.subagents.agents", tools.agents.as_ref());
        for user in tools.approvers.iter() {
            self.user("tools.approvers", &user.value, user.at.as_ref());
        }
    }

    fn agent(&mut self, id: &str, agent: &Agent) {
        let Agent { subagents, sessions, tools, .. } = agent;
        let AgentTools { by_provider, .. } = tools;
        self.layer(&format!("agents.{id}.tools"), &tools.layer());
        for (name, layer) in by_provider {
            let key = format!("agents.{id}.tools.by_provider.{name}");
            self.provider(&key, name, layer);
            self.layer(&key, layer);
        }
        self.agent_names(&format!("agents.{id}.subagents"), subagents.as_ref());
        self.agent_names(&format!("agents.{id}.sessions"), sessions.as_ref());
    }

    fn layer(&mut self, key: &str, layer: &Layer) {
        let Layer { profile: _, allow, also_allow, deny } = layer;
        for (list, names) in [("allow", allow), ("also_allow", also_allow), ("deny", deny)] {
            self.tool_names(&format!("{key}.{list}"), names.as_ref());
        }
    }

    fn tool_names(&mut self, key: &str, names: Option<&Names>) {
        for name in names.into_iter().flat_map(|names| names.iter()) {
            self.tool(key, &name.value, name.at.as_ref());
        }
    }

    fn tool(&mut self, key: &str, pattern: &str, at: Option<&At>) {
        let folded = fold(pattern);
        if let Some(group) = folded.strip_prefix("group:") {
            return self.group(key, pattern, group.trim_start(), at);
        }
        let KnownNames { tools, later_tools, .. } = self.known;
        let is_known = folded == "*"
            || tools.iter().any(|tool| matches(pattern, tool))
            || later_tools.iter().any(|name| like(&folded, &fold(name)))
            || is_openclaw_tool(&folded);
        if is_known {
            return;
        }
        let aliases = tools.iter().flat_map(|tool| tool.aliases.iter().map(String::as_str));
        let names = tools.iter().map(|tool| &*tool.name).chain(aliases);
        let hint = hint(nearest(pattern, names), || "`toolgate tools` lists them".to_owned());
        self.add(key, at, &format!("no tool is called `{pattern}`; {hint}"));
    }

    fn group(&mut self, key: &str, pattern: &str, group: &str, at: Option<&At>) {
        let names = || Section::ALL.iter().map(|section| section.name()).chain([OPENCLAW_GROUP]);
        if names().any(|name| like(group, &fold(name))) {
            return;
        }
        let near = nearest(group, names()).map(|near| format!("group:{near}"));
        let hint = hint(near.as_deref(), || {
            let groups: Vec<_> = names().map(|name| format!("`group:{name}`")).collect();
            format!("groups are {}", groups.join(", "))
        });
        self.add(key, at, &format!("no group is called `{pattern}`; {hint}"));
    }

    /// A program that names users without a file knows them itself, and may add them later.
    fn user(&mut self, key: &str, id: &str, at: Option<&At>) {
        let Some(known) = self.known.users.filter(|_| at.is_some()) else { return };
        if known.iter().any(|user| user == id) {
            return;
        }
        let near = nearest(id, known.iter().map(String::as_str));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let fix = format!("`toolgate users add {id}` adds a user");
        self.add(key, at, &format!("no user is called `{id}`; {near}{fix}"));
    }

    fn agent_names(&mut self, key: &str, names: Option<&Names>) {
        let Some(known) = self.known.agents else { return };
        for name in names.into_iter().flat_map(|names| names.iter()) {
            let id = &name.value;
            // Without a file, a program named it, which may make the agent later.
            if id == "*" || known.contains(id) || name.at.is_none() {
                continue;
            }
            let near = nearest(id, known.iter().map(String::as_str));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let fix = format!("`toolgate agents add {id}` makes an agent");
            self.add(key, name.at.as_ref(), &format!("no agent is called `{id}`; {near}{fix}"));
        }
    }

    /// A program that names providers without a file makes its callers itself.
    fn provider(&mut self, key: &str, name: &str, layer: &Layer) {
        let known = self.known.providers;
        let Some(at) = layer_line(layer) else { return };
        if known.iter().any(|provider| provider.eq_ignore_ascii_case(name.trim())) {
            return;
        }
        let hint = match name.split_once('/') {
            Some((provider, _)) => {
                format!("rules are per provider, not per model: write `{provider}`")
            }
            None => hint(nearest(name, known.iter().map(String::as_str)), || {
                "`providers.<name>` adds one".to_owned()
            }),
        };
        let text = format!("no provider of models is called `{name}`; {hint}");
        self.add(key, Some(at), &text);
    }

    fn add(&mut self, key: &str, at: Option<&At>, text: &str) {
        let (file, line) =
            at.map_or_else(|| ("the policy".into(), 0), |at| (at.file.clone(), at.line));
        let message = format!("`{key}`: {text}");
        self.problems.push(ConfigProblem { file, line, column: 0, key: key.to_owned(), message });
    }
}

fn hint(near: Option<&str>, otherwise: impl FnOnce() -> String) -> String {
    near.map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// The line of the first list of a layer, which stands closest to the layer's own name.
fn layer_line(layer: &Layer) -> Option<&At> {
    let Layer { profile, allow, also_allow, deny } = layer;
    let lists = [allow, also_allow, deny].into_iter().flatten();
    let lines = lists.filter_map(|names| names.at.as_ref());
    lines.chain(profile.iter().filter_map(|profile| profile.at.as_ref())).min_by_key(|at| at.line)
}

fn user_line(user: &User) -> Option<&At> {
    let User { limits: UserLimits { calls, rate, connections, runs } } = user;
    let counts = [calls, connections, runs].into_iter().flatten();
    let lines = counts.filter_map(|count| count.at.as_ref());
    lines.chain(rate.iter().filter_map(|rate| rate.at.as_ref())).min_by_key(|at| at.line)
}

/// A rule of the configuration that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// What has no effect, and why.
    pub text: String,
    /// Where it is written.
    pub at: Option<At>,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// Lists the rules of `config` that have no effect, given every tool.
pub fn config_warnings(config: &Config, tools: &[&ToolInfo]) -> Vec<ConfigWarning> {
    let mut found = Vec::new();
    for layer in layers(config) {
        let Layer { profile: _, allow, also_allow, deny } = &layer;
        for names in [allow, also_allow].into_iter().flatten() {
            contradicted(names, deny.as_ref(), tools, &mut found);
        }
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

/// Deny is looked at first, so what it covers is not allowed by the same layer.
fn contradicted(
    names: &Names,
    deny: Option<&Names>,
    tools: &[&ToolInfo],
    found: &mut Vec<ConfigWarning>,
) {
    let denied = |tool: &ToolInfo| {
        deny.is_some_and(|deny| deny.iter().any(|pattern| matches(&pattern.value, tool)))
    };
    for pattern in names.iter() {
        let mut meant = tools.iter().filter(|tool| matches(&pattern.value, tool)).peekable();
        if meant.peek().is_some() && meant.all(|tool| denied(tool)) {
            let text =
                format!("`{}` is denied in the same place, so this does nothing", pattern.value);
            found.push(ConfigWarning { text, at: pattern.at.clone() });
        }
    }
}

#[cfg(test)]
mod tests;
