//! Whether a tool's definition can be accepted, and whether the tool can work here.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use policy::fold;
use serde_json::Value;
use tool::{Capabilities, Capability, ToolInfo};

use crate::registry::Entry;

/// How large a definition may be.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the names say it")]
pub struct DefinitionLimits {
    pub parameters: usize,
    pub depth: usize,
}

/// A definition was not accepted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum RegistryError {
    #[error("`{name}` is already a name of the tool `{other}`")]
    Duplicate { name: String, other: String },
    #[error("`{0}` is not a snake_case name of at most 64 letters, digits and `_`")]
    Name(String),
    #[error("`{0}` has no description; write a doc comment on its struct")]
    Undescribed(String),
    #[error("`{0}`: the root of its schema must have `type: object`")]
    NotAnObject(String),
    #[error("`{name}` has {count} parameters; at most {max} are allowed")]
    TooManyParameters { name: String, count: usize, max: usize },
    #[error("`{name}`: its parameters are nested deeper than {max} levels")]
    TooDeep { name: String, max: usize },
    #[error("`{name}` depends on `{missing}`, which does not exist")]
    UnknownDependency { name: String, missing: String },
    #[error("`{0}` depends on itself, directly or through others")]
    Cycle(String),
}

type Tools = BTreeMap<Arc<str>, Arc<Entry>>;
type Names = HashMap<String, Arc<Entry>>;

/// Checks what can be seen without the other tools.
pub(crate) fn check(info: &ToolInfo, limits: DefinitionLimits) -> Result<(), RegistryError> {
    let name = || info.name.to_string();
    if !is_snake_case(&info.name) {
        return Err(RegistryError::Name(name()));
    }
    if info.description.trim().is_empty() {
        return Err(RegistryError::Undescribed(name()));
    }
    if info.parameters.get("type") != Some(&Value::from("object")) {
        return Err(RegistryError::NotAnObject(name()));
    }
    let count = info
        .parameters
        .get("properties")
        .and_then(Value::as_object)
        .map_or(0, serde_json::Map::len);
    if count > limits.parameters {
        let max = limits.parameters;
        return Err(RegistryError::TooManyParameters { name: name(), count, max });
    }
    if depth(&info.parameters) > limits.depth {
        return Err(RegistryError::TooDeep { name: name(), max: limits.depth });
    }
    Ok(())
}

fn is_snake_case(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// How many objects and lists deep arguments can be.
fn depth(schema: &Value) -> usize {
    let properties = schema.get("properties").and_then(Value::as_object);
    let inner = properties.into_iter().flat_map(|map| map.values()).map(depth).max();
    let items = schema.get("items").map(depth);
    inner.max(items).map_or(0, |deepest| deepest + 1)
}

/// Every dependency exists, and none leads back to where it began.
pub(crate) fn check_dependencies(tools: &Tools, names: &Names) -> Result<(), RegistryError> {
    let mut done = HashMap::new();
    for entry in tools.values().filter(|entry| !entry.info().depends.is_empty()) {
        follow(entry, names, &mut done)?;
    }
    Ok(())
}

/// Depth first; an entry that is `false` in `done` is on the way here.
fn follow(
    entry: &Arc<Entry>,
    names: &Names,
    done: &mut HashMap<Arc<str>, bool>,
) -> Result<(), RegistryError> {
    let info = entry.info();
    match done.get(&info.name) {
        Some(true) => return Ok(()),
        Some(false) => return Err(RegistryError::Cycle(info.name.to_string())),
        None => done.insert(info.name.clone(), false),
    };
    for missing in &info.depends {
        let Some(needed) = names.get(&fold(missing)) else {
            let (name, missing) = (info.name.to_string(), missing.clone());
            return Err(RegistryError::UnknownDependency { name, missing });
        };
        follow(needed, names, done)?;
    }
    done.insert(info.name.clone(), true);
    Ok(())
}

/// The tools that cannot work here, with the reason.
pub(crate) fn unavailable(
    tools: &Tools,
    names: &Names,
    world: &dyn Capabilities,
) -> HashMap<Arc<str>, String> {
    let mut found = HashMap::new();
    for entry in tools.values() {
        if let Some(reason) = own_reason(entry.info(), world) {
            found.insert(entry.info().name.clone(), reason);
        }
    }
    // A chain of dependencies is at most as long as there are tools that have any.
    let dependants: Vec<_> =
        tools.values().filter(|entry| !entry.info().depends.is_empty()).collect();
    for _ in &dependants {
        for entry in &dependants {
            let info = entry.info();
            let broken = info.depends.iter().find(|name| {
                names.get(&fold(name)).is_none_or(|entry| found.contains_key(&entry.info().name))
            });
            if let Some(broken) = broken {
                let reason = || format!("it depends on `{broken}`, which is not available");
                found.entry(info.name.clone()).or_insert_with(reason);
            }
        }
    }
    found
}

/// The tools that run commands, or depend on one that does.
pub(crate) fn run_commands(tools: &Tools, names: &Names) -> HashSet<Arc<str>> {
    let runs = |entry: &&Arc<Entry>| entry.info().uses.contains(&Capability::Exec);
    let mut found: HashSet<_> =
        tools.values().filter(runs).map(|entry| entry.info().name.clone()).collect();
    loop {
        let needs = |entry: &&Arc<Entry>| {
            let depends = &entry.info().depends;
            let mut needed = depends.iter().filter_map(|name| names.get(&fold(name)));
            needed.any(|needed| found.contains(&needed.info().name))
        };
        let more: Vec<_> = tools.values().filter(needs).map(|it| it.info().name.clone()).collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

fn own_reason(info: &ToolInfo, world: &dyn Capabilities) -> Option<String> {
    let platforms = info.requires.platforms;
    if !platforms.is_empty() && !platforms.contains(&std::env::consts::OS) {
        return Some(format!("it works on {} only", platforms.join(", ")));
    }
    // Whether commands can run is found out when somebody asks for a tool that runs them.
    let uses = info.uses.iter().filter(|capability| **capability != Capability::Exec);
    let capability = uses.into_iter().find_map(|capability| world.missing(*capability));
    capability
        .or_else(|| info.requires.programs.iter().find_map(|name| world.missing_program(name)))
}
