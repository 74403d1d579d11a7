//! Definitions of tools, as a request to a provider has them.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use serde_json::Value;
use tool::{Digest, ToolInfo};

use crate::{Format, Names, anthropic, gemini, mcp, names::wire_name, openai, openai_responses};

/// The definition of one tool.
pub fn definition(format: Format, tool: &ToolInfo) -> Value {
    named(format, tool, &wire_name(&tool.name))
}

/// The definitions of these tools, as the field `tools` of a request has them. Of two that have the
/// same name, which a provider would refuse, the first is taken.
pub fn definitions<'a>(format: Format, tools: impl Iterator<Item = &'a ToolInfo>) -> Value {
    let mut seen = HashSet::new();
    let tools: Vec<_> = tools.filter(|tool| seen.insert(&*tool.name)).collect();
    let names = Names::new(tools.iter().map(|tool| &*tool.name));
    let list = tools.iter().map(|tool| named(format, tool, &names.outward(&tool.name)));
    wrapped(format, list.collect())
}

fn named(format: Format, tool: &ToolInfo, name: &str) -> Value {
    match format {
        Format::OpenAi => openai::definition(tool, name),
        Format::OpenAiResponses => openai_responses::definition(tool, name),
        Format::Anthropic => anthropic::definition(tool, name),
        Format::Gemini => gemini::definition(tool, name),
        Format::Mcp => mcp::definition(tool, name),
    }
}

fn wrapped(format: Format, list: Vec<Value>) -> Value {
    match format {
        Format::Gemini => gemini::definitions(&list),
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic | Format::Mcp => {
            Value::Array(list)
        }
    }
}

/// The definitions of one set of tools, ready to be sent.
#[derive(Debug)]
pub struct DefinitionList {
    /// What [`definitions`] gives.
    pub value: Value,
    /// The same as JSON.
    pub json: Arc<str>,
    /// The names in it, and the way back.
    pub names: Names,
    // Kept, so that no other tool can have the address of one of them.
    tools: Vec<Arc<ToolInfo>>,
    empty: bool,
    digest: OnceLock<Digest>,
}

impl DefinitionList {
    /// Tells two lists apart for whoever does not want to keep one. Worked out once.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::of(self.json.as_bytes()))
    }

    /// Whether there is no tool in it.
    pub fn is_empty(&self) -> bool {
        self.empty
    }
}

/// Sets of tools kept at once; beyond that all are worked out again.
const MAX_LISTS: usize = 256;
/// Definitions of single tools kept at once.
const MAX_TOOLS: usize = 16_384;

/// Keeps definitions for as long as their tools are the same objects.
///
/// A tool that was registered again is another object, so nothing here can be stale.
#[derive(Debug, Default)]
pub struct Definitions {
    lists: Mutex<HashMap<(Format, u64), Arc<DefinitionList>>>,
    tools: Mutex<HashMap<(Format, usize), Kept>>,
}

#[derive(Debug, Clone)]
struct Kept {
    // Holds the address in the key.
    tool: Arc<ToolInfo>,
    name: String,
    value: Arc<Value>,
}

impl Definitions {
    /// The definitions of `tools`, in this order. Of two that have the same name the first is taken.
    pub fn list(&self, format: Format, tools: &[Arc<ToolInfo>]) -> Arc<DefinitionList> {
        let key = (format, fingerprint(tools));
        let same = |list: &&Arc<DefinitionList>| {
            list.tools.len() == tools.len()
                && list.tools.iter().zip(tools).all(|(one, other)| Arc::ptr_eq(one, other))
        };
        if let Some(list) = lock(&self.lists).get(&key).filter(same) {
            return list.clone();
        }
        // Worked out without the lock: others need not wait for a set that is new.
        let list = Arc::new(self.joined(format, tools, &[]));
        let mut lists = lock(&self.lists);
        if lists.len() >= MAX_LISTS {
            lists.clear();
        }
        lists.insert(key, list.clone());
        list
    }

    /// The definitions of `ours`, which are kept, and then of `theirs`, which came with a request and
    /// will not come again. Of two that have the same name the first is taken: whoever wants a tool
    /// of theirs instead of ours leaves ours out.
    pub fn joined(
        &self,
        format: Format,
        ours: &[Arc<ToolInfo>],
        theirs: &[ToolInfo],
    ) -> DefinitionList {
        let all = ours.iter().map(|tool| &**tool).chain(theirs);
        let names = Names::new(all.map(|tool| &*tool.name));
        let mut seen = HashSet::new();
        let mut list = Vec::with_capacity(ours.len() + theirs.len());
        for tool in ours.iter().filter(|tool| seen.insert(tool.name.clone())) {
            list.push(Value::clone(&self.one(format, tool, &names.outward(&tool.name))));
        }
        for tool in theirs.iter().filter(|tool| seen.insert(tool.name.clone())) {
            list.push(named(format, tool, &names.outward(&tool.name)));
        }
        let empty = list.is_empty();
        let value = wrapped(format, list);
        let json = value.to_string().into();
        DefinitionList { value, json, names, tools: ours.to_vec(), empty, digest: OnceLock::new() }
    }

    /// Many callers have the same tool, each in a set of their own.
    fn one(&self, format: Format, tool: &Arc<ToolInfo>, name: &str) -> Arc<Value> {
        let key = (format, Arc::as_ptr(tool).addr());
        let same = |kept: &&Kept| Arc::ptr_eq(&kept.tool, tool) && kept.name == name;
        if let Some(kept) = lock(&self.tools).get(&key).filter(same) {
            return kept.value.clone();
        }
        let value = Arc::new(named(format, tool, name));
        let mut kept = lock(&self.tools);
        if kept.len() >= MAX_TOOLS {
            kept.clear();
        }
        let entry = Kept { tool: tool.clone(), name: name.to_owned(), value: value.clone() };
        kept.insert(key, entry);
        value
    }
}

fn fingerprint(tools: &[Arc<ToolInfo>]) -> u64 {
    // One pass to a single number: hashing each address by itself costs ten times as much.
    let mixed = tools.iter().fold(0_u64, |sum, tool| {
        (sum.rotate_left(5) ^ Arc::as_ptr(tool).addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    let mut hasher = DefaultHasher::new();
    (mixed, tools.len()).hash(&mut hasher);
    hasher.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_set_is_worked_out_once_and_again_when_a_tool_is_replaced() {
        let tool = |name: &str| Arc::new(ToolInfo::new(name, "Does it.", json!({})));
        let cache = Definitions::default();
        let mut tools: Vec<_> = (0..512).map(|n| tool(&format!("plugin.tool_{n}"))).collect();
        for format in Format::ALL {
            let first = cache.list(format, &tools);
            assert!(Arc::ptr_eq(&first, &cache.list(format, &tools)));
            assert_eq!(first.value, definitions(format, tools.iter().map(|tool| &**tool)));
            assert_eq!(*first.json, *first.value.to_string());
        }
        let before = cache.list(Format::Mcp, &tools);
        let mut changed = ToolInfo::clone(&tools[7]);
        "Does it better.".clone_into(&mut changed.description);
        tools[7] = Arc::new(changed);
        let after = cache.list(Format::Mcp, &tools);
        assert_eq!(before.value[8], after.value[8]);
        assert_ne!(before.digest(), after.digest());
        assert_eq!(after.value[7]["description"], "Does it better.");
        assert_eq!(after.names.inward(after.value[7]["name"].as_str().unwrap()), "plugin.tool_7");
    }

    #[test]
    fn a_tool_that_a_client_brings_breaks_nothing() {
        let tool = |name: &str, text: &str| ToolInfo::new(name, text, json!({"type": "OBJECT"}));
        let ours = ["read", "plugin.find"].map(|name| Arc::new(tool(name, "Ours.")));
        // Our names, a name that looks like one of ours once it is mapped, and names that are none.
        let mapped = wire_name("plugin.find").into_owned();
        let long = "x".repeat(300);
        let names = ["read", "plugin.find", &mapped, "mine", "mine", "", " ", "日本", &long];
        let theirs = names.map(|name| tool(name, "Theirs."));
        for format in Format::ALL {
            let cache = Definitions::default();
            let list = cache.joined(format, &ours, &theirs);
            let functions = match format {
                Format::Gemini => &list.value[0]["functionDeclarations"],
                Format::OpenAi | Format::OpenAiResponses | Format::Anthropic | Format::Mcp => {
                    &list.value
                }
            };
            let functions = functions.as_array().unwrap();
            let text = |function: &Value, key: &str| {
                let function = function.get("function").unwrap_or(function);
                function[key].as_str().unwrap().to_owned()
            };
            let wire: Vec<_> = functions.iter().map(|function| text(function, "name")).collect();
            let back: Vec<_> = wire.iter().map(|name| list.names.inward(name)).collect();
            assert_eq!(back, ["read", "plugin.find", &mapped, "mine", "", " ", "日本", &long]);
            let unique: HashSet<_> = wire.iter().collect();
            assert_eq!(unique.len(), wire.len());
            let ours = functions.iter().filter(|function| text(function, "description") == "Ours.");
            assert_eq!(ours.count(), 2);
            assert_eq!(lock(&cache.tools).len(), 2, "what clients bring is not kept");
        }
    }
}
