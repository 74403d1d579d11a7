//! Which tools a caller has.

use config::{Config, Names};
use tool::{Caller, Role, ToolInfo};

use crate::matches;

/// What a tool that writes stands for: who may not write may not edit either.
const WRITERS: &[&str] = &["apply_patch", "edit"];

/// The rule that takes a tool away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The layer it stands in: `global`, `agent`, `owner`.
    pub layer: &'static str,
    /// What it says, for people.
    pub text: String,
    /// Where it is written, if it is.
    pub at: Option<String>,
}

/// The policy layers that apply to one caller. Each can only take tools away.
#[derive(Debug, Clone)]
pub struct Rules {
    layers: Vec<Layer>,
    role: Role,
}

#[derive(Debug, Clone)]
struct Layer {
    name: &'static str,
    allow: Option<Names>,
    deny: Option<Names>,
}

impl Rules {
    /// The layers of `config` that apply to `caller`.
    pub fn new(config: &Config, caller: &Caller) -> Self {
        let global = Layer {
            name: "global",
            allow: config.tools.allow.clone(),
            deny: config.tools.deny.clone(),
        };
        let agent = config.agents.get(&*caller.agent).map(|agent| Layer {
            name: "agent",
            allow: agent.tools.allow.clone(),
            deny: agent.tools.deny.clone(),
        });
        Self { layers: std::iter::once(global).chain(agent).collect(), role: caller.role }
    }

    /// The first rule that takes `tool` away, or `None` if the caller has it.
    pub fn against(&self, tool: &ToolInfo) -> Option<Rule> {
        let layered = self.layers.iter().find_map(|layer| layer.against(tool));
        layered.or_else(|| self.owner_only(tool))
    }

    fn owner_only(&self, tool: &ToolInfo) -> Option<Rule> {
        let withheld = tool.owner_only && self.role != Role::Owner;
        let text = "the tool is for the owner".to_owned();
        withheld.then_some(Rule { layer: "owner", text, at: None })
    }
}

impl Layer {
    /// Deny is looked at first; an allow list that is there and empty allows nothing.
    fn against(&self, tool: &ToolInfo) -> Option<Rule> {
        let rule = |text, at: Option<String>| Rule { layer: self.name, text, at };
        let denied = self.deny.iter().flat_map(|names| names.iter());
        if let Some(denied) = denied.clone().find(|pattern| denies(&pattern.value, tool)) {
            let text = format!("deny `{}`", denied.value);
            return Some(rule(text, denied.at.as_ref().map(ToString::to_string)));
        }
        let allow = self.allow.as_ref()?;
        if allow.iter().any(|pattern| matches(&pattern.value, tool)) {
            return None;
        }
        Some(rule("not in the allow list".to_owned(), allow.at.as_ref().map(ToString::to_string)))
    }
}

fn denies(pattern: &str, tool: &ToolInfo) -> bool {
    let writer = WRITERS.contains(&&*tool.name) && crate::fold(pattern) == "write";
    writer || matches(pattern, tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool::{Caller, Info, Section, ToolInfo};

    use super::Rules;

    fn tool(name: &str) -> ToolInfo {
        let info = Info { section: Section::Fs, owner_only: name == "cron", ..Info::DEFAULT };
        ToolInfo::with(name, "A tool.", json!({}), info)
    }

    #[test]
    fn a_layer_only_takes_away() {
        let rules =
            |text: &str, caller| Rules::new(&config::parse(text, "t.toml").unwrap(), &caller);
        let owner = || Caller::owner("main");
        for (text, caller, name, expected) in [
            ("", owner(), "read", None),
            (
                "[tools]\nallow = []",
                owner(),
                "read",
                Some("global: not in the allow list t.toml:2"),
            ),
            ("[tools]\nallow = [\"r*\"]", owner(), "read", None),
            (
                "[tools]\nallow = [\"read\"]\ndeny = [\"group:fs\"]",
                owner(),
                "read",
                Some("global: deny `group:fs` t.toml:3"),
            ),
            ("[tools]\ndeny = [\"write\"]", owner(), "edit", Some("global: deny `write` t.toml:2")),
            (
                "[tools]\nallow = [\"write\"]",
                owner(),
                "edit",
                Some("global: not in the allow list t.toml:2"),
            ),
            (
                "[tools]\ndeny = [\"read\"]\n[agents.main.tools]\nallow = [\"read\"]",
                owner(),
                "read",
                Some("global: deny `read` t.toml:2"),
            ),
            (
                "[agents.main.tools]\ndeny = [\"read\"]",
                owner(),
                "read",
                Some("agent: deny `read` t.toml:2"),
            ),
            ("[agents.other.tools]\ndeny = [\"read\"]", owner(), "read", None),
            ("", Caller::member("bo", "main"), "cron", Some("owner: the tool is for the owner")),
        ] {
            let rule = rules(text, caller).against(&tool(name));
            let shown = rule.map(|rule| {
                let at = rule.at.map(|at| format!(" {at}")).unwrap_or_default();
                format!("{}: {}{at}", rule.layer, rule.text)
            });
            assert_eq!(shown.as_deref(), expected, "{text} {name}");
        }
    }
}
