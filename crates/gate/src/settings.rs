//! Configuration in the form the stages use it, replaced whole when it changes.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use config::Config;
use policy::{Allowance, shell::SafeList, url::UrlRules};
use tool::{Caller, Rate, Redact, Role, ToolInfo};

use crate::{
    definition::DefinitionLimits, redactor::Redactor, slots::SlotLimits, validate::ArgumentLimits,
};

/// Configuration at one moment.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) generation: u64,
    pub(crate) config: Arc<Config>,
    pub(crate) redactor: Redactor,
    pub(crate) arguments: ArgumentLimits,
    pub(crate) urls: UrlRules,
    pub(crate) safe: SafeList,
}

impl Settings {
    /// Works out what the stages need.
    pub(crate) fn new(config: Config, redactor: Redactor, generation: u64) -> Self {
        let limits = &config.limits;
        Self {
            generation,
            arguments: ArgumentLimits {
                string_bytes: size(limits.string_bytes.value),
                large_string_bytes: size(limits.large_string_bytes.value),
                array_items: limits.array_items.value,
                depth: limits.depth.value,
            },
            urls: UrlRules::new(&config.tools.web.network),
            safe: SafeList::new(&config.tools.exec),
            config: Arc::new(config),
            redactor,
        }
    }

    /// How large a definition may be.
    pub(crate) fn definitions(config: &Config) -> DefinitionLimits {
        let limits = &config.limits;
        DefinitionLimits { parameters: limits.parameters.value, depth: limits.depth.value }
    }

    /// How long a call of `tool` may take.
    pub(crate) fn timeout(&self, tool: &ToolInfo) -> Duration {
        let limits = &self.config.limits;
        let named = by_name(&limits.timeouts, tool);
        named.or(limits.timeout.as_ref()).map_or(tool.timeout, |timeout| timeout.value)
    }

    /// How many calls may run and wait for a caller.
    pub(crate) fn slots(&self, caller: &Caller) -> SlotLimits {
        let limits = &self.config.limits;
        let agent = self.config.agents.get(&*caller.agent);
        let at_once = agent.and_then(|agent| agent.limits.at_once.as_ref());
        let per_agent = at_once.unwrap_or(&limits.calls_per_agent).value;
        let user = Allowance::of(&self.config, &caller.user, caller.role);
        SlotLimits {
            per_agent: per_agent.get(),
            waiting_per_agent: limits.waiting_per_agent.value,
            per_user: user.calls.unwrap_or(usize::MAX),
            total: limits.calls_total.value.get(),
        }
    }

    /// How often a user may call anything.
    pub(crate) fn user_rate(&self, caller: &Caller) -> Option<Rate> {
        Allowance::of(&self.config, &caller.user, caller.role).rate
    }

    /// How many refusals of a user are recorded. All of the owner's are.
    pub(crate) fn refusal_rate(&self, caller: &Caller) -> Option<Rate> {
        if caller.role == Role::Owner { None } else { self.user_rate(caller) }
    }

    /// How often a user may call anything through the agent.
    pub(crate) fn agent_rate(&self, caller: &Caller) -> Option<Rate> {
        let agent = self.config.agents.get(&*caller.agent)?;
        agent.limits.rate.as_ref().map(|rate| rate.value)
    }

    /// How often a user may call `tool`.
    pub(crate) fn rate(&self, tool: &ToolInfo) -> Option<Rate> {
        by_name(&self.config.limits.rates, tool).map(|rate| rate.value).or(tool.rate)
    }

    pub(crate) fn output_bytes(&self) -> usize {
        size(self.config.limits.output_bytes.value)
    }

    pub(crate) fn model_output_bytes(&self) -> usize {
        size(self.config.limits.model_output_bytes.value)
    }
}

impl Redact for Settings {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redactor.text(text)
    }
}

/// What configuration says about a tool, by any of its names.
fn by_name<'a, T>(map: &'a BTreeMap<String, T>, tool: &ToolInfo) -> Option<&'a T> {
    if map.is_empty() {
        return None;
    }
    map.get(&*tool.name).or_else(|| {
        map.iter().find(|(name, _)| policy::matches(name, tool)).map(|(_, value)| value)
    })
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
