//! What configurations of `OpenClaw` say differently.

mod limits;
mod models;

use std::mem;

use crate::{
    key::is_name,
    node::{Entry, Node, Value},
    problems::Problems,
};

/// Keys that `OpenClaw` has and we do not, with all that is beneath them. One that becomes ours goes.
const KEYS: &[&str] = &[
    "$schema",
    "acp",
    "agents.<id>.agent_dir",
    "agents.<id>.default",
    "agents.<id>.group_chat",
    "agents.<id>.heartbeat",
    "agents.<id>.human_delay",
    "agents.<id>.identity",
    "agents.<id>.memory_search",
    "agents.<id>.name",
    "agents.<id>.params",
    "agents.<id>.runtime",
    "agents.<id>.sandbox",
    "agents.<id>.skills",
    "agents.<id>.tools.elevated",
    "agents.<id>.tools.exec",
    "agents.<id>.tools.fs",
    "agents.<id>.tools.loop_detection",
    "agents.<id>.tools.sandbox",
    "agents.defaults",
    "approvals",
    "audio",
    "auth",
    "bindings",
    "broadcast",
    "browser",
    "canvas_host",
    "channels",
    "cli",
    "commands",
    "cron",
    "diagnostics",
    "discovery",
    "env",
    "gateway",
    "hooks.allow_request_session_key",
    "hooks.allowed_agent_ids",
    "hooks.allowed_session_key_prefixes",
    "hooks.default_session_key",
    "hooks.enabled",
    "hooks.gmail",
    "hooks.internal",
    "hooks.mappings",
    "hooks.max_body_bytes",
    "hooks.path",
    "hooks.presets",
    "hooks.token",
    "hooks.transforms_dir",
    "logging",
    "media",
    "memory",
    "messages",
    "meta",
    "models",
    "node_host",
    "plugins",
    "session",
    "skills",
    "talk",
    "tools.agent_to_agent",
    "tools.code_mode",
    "tools.exec.apply_patch",
    "tools.exec.approval_running_notice_ms",
    "tools.exec.background_ms",
    "tools.exec.cleanup_ms",
    "tools.exec.command_highlighting",
    "tools.exec.node",
    "tools.exec.notify_on_exit",
    "tools.exec.notify_on_exit_empty_success",
    "tools.exec.path_prepend",
    "tools.exec.safe_bin_profiles",
    "tools.exec.safe_bin_trusted_dirs",
    "tools.exec.strict_inline_eval",
    "tools.experimental",
    "tools.fs.workspace_only",
    "tools.links",
    "tools.loop_detection",
    "tools.media",
    "tools.message",
    "tools.sessions",
    "tools.sessions_spawn",
    "tools.subagents.model",
    "tools.swarm",
    "tools.tool_search",
    "tools.update_plan",
    "tools.web.fetch.cache_ttl_minutes",
    "tools.web.fetch.enabled",
    "tools.web.fetch.firecrawl",
    "tools.web.fetch.provider",
    "tools.web.fetch.readability",
    "tools.web.fetch.user_agent",
    "tools.web.search",
    "ui",
    "update",
    "vault",
    "web",
    "wizard",
];

/// Whether `OpenClaw` has a key here, or further down. A name in angle brackets may stand before it, not
/// in its place: what an agent is called is not for `OpenClaw` to say.
pub(crate) fn knows(path: &[String]) -> bool {
    KEYS.iter().any(|key| {
        let mut parts = key.split('.');
        let mut last = None;
        let fits = path.iter().all(|name| {
            last = parts.next();
            last.is_some_and(|part| is_name(part) || part == name)
        });
        fits && last.is_some_and(|part| !is_name(part))
    })
}

/// A hook that runs nothing would refuse every call.
fn refuse_empty_hooks(entry: &Entry, problems: &mut Problems) {
    let Value::List(items) = &entry.node.value else { return };
    for item in items.iter().filter(|item| !runs_something(item)) {
        let message = "a hook needs `command`: a list of the program and its arguments".to_owned();
        problems.add(item.position, "hooks", message);
    }
}

/// A list of tables is a table of their numbers.
fn numbered(entry: &mut Entry) {
    let Value::List(items) = &mut entry.node.value else { return };
    let named = |(number, node): (usize, Node)| {
        let position = node.position;
        Entry { name: format!("{}", number + 1), position, node }
    };
    entry.node.value = Value::Table(mem::take(items).into_iter().enumerate().map(named).collect());
}

fn runs_something(hook: &Node) -> bool {
    let Value::Table(entries) = &hook.value else { return true };
    let command = entries.iter().find(|entry| entry.name == "command");
    command
        .is_some_and(|entry| !matches!(&entry.node.value, Value::List(words) if words.is_empty()))
}

/// Puts what `OpenClaw` writes elsewhere where we have it: `agents.list` is a list of agents there, and
/// the rules of `tools.sandbox` and `tools.subagents` stand in one more table, `tools`; what is said
/// about models is in [`models`].
///
/// These are not merely ignored, because what they say takes tools away; what else limits agents is in [`limits`].
pub(crate) fn translate(mut entries: Vec<Entry>, problems: &mut Problems) -> Vec<Entry> {
    // First, so that the rest finds agents by their ids.
    if let Some(agents) = entries.iter_mut().find(|entry| entry.name == "agents") {
        inside(agents, |agents| listed(agents, problems));
    }
    limits::translate(&mut entries, problems);
    for entry in &mut entries {
        match entry.name.as_str() {
            "agents" => inside(entry, |agents| models::of_agents(agents, problems)),
            "hooks" => {
                refuse_empty_hooks(entry, problems);
                numbered(entry);
            }
            "tools" => inside(entry, |mut tools| {
                for entry in &mut tools {
                    match entry.name.as_str() {
                        "sandbox" | "subagents" => inside(entry, unwrapped),
                        "exec" => inside(entry, |exec| with_safe_bins(exec, problems)),
                        _ => {}
                    }
                }
                tools
            }),
            _ => {}
        }
    }
    models::of_providers(entries, problems)
}

fn inside(entry: &mut Entry, change: impl FnOnce(Vec<Entry>) -> Vec<Entry>) {
    if let Value::Table(entries) = &mut entry.node.value {
        *entries = change(mem::take(entries));
    }
}

/// Tables are programs as we describe them. `OpenClaw` has only names there, and a name says nothing
/// about options.
fn with_safe_bins(mut exec: Vec<Entry>, problems: &mut Problems) -> Vec<Entry> {
    let is_safe_bins = |entry: &Entry| matches!(entry.name.as_str(), "safe_bins" | "safeBins");
    exec.retain_mut(|entry| {
        if !is_safe_bins(entry) {
            return true;
        }
        let names = matches!(&entry.node.value, Value::List(items) if items.iter().all(|item| item.text().is_some()));
        if names {
            let message = "`tools.exec.safe_bins`: a name alone is ignored; describe the program's options";
            problems.warn(entry.position, "tools.exec.safe_bins", message.to_owned());
        }
        numbered(entry);
        !names
    });
    exec
}

fn unwrapped(entries: Vec<Entry>) -> Vec<Entry> {
    let unwrap = |entry: Entry| match entry {
        Entry { name, node: Node { value: Value::Table(rules), .. }, .. } if name == "tools" => {
            rules
        }
        entry => vec![entry],
    };
    entries.into_iter().flat_map(unwrap).collect()
}

/// Agents as a list with ids (`agents.list`), or in one more table (`agents.entries`).
fn listed(entries: Vec<Entry>, problems: &mut Problems) -> Vec<Entry> {
    let unwrap = |entry: Entry| match entry {
        Entry { name, node: Node { value: Value::Table(agents), .. }, .. }
            if name == "entries" && are_agents(&agents) =>
        {
            agents
        }
        Entry { name, node: Node { value: Value::List(agents), .. }, .. } if name == "list" => {
            agents.into_iter().filter_map(|agent| by_id(agent, problems)).collect()
        }
        entry => vec![entry],
    };
    entries.into_iter().flat_map(unwrap).collect()
}

/// Whether these are agents by name, and not what is said about one that is called `entries`.
fn are_agents(entries: &[Entry]) -> bool {
    let tables = entries.iter().all(|entry| matches!(entry.node.value, Value::Table(_)));
    tables && !entries.iter().any(|entry| matches!(entry.name.as_str(), "tools" | "limits"))
}

/// The agent as if its id were its key.
fn by_id(mut agent: Node, problems: &mut Problems) -> Option<Entry> {
    if let Value::Table(entries) = &mut agent.value
        && let Some(index) = entries.iter().position(|entry| entry.name == "id")
        && let Node { value: Value::Text(name), position } = entries.remove(index).node
    {
        return Some(Entry { name, position, node: agent });
    }
    let message = "`agents.list`: every item needs the `id` of its agent".to_owned();
    problems.add(agent.position, "agents.list", message);
    None
}

#[cfg(test)]
mod tests {
    use super::{KEYS, knows};
    use crate::keys;

    fn path(key: &str) -> Vec<String> {
        key.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn a_key_that_is_ours_is_not_in_the_list() {
        for key in KEYS {
            let ours =
                keys().iter().find(|own| format!("{}.", own.path).starts_with(&format!("{key}.")));
            assert!(ours.is_none(), "`{key}` is ours now; take it out, or say which part is not");
        }
        assert!(KEYS.is_sorted());
    }

    #[test]
    fn a_name_is_not_a_key() {
        for (key, expected) in [
            ("channels", true),
            ("tools.web", true),
            ("tools.exec.node", true),
            ("agents.defaults", true),
            ("agents.main.model", false),
            ("agents.main.skills", true),
            ("agents.main", false),
            ("agents", true),
            ("channel", false),
            ("tools.web.search.provider", false),
        ] {
            assert_eq!(knows(&path(key)), expected, "{key}");
        }
    }
}
