//! What holds for every policy, tried on random ones.
#![expect(clippy::unwrap_used, reason = "a failed setup should fail the test")]

mod children;

use std::{collections::BTreeSet, sync::Arc};

use config::{Config, Layer, ProfileName, Spanned, names};
use policy::Verdict;
use proptest::{collection::vec, option, prelude::*, sample::select};
use tempfile::TempDir;
use tool::{Confined, Info, Left, Profile, Section, ToolInfo};
use toolgate::{AnyTool, Caller, Gate, builtin};

const PROVIDERS: [&str; 2] = ["acme", "zeta"];
const CHANNELS: [&str; 2] = ["slack", "console"];

fn pattern() -> impl Strategy<Value = String> {
    let names: Vec<String> = [
        "read",
        "write",
        "edit",
        "apply_patch",
        "ls",
        "grep",
        "exec",
        "bash",
        "browser",
        "cron",
        "gateway",
        "message",
        "session_status",
        "sessions_spawn",
        "save_note",
        "web_search",
        "*",
        "s*",
        "*_search",
        "group:fs",
        "group:web",
        "group:sessions",
        "group:openclaw",
        "group:plugins",
        "no_such_tool",
        "Read",
        "write_file",
    ]
    .map(str::to_owned)
    .into();
    select(names)
}

fn layer() -> impl Strategy<Value = Layer> {
    let profile = select(ProfileName::ALL.to_vec());
    let list = || option::weighted(0.4, vec(pattern(), 0..4));
    (option::weighted(0.3, profile), list(), list(), list()).prop_map(
        |(profile, allow, also, deny)| Layer {
            profile: profile.map(Spanned::from),
            allow: allow.map(names),
            also_allow: also.map(names),
            deny: deny.map(names),
        },
    )
}

fn some_config() -> impl Strategy<Value = Config> {
    vec(option::weighted(0.5, layer()), 7).prop_map(|layers| {
        let mut layers = layers.into_iter().map(Option::unwrap_or_default);
        let mut next = || layers.next().unwrap_or_default();
        let mut config = Config::default();
        set(&mut config, &next());
        config.tools.by_provider.insert("acme".into(), next());
        config.tools.by_channel.insert("slack".into(), next());
        config.tools.by_sender.insert("eve".into(), next());
        config.tools.sandbox = Layer { profile: None, ..next() };
        config.tools.subagents = Layer { profile: None, ..next() };
        let Layer { profile, allow, also_allow, deny } = next();
        let agent = &mut config.agents.entry("main".into()).or_default().tools;
        (agent.profile, agent.allow, agent.also_allow, agent.deny) =
            (profile, allow, also_allow, deny);
        config
    })
}

fn set(config: &mut Config, layer: &Layer) {
    let Layer { profile, allow, also_allow, deny } = layer.clone();
    let tools = &mut config.tools;
    (tools.profile, tools.allow, tools.also_allow, tools.deny) = (profile, allow, also_allow, deny);
}

fn some_caller() -> impl Strategy<Value = Caller> {
    let name = |names: [&'static str; 2]| option::of(select(names.to_vec()));
    (any::<[bool; 3]>(), name(PROVIDERS), name(CHANNELS), option::of(Just("eve"))).prop_map(
        |([owner, sandboxed, other], provider, channel, sender)| {
            let agent = if other { "other" } else { "main" };
            let caller = if owner { Caller::owner(agent) } else { Caller::member("bo", agent) };
            Caller {
                provider: provider.map(Into::into),
                channel: channel.map(Into::into),
                sender: sender.map(Into::into),
                confined: if sandboxed { Confined::Sandboxed } else { Confined::Free },
                ..caller
            }
        },
    )
}

/// A tool that is only there to be allowed or denied.
struct Named(Arc<ToolInfo>);

impl AnyTool for Named {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }
    fn prepare(
        &self,
        _: serde_json::Value,
    ) -> Result<Box<dyn toolgate::Prepared>, toolgate::ToolError> {
        Err(toolgate::ToolError::NotAvailable(self.0.name.to_string()))
    }
}

/// A gate whose registry has every tool there is or will be, and one of a plugin.
fn gate(folder: &TempDir) -> Gate {
    let planned = policy::planned().into_iter().map(|info| Arc::new(Named(Arc::new(info))) as _);
    let info = Info { section: Section::Plugins, profiles: &[Profile::Coding], ..Info::DEFAULT };
    let schema = serde_json::json!({"type": "object"});
    let plugin = ToolInfo::with("weather", "Tell the weather.", schema, info);
    let plugin: Arc<dyn AnyTool> = Arc::new(Named(Arc::new(plugin)));
    let builder = Gate::builder().data(folder.path().join("data")).workspace(folder.path());
    let builder = builder.later_tools(["no_such_tool"]);
    builder.tools(builtin()).tools(planned).tools([plugin]).build().unwrap()
}

fn has(gate: &Gate, caller: &Caller) -> BTreeSet<Arc<str>> {
    gate.view(caller).tools().map(|entry| entry.info().name.clone()).collect()
}

/// What the explanation says about it.
fn given(gate: &Gate, caller: &Caller, name: &str) -> bool {
    let explained = gate.explain(caller, name).unwrap();
    explained.verdict == Verdict::Allow && explained.available
}

fn below(caller: &Caller, agent: &str) -> Caller {
    let parent = Some(Arc::new(caller.clone()));
    Caller { agent: agent.into(), parent, ..caller.clone() }
}

#[test]
fn what_holds_for_every_policy() {
    let folder = TempDir::new().unwrap();
    let gate = gate(&folder);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let left = (option::of(vec(pattern(), 0..4)), vec(pattern(), 0..3));
    let inputs = (some_config(), some_caller(), pattern(), left);
    let tried = runner.run(&inputs, |(config, caller, denied, (allow, deny))| {
        let left = Arc::new(Left { allow, deny });
        gate.reload(config.clone()).unwrap();
        let before = has(&gate, &caller);
        // The view and its explanation agree.
        for entry in gate.registry().snapshot().tools() {
            let name = &entry.info().name;
            prop_assert_eq!(before.contains(name), given(&gate, &caller, name), "{}", name);
        }
        // A child has at most what its parent has, whatever the child's own agent is given.
        for agent in ["main", "other"] {
            let child = below(&caller, agent);
            prop_assert!(has(&gate, &child).is_subset(&before));
            for entry in gate.registry().snapshot().tools() {
                let name = &entry.info().name;
                let found = has(&gate, &child).contains(name);
                prop_assert_eq!(found, given(&gate, &child, name), "{} below", name);
            }
            // What it was left when it was spawned only takes away, for it and for those below it.
            let narrowed = Caller { left: Some(left.clone()), ..child.clone() };
            let narrow = has(&gate, &narrowed);
            prop_assert!(narrow.is_subset(&has(&gate, &child)));
            prop_assert!(has(&gate, &below(&narrowed, agent)).is_subset(&narrow));
            for entry in gate.registry().snapshot().tools() {
                let name = &entry.info().name;
                prop_assert_eq!(narrow.contains(name), given(&gate, &narrowed, name), "{}", name);
            }
        }
        // Denying more never gives anything.
        let mut stricter = config.clone();
        let mut deny: Vec<String> = stricter
            .tools
            .deny
            .iter()
            .flat_map(|names| names.iter())
            .map(|n| n.value.clone())
            .collect();
        deny.push(denied);
        stricter.tools.deny = Some(names(deny));
        gate.reload(stricter).unwrap();
        prop_assert!(has(&gate, &caller).is_subset(&before));
        // An empty allow list gives nothing.
        let mut nothing = config;
        (nothing.tools.allow, nothing.tools.also_allow) = (Some(names(Vec::<String>::new())), None);
        gate.reload(nothing).unwrap();
        prop_assert!(has(&gate, &caller).is_empty());
        Ok(())
    });
    tried.unwrap();
}
