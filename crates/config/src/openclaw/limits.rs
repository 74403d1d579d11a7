//! What limits agents in a configuration of `OpenClaw`: it is taken over, or it is an error. A limit that is read
//! and not kept would be worse than none.

mod exec;
mod sandbox;

use crate::{
    node::{Entry, Node, Position, Value},
    place::snake_case,
    problems::Problems,
};

/// Moves limits to where Toolgate has them, and refuses those that it does not have.
pub(super) fn translate(entries: &mut Vec<Entry>, problems: &mut Problems) {
    let mut limits = Limits { problems, moved: Vec::new() };
    if let Some(tools) = table(entries, "tools") {
        limits.tools(tools);
    }
    let elevated = is_elevated(entries);
    if let Some(agents) = table(entries, "agents") {
        limits.agents(agents, elevated);
    }
    if let Some(gateway) = table(entries, "gateway") {
        limits.gateway(gateway);
    }
    if let Some(channels) = find(entries, "channels") {
        limits.channels(channels);
    }
    for moved in limits.moved {
        moved.put(entries);
    }
}

/// A limit that stands elsewhere in Toolgate.
struct Moved {
    path: Vec<String>,
    what: Setting,
    position: Position,
}

enum Setting {
    /// Names that a list gets besides those it has.
    Names(Vec<String>),
    /// A value for a key that is not set.
    Value(Value),
}

impl Moved {
    fn put(self, entries: &mut Vec<Entry>) {
        let Self { path, what, position } = self;
        let Some((last, tables)) = path.split_last() else { return };
        let mut here = entries;
        for name in tables {
            let Some(next) = table_at(here, name, position) else { return };
            here = next;
        }
        let known = here.iter().position(|entry| snake_case(&entry.name) == *last);
        match (known.and_then(|at| here.get_mut(at)), what) {
            (Some(entry), Setting::Names(names)) => {
                if let Value::List(items) = &mut entry.node.value {
                    items.extend(names.into_iter().map(|name| text(name, position)));
                }
            }
            (None, Setting::Names(names)) => {
                let items = names.into_iter().map(|name| text(name, position)).collect();
                here.push(entry(last, Value::List(items), position));
            }
            // What stands there already was written for Toolgate.
            (Some(_), Setting::Value(_)) => {}
            (None, Setting::Value(value)) => here.push(entry(last, value, position)),
        }
    }
}

/// What stands before a sender there.
const PREFIXES: [&str; 5] = ["channel:", "id:", "e164:", "username:", "name:"];

/// Keys of `agents.<id>.tools` that hold for one agent in `OpenClaw`, and for all in Toolgate.
const FOR_ALL: &str = "Toolgate has this for all agents only";

struct Limits<'a> {
    problems: &'a mut Problems,
    moved: Vec<Moved>,
}

impl Limits<'_> {
    fn tools(&mut self, tools: &mut Vec<Entry>) {
        if let Some(elevated) = table(tools, "elevated") {
            allow_from(elevated);
        }
        if let Some(exec) = table(tools, "exec") {
            self.exec(exec);
        }
        if let Some(fs) = table(tools, "fs") {
            native_if_true(fs, "workspace_only");
        }
        if let Some(web) = table(tools, "web") {
            self.web(web);
        }
        if let Some(sessions) = table(tools, "sessions") {
            self.visibility(sessions);
        }
        for name in ["exec", "fs", "web"] {
            drop_if_empty(tools, name);
        }
        if let Some(at) = position(tools, "tools_by_sender") {
            let Entry { position, node, .. } = tools.remove(at);
            self.by_sender(node, position);
        }
    }

    fn web(&mut self, web: &mut [Entry]) {
        if let Some(search) = table(web, "search")
            && let Some(off) = take_if(search, "enabled", is_false)
        {
            self.deny(&["tools"], &["web_search"], off.position);
        }
        let Some(fetch) = table(web, "fetch") else { return };
        if let Some(off) = take_if(fetch, "enabled", is_false) {
            self.deny(&["tools"], &["web_fetch", "http_request"], off.position);
        }
        if let Some(timeout) = named(fetch, "timeout_seconds") {
            "timeout".clone_into(&mut timeout.name);
        }
        // Characters are at least as many bytes, so the smallest number is the strictest.
        let sizes = ["max_chars", "max_chars_cap", "max_response_bytes"];
        let found: Vec<_> =
            sizes.iter().filter_map(|name| take_if(fetch, name, is_number)).collect();
        let least =
            found.iter().filter_map(|entry| Some((integer(&entry.node.value)?, entry.position)));
        if let Some((number, position)) = least.min_by_key(|(number, _)| *number) {
            let path = ["tools", "web", "fetch", "max_bytes"];
            self.set(&path, Value::Integer(number), position);
        }
    }

    /// Agents see the sessions of their own name only, unless `agents.<id>.sessions` opens others.
    fn visibility(&mut self, sessions: &mut [Entry]) {
        let Some(entry) = named(sessions, "visibility") else { return };
        if matches!(entry.node.text(), Some("self" | "tree")) {
            let (position, key) = (entry.position, "tools.sessions.visibility");
            let hint = "agents see the sessions of their own agent; deny `sessions_list`, \
                        `sessions_history` and `sessions_send` instead";
            self.refuse(position, key, hint);
        }
    }

    /// `id:X`, `e164:X`, `username:X` and `name:X` are `X` here, `channel:C:X` is `C:X`.
    fn by_sender(&mut self, node: Node, position: Position) {
        let Value::Table(senders) = node.value else {
            self.moved.push(Moved {
                path: vec!["tools".to_owned(), "by_sender".to_owned()],
                what: Setting::Value(node.value),
                position,
            });
            return;
        };
        for sender in senders {
            let bare = PREFIXES.iter().find_map(|prefix| sender.name.strip_prefix(prefix));
            let name = bare.unwrap_or(&sender.name).to_owned();
            self.moved.push(Moved {
                path: vec!["tools".to_owned(), "by_sender".to_owned(), name],
                what: Setting::Value(sender.node.value),
                position: sender.position,
            });
        }
    }

    fn gateway(&mut self, gateway: &mut [Entry]) {
        let Some(tools) = table(gateway, "tools") else { return };
        let Some(at) = position(tools, "deny") else { return };
        let Entry { position, node, .. } = tools.remove(at);
        let names = names(&node);
        let path = ["tools", "by_channel", "http"];
        self.deny(&path, &names.iter().map(String::as_str).collect::<Vec<_>>(), position);
    }

    /// Toolgate has no channels of its own, and the rest of the section means nothing to it.
    fn channels(&mut self, channels: &Entry) {
        let mut open = vec![(channels, "channels".to_owned())];
        while let Some((entry, path)) = open.pop() {
            let name = snake_case(&entry.name);
            if matches!(name.as_str(), "tools" | "tools_by_sender") && !is_empty(&entry.node.value)
            {
                let hint = "write rules about a channel into `tools.by_channel.<channel>`, and about a \
                            sender into `tools.by_sender`";
                self.refuse(entry.position, &path, hint);
                continue;
            }
            if let Value::Table(inner) = &entry.node.value {
                open.extend(inner.iter().map(|one| (one, format!("{path}.{}", one.name))));
            }
        }
    }

    fn agents(&mut self, agents: &mut [Entry], elevated: Elevated) {
        for agent in agents {
            let id = agent.name.clone();
            let Value::Table(entries) = &mut agent.node.value else { continue };
            if id == "defaults" {
                self.defaults(entries);
                continue;
            }
            if let Some(sandbox) = table(entries, "sandbox") {
                self.sandbox(sandbox, &sandbox::Scope::Agent(&id));
            }
            drop_if_empty(entries, "sandbox");
            if let Some(tools) = table(entries, "tools") {
                self.agent_tools(tools, &id, elevated);
            }
        }
    }

    fn defaults(&mut self, defaults: &mut Vec<Entry>) {
        if let Some(sandbox) = table(defaults, "sandbox") {
            self.sandbox(sandbox, &sandbox::Scope::All);
        }
        drop_if_empty(defaults, "sandbox");
        if let Some(subagents) = table(defaults, "subagents") {
            if let Some(allow) = position(subagents, "allow_agents") {
                let Entry { position, node, .. } = subagents.remove(allow);
                self.set(&["tools", "subagents", "agents"], node.value, position);
            }
            if let Some(depth) = position(subagents, "max_spawn_depth") {
                let Entry { position, node, .. } = subagents.remove(depth);
                self.set(&["tools", "subagents", "max_depth"], node.value, position);
            }
        }
        drop_if_empty(defaults, "subagents");
        for name in ["tools", "timeout_seconds"] {
            if let Some(entry) = named(defaults, name) {
                let hint = match name {
                    "tools" => "rules for all agents stand in `tools`",
                    _ => "name the time of each agent in `agents.<id>.limits.time`",
                };
                let (position, key) = (entry.position, format!("agents.defaults.{}", entry.name));
                self.refuse(position, &key, hint);
            }
        }
    }

    fn agent_tools(&mut self, tools: &mut Vec<Entry>, id: &str, elevated: Elevated) {
        if let Some(fs) = table(tools, "fs") {
            native_if_true(fs, "workspace_only");
        }
        drop_if_empty(tools, "fs");
        if let Some(exec) = table(tools, "exec") {
            self.agent_exec(exec, id);
        }
        drop_if_empty(tools, "exec");
        if let Some(own) = find(tools, "elevated")
            && elevated == Elevated::On
            && limits_elevated(own)
        {
            let hint = "Toolgate has this for all agents only: set `tools.elevated`";
            self.refuse(own.position, &format!("agents.{id}.tools.elevated"), hint);
        }
        if let Some(by_sender) = find(tools, "tools_by_sender") {
            let hint = "Toolgate has this for all agents only: `tools.by_sender`";
            self.refuse(by_sender.position, &format!("agents.{id}.tools.toolsBySender"), hint);
        }
        if let Some(sandbox) = table(tools, "sandbox") {
            self.agent_sandbox_tools(sandbox, id);
            drop_if_empty(sandbox, "tools");
        }
        drop_if_empty(tools, "sandbox");
    }

    fn agent_sandbox_tools(&mut self, sandbox: &mut [Entry], id: &str) {
        let Some(rules) = table(sandbox, "tools") else { return };
        if let Some(allow) = find(rules, "allow") {
            let hint = "name the tools in `agents.<id>.tools.allow` instead";
            self.refuse(allow.position, &format!("agents.{id}.tools.sandbox.tools.allow"), hint);
        }
        if let Some(at) = position(rules, "deny") {
            let Entry { position, node, .. } = rules.remove(at);
            let names = names(&node);
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            self.deny(&["agents", id, "tools"], &names, position);
        }
    }

    fn deny(&mut self, table: &[&str], names: &[&str], position: Position) {
        let path = table.iter().chain(&["deny"]).map(|part| (*part).to_owned()).collect();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.moved.push(Moved { path, what: Setting::Names(names), position });
    }

    fn set(&mut self, path: &[&str], value: Value, position: Position) {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.moved.push(Moved { path, what: Setting::Value(value), position });
    }

    fn refuse(&mut self, position: Position, key: &str, hint: &str) {
        let message =
            format!("`{key}` limits agents in OpenClaw, and Toolgate cannot keep it; {hint}");
        self.problems.add(position, key, message);
    }
}

/// Whether anybody may run commands outside the sandbox at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elevated {
    On,
    Off,
}

fn is_elevated(entries: &mut [Entry]) -> Elevated {
    let tools = table(entries, "tools");
    let elevated = tools.and_then(|tools| table(tools, "elevated"));
    let enabled = elevated.and_then(|elevated| named(elevated, "enabled"));
    match enabled.map(|entry| &entry.node.value) {
        Some(Value::Bool(true)) => Elevated::On,
        _ => Elevated::Off,
    }
}

fn limits_elevated(own: &Entry) -> bool {
    let Value::Table(entries) = &own.node.value else { return false };
    let off = find(entries, "enabled").is_some_and(|entry| is_false(&entry.node.value));
    off || find(entries, "allow_from").is_some()
}

/// `{whatsapp: ["+1555"]}` is `["whatsapp:+1555"]`.
fn allow_from(elevated: &mut [Entry]) {
    let Some(entry) = named(elevated, "allow_from") else { return };
    let Value::Table(channels) = &mut entry.node.value else { return };
    let of_channel = |channel: &Entry| {
        let Value::List(senders) = &channel.node.value else { return Vec::new() };
        let one = |sender: &Node| {
            let number = integer(&sender.value).map(|number| number.to_string());
            let name = number.or_else(|| sender.text().map(str::to_owned))?;
            Some(text(format!("{}:{name}", channel.name), sender.position))
        };
        senders.iter().filter_map(one).collect()
    };
    entry.node.value = Value::List(channels.iter().flat_map(of_channel).collect());
}

/// Takes out a table in which nothing is left.
fn drop_if_empty(entries: &mut Vec<Entry>, name: &str) {
    take_if(entries, name, is_empty);
}

/// Takes out a key that says what holds in Toolgate anyway. One that says the opposite is warned about.
fn native_if_true(entries: &mut Vec<Entry>, name: &str) {
    take_if(entries, name, |value| matches!(value, Value::Bool(true)));
}

fn take_if(entries: &mut Vec<Entry>, name: &str, wanted: impl Fn(&Value) -> bool) -> Option<Entry> {
    let at = position(entries, name)?;
    entries.get(at).is_some_and(|entry| wanted(&entry.node.value)).then(|| entries.remove(at))
}

fn is_false(value: &Value) -> bool {
    matches!(value, Value::Bool(false))
}

fn is_number(value: &Value) -> bool {
    integer(value).is_some()
}

const fn integer(value: &Value) -> Option<i128> {
    if let Value::Integer(number) = value { Some(*number) } else { None }
}

fn is_empty(value: &Value) -> bool {
    matches!(value, Value::Table(entries) if entries.is_empty())
}

/// The texts of a list.
fn names(node: &Node) -> Vec<String> {
    let Value::List(items) = &node.value else { return Vec::new() };
    items.iter().filter_map(|item| item.text().map(str::to_owned)).collect()
}

fn position(entries: &[Entry], name: &str) -> Option<usize> {
    entries.iter().position(|entry| snake_case(&entry.name) == name)
}

fn find<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Entry> {
    entries.iter().find(|entry| snake_case(&entry.name) == name)
}

fn named<'a>(entries: &'a mut [Entry], name: &str) -> Option<&'a mut Entry> {
    entries.iter_mut().find(|entry| snake_case(&entry.name) == name)
}

fn table<'a>(entries: &'a mut [Entry], name: &str) -> Option<&'a mut Vec<Entry>> {
    match &mut named(entries, name)?.node.value {
        Value::Table(inner) => Some(inner),
        Value::Text(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::List(_)
        | Value::Other(_) => None,
    }
}

/// The table `name`, made if it is not there.
fn table_at<'a>(
    entries: &'a mut Vec<Entry>,
    name: &str,
    position: Position,
) -> Option<&'a mut Vec<Entry>> {
    if find(entries, name).is_none() {
        entries.push(entry(name, Value::Table(Vec::new()), position));
    }
    table(entries, name)
}

fn entry(name: &str, value: Value, position: Position) -> Entry {
    Entry { name: name.to_owned(), position, node: Node { value, position } }
}

fn text(text: String, position: Position) -> Node {
    Node { value: Value::Text(text), position }
}
