//! What configurations of `OpenClaw` say about models.

use std::mem;

use super::inside;
use crate::{
    node::{Entry, Node, Position, Value},
    problems::Problems,
};

/// What their name for a format means; theirs are names of interfaces.
const FORMATS: &[(&str, &str)] = &[
    ("anthropic-messages", "anthropic"),
    ("google-generative-ai", "gemini"),
    ("openai-completions", "openai"),
    ("openai-responses", "openai-responses"),
];

/// The agents, each with its model where we have it: `model` may be a table there, `subagents` is one,
/// and `defaults.model` is for those who have none.
pub(super) fn of_agents(mut agents: Vec<Entry>, problems: &mut Problems) -> Vec<Entry> {
    let default = default_model(&mut agents, problems);
    for agent in agents.iter_mut().filter(|agent| agent.name != "defaults") {
        let key = format!("agents.{}", agent.name);
        inside(agent, |mut entries| {
            one_inside(&mut entries, "model", "primary", &key, problems);
            one_inside(&mut entries, "subagents", "allow_agents", &key, problems);
            if !entries.iter().any(|entry| entry.name == "model") {
                entries.extend(default.clone());
            }
            entries
        });
    }
    if let Some(default) = default.filter(|_| agents.iter().all(|agent| agent.name == "defaults")) {
        let position = default.position;
        agents.push(table("main", position, vec![default]));
    }
    agents
}

/// `agents.defaults.model`, taken out.
fn default_model(agents: &mut Vec<Entry>, problems: &mut Problems) -> Option<Entry> {
    let at = agents.iter().position(|agent| agent.name == "defaults")?;
    let Value::Table(entries) = &mut agents.get_mut(at)?.node.value else { return None };
    one_inside(entries, "model", "primary", "agents.defaults", problems);
    let model = take(entries, "model");
    if entries.is_empty() {
        agents.remove(at);
    }
    model
}

/// Puts the field `wanted` of the table `name` in the place of that table.
fn one_inside(
    entries: &mut Vec<Entry>,
    name: &str,
    wanted: &str,
    key: &str,
    problems: &mut Problems,
) {
    let Some(at) = entries.iter().position(|entry| entry.name == name) else { return };
    let Some(Entry { node: Node { value: Value::Table(inner), .. }, .. }) = entries.get_mut(at)
    else {
        return;
    };
    let mut inner = mem::take(inner);
    let found = take(&mut inner, wanted);
    for entry in inner {
        foreign(&entry, &format!("{key}.{name}"), problems);
    }
    match (found, entries.get_mut(at)) {
        (Some(found), Some(entry)) => entry.node = found.node,
        (Some(_) | None, _) => drop(entries.remove(at)),
    }
}

/// The whole file, with `models.providers` where we have it.
pub(super) fn of_providers(mut file: Vec<Entry>, problems: &mut Problems) -> Vec<Entry> {
    let Some(at) = file.iter().position(|entry| entry.name == "models") else { return file };
    let Some(Entry { node: Node { value: Value::Table(models), .. }, .. }) = file.get_mut(at)
    else {
        return file;
    };
    let Some(Entry { node: Node { value: Value::Table(providers), .. }, position, .. }) =
        take(models, "providers")
    else {
        return file;
    };
    for entry in mem::take(models) {
        foreign(&entry, "models", problems);
    }
    file.remove(at);
    let (mut ours, mut secrets) = (Vec::new(), Vec::new());
    for mut provider in providers {
        let name = provider.name.clone();
        inside(&mut provider, |entries| of_provider(&name, entries, &mut secrets, problems));
        ours.push(provider);
    }
    add(&mut file, table("providers", position, ours));
    add(&mut file, table("secrets", position, secrets));
    file
}

/// One provider, field by field.
fn of_provider(
    name: &str,
    entries: Vec<Entry>,
    secrets: &mut Vec<Entry>,
    problems: &mut Problems,
) -> Vec<Entry> {
    let mut ours = Vec::new();
    let key = format!("models.providers.{name}");
    for mut entry in entries {
        match (snake(&entry.name).as_str(), variable(&entry.node)) {
            ("base_url" | "headers", _) => ours.push(entry),
            ("api", _) => match entry.node.text().and_then(format_of) {
                Some(format) => {
                    entry.node.value = Value::Text(format.to_owned());
                    ours.push(Entry { name: "format".to_owned(), ..entry });
                }
                None => foreign(&entry, &key, problems),
            },
            ("api_key", Some(variable)) => {
                let secret = format!("{name}_key");
                let place = Value::Text(format!("env:{variable}"));
                secrets.push(entry_of(&secret, entry.position, place));
                ours.push(entry_of("key", entry.position, Value::Text(secret)));
            }
            ("api_key", None) => {
                let message = format!(
                    "`{key}.{}` is ignored; put the secret into an environment variable or a file, \
                     name that in `secrets`, and the secret in `providers.{name}.key`",
                    entry.name
                );
                problems.warn(entry.position, &key, message);
            }
            ("models", _) => ours.extend(of_model(&entry, &key, problems)),
            _ => foreign(&entry, &key, problems),
        }
    }
    ours
}

/// What is known about the models of a provider, if there is one; we do not tell several apart.
fn of_model(entry: &Entry, key: &str, problems: &mut Problems) -> Vec<Entry> {
    let Value::List(models) = &entry.node.value else {
        foreign(entry, key, problems);
        return Vec::new();
    };
    let [Node { value: Value::Table(fields), .. }] = models.as_slice() else {
        foreign(entry, key, problems);
        return Vec::new();
    };
    let renamed = |from: &[Entry], theirs: &str, ours: &str| {
        let found = from.iter().find(|field| snake(&field.name) == theirs);
        found.map(|field| Entry { name: ours.to_owned(), ..field.clone() })
    };
    let cost = fields.iter().find(|field| field.name == "cost").map(|cost| &cost.node.value);
    let cost = if let Some(Value::Table(cost)) = cost { cost.as_slice() } else { &[] };
    let known = [
        renamed(fields, "id", "model"),
        renamed(fields, "context_window", "context_tokens"),
        renamed(cost, "input", "input_price"),
        renamed(cost, "output", "output_price"),
    ];
    known.into_iter().flatten().collect()
}

/// The variable that `${NAME}` names. Anything else may be the secret itself.
fn variable(node: &Node) -> Option<&str> {
    node.text()?.strip_prefix("${")?.strip_suffix('}').filter(|name| !name.is_empty())
}

fn format_of(theirs: &str) -> Option<&'static str> {
    FORMATS.iter().find(|(name, _)| *name == theirs).map(|(_, ours)| *ours)
}

/// Adds to a table of the file, or makes it.
fn add(file: &mut Vec<Entry>, table: Entry) {
    let Entry { name, node, .. } = &table;
    let Value::Table(new) = &node.value else { return };
    if new.is_empty() {
        return;
    }
    match file.iter_mut().find(|entry| entry.name == *name).map(|entry| &mut entry.node.value) {
        Some(Value::Table(entries)) => entries.extend(new.clone()),
        Some(_) | None => file.push(table),
    }
}

fn take(entries: &mut Vec<Entry>, name: &str) -> Option<Entry> {
    let at = entries.iter().position(|entry| snake(&entry.name) == name)?;
    Some(entries.remove(at))
}

fn table(name: &str, position: Position, entries: Vec<Entry>) -> Entry {
    entry_of(name, position, Value::Table(entries))
}

fn entry_of(name: &str, position: Position, value: Value) -> Entry {
    Entry { name: name.to_owned(), position, node: Node { value, position } }
}

fn snake(name: &str) -> String {
    crate::place::snake_case(name)
}

fn foreign(entry: &Entry, table: &str, problems: &mut Problems) {
    problems.foreign(entry.position, &format!("{table}.{}", entry.name));
}
