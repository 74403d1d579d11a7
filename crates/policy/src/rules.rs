//! Which tools a caller has.

use std::collections::BTreeMap;

use config::{Config, Layer, ProfileName, names};
use tool::{Caller, Confined, Left, Role, ToolInfo};

use crate::{
    layer::{Applied, Opinion, Rule},
    name::like,
};

/// What an agent in a sandbox goes without.
const SANDBOX_LOSES: &[&str] = &["browser", "canvas", "cron", "gateway", "nodes"];
/// What an agent that another one spawned goes without.
const SUBAGENT_LOSES: &[&str] = &["agents_list", "cron", "gateway"];
/// What it goes without at the depth limit besides.
const DEEPEST_LOSES: &[&str] = &["agents_list", "cron", "gateway", "sessions_spawn", "subagents"];

/// The channel of calls that come over HTTP or a WebSocket one by one, without an agent of ours around them.
const HTTP: &str = "http";
/// What such a call goes without: who can only make calls should not get a shell by it.
const HTTP_LOSES: &[&str] = &["cron", "exec", "gateway", "nodes", "process", "sessions_spawn"];

/// The policy layers that apply to one caller, in order. Each can only take tools away.
#[derive(Debug, Clone)]
pub struct Rules {
    layers: Vec<Applied>,
    owner: bool,
}

impl Rules {
    /// The layers of `config` that apply to `caller`. What its parent has is the gate's business.
    pub fn new(config: &Config, caller: &Caller) -> Self {
        let mut layers = profiles(config, caller);
        layers.extend(lists(config, caller));
        layers.extend(groups(config, caller));
        layers.extend(places(config, caller));
        Self { layers, owner: caller.is_owner() }
    }

    /// What each layer says about `tool`, in order; the last one is about owner-only tools.
    pub fn opinions(&self, tool: &ToolInfo) -> Vec<(&'static str, Opinion)> {
        let layered = self.layers.iter().map(|layer| (layer.name, layer.opinion(tool)));
        layered.chain([("owner", self.owner_only(tool))]).collect()
    }

    /// The first rule that takes `tool` away, or `None` if the caller has it.
    pub fn against(&self, tool: &ToolInfo) -> Option<Rule> {
        let owner = std::iter::once_with(|| self.owner_only(tool));
        let mut all = self.layers.iter().map(|layer| layer.opinion(tool)).chain(owner);
        all.find_map(|opinion| match opinion {
            Opinion::Takes(rule) => Some(rule),
            Opinion::None | Opinion::Keeps(_) => None,
        })
    }

    fn owner_only(&self, tool: &ToolInfo) -> Opinion {
        if !tool.owner_only || self.owner {
            return Opinion::None;
        }
        let text = "the tool is for the owner".to_owned();
        Opinion::Takes(Rule { layer: "owner", text, at: None })
    }
}

/// The profile, and the one of the provider. An agent's own replaces the one of all.
fn profiles(config: &Config, caller: &Caller) -> Vec<Applied> {
    let global = config.tools.layer();
    let agent = config.agents.get(&*caller.agent).map(|agent| agent.tools.layer());
    let source = agent.filter(|agent| agent.profile.is_some()).unwrap_or(global);
    let default = match caller.role {
        Role::Owner => ProfileName::Full,
        Role::Member => ProfileName::Gateway,
    };
    let own =
        Applied { default_profile: Some(default), ..Applied::new("profile", widened(source)) };
    let by_provider = by_provider(config, caller);
    let provider = by_provider.into_iter().rev().find(|(_, layer)| layer.profile.is_some());
    let provider = provider.map(|(_, layer)| Applied::new("provider profile", widened(layer)));
    std::iter::once(own).chain(provider).collect()
}

/// A profile with what its own layer adds to it, and nothing else of that layer.
fn widened(layer: Layer) -> Layer {
    let Layer { profile, also_allow, .. } = layer;
    Layer { profile, also_allow, ..Layer::default() }
}

/// What is allowed and denied by everybody, for the provider, for the agent, for both.
fn lists(config: &Config, caller: &Caller) -> Vec<Applied> {
    let list = |layer: Layer| Layer { profile: None, ..layer };
    let agent = config.agents.get(&*caller.agent);
    let mut layers = vec![Applied::new("global", list(config.tools.layer()))];
    let mut providers = by_provider(config, caller);
    let mut take = |name: &str| {
        let at = providers.iter().position(|(layer, _)| *layer == name)?;
        let (name, layer) = providers.swap_remove(at);
        Some(Applied::new(name, list(layer)))
    };
    layers.extend(take("global provider"));
    layers.extend(agent.map(|agent| Applied::new("agent", list(agent.tools.layer()))));
    layers.extend(take("agent provider"));
    layers
}

/// What is said about the caller's provider, for everybody and for the agent.
fn by_provider(config: &Config, caller: &Caller) -> Vec<(&'static str, Layer)> {
    let Some(provider) = &caller.provider else { return Vec::new() };
    let global = named(&config.tools.by_provider, provider).map(|layer| ("global provider", layer));
    let agent = config.agents.get(&*caller.agent);
    let agent = agent.and_then(|agent| named(&agent.tools.by_provider, provider));
    global.into_iter().chain(agent.map(|layer| ("agent provider", layer))).collect()
}

/// What is said about the surface and the channel a message came by, and about who wrote it.
fn groups(config: &Config, caller: &Caller) -> Vec<Applied> {
    let channels = caller.surface.iter().chain(&caller.channel);
    let channels = channels.filter_map(|name| channel(config, name));
    let sender = by_sender(config, caller).map(|layer| Applied::new("sender", layer));
    let model = model(config, caller);
    channels.chain(sender).chain(model).collect()
}

fn channel(config: &Config, name: &str) -> Option<Applied> {
    let layer = named(&config.tools.by_channel, name);
    if name.trim().eq_ignore_ascii_case(HTTP) {
        let layer = Applied::new("group", layer.unwrap_or_default());
        return Some(Applied { loses: HTTP_LOSES, by_default: "a call over HTTP", ..layer });
    }
    layer.map(|layer| Applied::new("group", layer))
}

/// The rules of the most exact name: the sender on this channel, the sender on any, `*`.
fn by_sender(config: &Config, caller: &Caller) -> Option<Layer> {
    let layers = &config.tools.by_sender;
    let mut found: Vec<_> = layers.iter().filter(|(name, _)| names_sender(name, caller)).collect();
    found.sort_by_key(|(name, _)| match name.as_str() {
        "*" => 2,
        name if name.trim().eq_ignore_ascii_case(caller.sender_or_user()) => 1,
        _ => 0,
    });
    found.first().map(|(_, layer)| (*layer).clone())
}

/// Whether `name` of a list of senders means whoever wrote the message: their name, `CHANNEL:NAME`, `CHANNEL:*` or
/// `*`. Without a sender the user counts.
pub fn names_sender(name: &str, caller: &Caller) -> bool {
    let (name, sender) = (name.trim(), caller.sender_or_user());
    if name == "*" || name.eq_ignore_ascii_case(sender) {
        return true;
    }
    let Some(channel) = &caller.channel else { return false };
    name.split_at_checked(channel.len()).is_some_and(|(own, rest)| {
        let rest = rest.strip_prefix(':');
        own.eq_ignore_ascii_case(channel)
            && rest.is_some_and(|rest| rest == "*" || rest.eq_ignore_ascii_case(sender))
    })
}

/// Models that `tools.apply_patch.models` does not name go without `apply_patch`. Callers without a model are not
/// concerned.
fn model(config: &Config, caller: &Caller) -> Option<Applied> {
    let models = config.tools.apply_patch.models.as_ref()?;
    let model = caller.model.as_ref()?;
    let provider = caller.provider.as_deref().unwrap_or_default();
    let whole = format!("{provider}/{model}").to_lowercase();
    let means = |pattern: &str| {
        let pattern = pattern.trim().to_lowercase();
        like(&pattern, &model.to_lowercase()) || like(&pattern, &whole)
    };
    if models.iter().any(|pattern| means(&pattern.value)) {
        return None;
    }
    let mut deny = names(["apply_patch"]);
    deny.value.iter_mut().for_each(|name| name.at.clone_from(&models.at));
    Some(Applied::new("model", Layer { deny: Some(deny), ..Layer::default() }))
}

/// What an agent goes without in a sandbox, and below another agent.
fn places(config: &Config, caller: &Caller) -> Vec<Applied> {
    let mut layers = Vec::new();
    if caller.confined == Confined::Sandboxed {
        let layer = Applied::new("sandbox", config.tools.sandbox.clone());
        layers.push(Applied { loses: SANDBOX_LOSES, by_default: "a sandbox", ..layer });
    }
    let depth = caller.depth();
    if depth > 0 {
        let deepest = depth >= config.tools.max_depth.value as usize;
        let loses = if deepest { DEEPEST_LOSES } else { SUBAGENT_LOSES };
        let layer = Applied::new("sub-agent", config.tools.subagents.clone());
        layers.push(Applied { loses, by_default: "a sub-agent", ..layer });
    }
    layers.extend(caller.left.as_deref().map(left));
    layers
}

/// What whoever spawned it left to an agent.
fn left(left: &Left) -> Applied {
    let Left { allow, deny } = left;
    let layer = Layer {
        allow: allow.clone().map(names),
        deny: Some(names(deny.clone())),
        ..Layer::default()
    };
    Applied::new("spawn", layer)
}

/// Names of providers, channels and senders are alike in any case.
fn named(layers: &BTreeMap<String, Layer>, name: &str) -> Option<Layer> {
    let found = layers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    found.map(|(_, layer)| layer.clone())
}

#[cfg(test)]
mod tests;
