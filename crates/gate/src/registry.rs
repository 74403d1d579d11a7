//! Which tools exist.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use arc_swap::ArcSwap;
use policy::fold;
use tokio::sync::watch;
use tool::{AnyTool, Capabilities, Capability, ToolInfo};

use crate::{
    definition::{self, DefinitionLimits, RegistryError},
    validate::Compiled,
};

/// One tool, and what was worked out about it.
pub struct Entry {
    tool: Arc<dyn AnyTool>,
    compiled: OnceLock<Result<Compiled, String>>,
}

impl Entry {
    pub(crate) const fn new(tool: Arc<dyn AnyTool>) -> Self {
        Self { tool, compiled: OnceLock::new() }
    }

    /// The tool.
    pub fn tool(&self) -> &Arc<dyn AnyTool> {
        &self.tool
    }

    /// What is known about it.
    pub fn info(&self) -> &Arc<ToolInfo> {
        self.tool.info()
    }

    /// Its schema, compiled at first use. The error says why it cannot be used.
    pub(crate) fn compiled(&self) -> Result<&Compiled, &str> {
        self.compiled.get_or_init(|| Compiled::new(self.info())).as_ref().map_err(String::as_str)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tool.fmt(f)
    }
}

/// The tools at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: u64,
    tools: BTreeMap<Arc<str>, Arc<Entry>>,
    // Names and aliases, as written and folded.
    names: HashMap<String, Arc<Entry>>,
    unavailable: HashMap<Arc<str>, String>,
    /// Tools that run commands, or depend on one that does.
    commands: HashSet<Arc<str>>,
    /// Why no command can run. Trying that out takes milliseconds, so only when somebody asks.
    no_commands: OnceLock<Option<String>>,
    world: Option<Arc<dyn Capabilities>>,
}

impl Snapshot {
    /// Finds a tool by name or alias, however it is spelled.
    pub fn find(&self, name: &str) -> Option<&Arc<Entry>> {
        self.names.get(name).or_else(|| self.names.get(&fold(name)))
    }

    /// Every tool, in name order.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Arc<Entry>> {
        self.tools.values()
    }

    /// Why a tool cannot work here, or `None` if it can.
    pub fn unavailable(&self, name: &str) -> Option<&str> {
        if let Some(reason) = self.unavailable.get(name) {
            return Some(reason);
        }
        self.commands.get(name)?;
        let missing = || self.world.as_ref().and_then(|world| world.missing(Capability::Exec));
        self.no_commands.get_or_init(missing).as_deref()
    }

    /// Grows with every change.
    pub const fn generation(&self) -> u64 {
        self.generation
    }
}

/// Tools that may come and go while calls run. Readers never wait.
#[derive(Debug)]
pub struct Registry {
    // Replaced whole: a running call keeps the snapshot it started with.
    snapshot: ArcSwap<Snapshot>,
    writing: Mutex<()>,
    world: Arc<dyn Capabilities>,
    limits: DefinitionLimits,
    /// Says that what callers have may be different now.
    changes: watch::Sender<()>,
}

impl Registry {
    /// No tools yet; `world` knows what they can be given here.
    pub fn new(world: Arc<dyn Capabilities>, limits: DefinitionLimits) -> Self {
        let changes = watch::Sender::new(());
        Self { snapshot: ArcSwap::default(), writing: Mutex::new(()), world, limits, changes }
    }

    /// Told whenever tools come or go, or what decides who has them changes.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// What decides who has which tools has changed.
    pub(crate) fn changed(&self) {
        self.changes.send_replace(());
    }

    /// The tools of now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Adds tools: all, or none if one of them is not acceptable.
    pub fn add(&self, new: Vec<Arc<dyn AnyTool>>) -> Result<(), RegistryError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.snapshot.load();
        let (mut tools, mut names) = (old.tools.clone(), old.names.clone());
        for tool in new {
            definition::check(tool.info(), self.limits)?;
            let entry = Arc::new(Entry::new(tool));
            insert_names(&mut names, &entry)?;
            tools.insert(entry.info().name.clone(), entry);
        }
        definition::check_dependencies(&tools, &names)?;
        self.replace(old.generation, tools, names);
        Ok(())
    }

    /// Finds out again what cannot work here: configuration has changed.
    pub(crate) fn refresh(&self) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.snapshot.load();
        self.replace(old.generation, old.tools.clone(), old.names.clone());
    }

    /// Removes a tool; calls that have it already finish. What depends on it becomes unavailable.
    pub fn remove(&self, name: &str) -> Option<Arc<Entry>> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.snapshot.load();
        let (mut tools, mut names) = (old.tools.clone(), old.names.clone());
        let removed = tools.remove(name)?;
        names.retain(|_, entry| !Arc::ptr_eq(entry, &removed));
        self.replace(old.generation, tools, names);
        Some(removed)
    }

    fn replace(
        &self,
        generation: u64,
        tools: BTreeMap<Arc<str>, Arc<Entry>>,
        names: HashMap<String, Arc<Entry>>,
    ) {
        let unavailable = definition::unavailable(&tools, &names, self.world.as_ref());
        let commands = definition::run_commands(&tools, &names);
        let snapshot = Snapshot {
            generation: generation + 1,
            tools,
            names,
            unavailable,
            commands,
            no_commands: OnceLock::new(),
            world: Some(self.world.clone()),
        };
        self.snapshot.store(Arc::new(snapshot));
        self.changed();
    }
}

/// Uniqueness is on the folded form, over names and aliases alike.
fn insert_names(
    names: &mut HashMap<String, Arc<Entry>>,
    entry: &Arc<Entry>,
) -> Result<(), RegistryError> {
    let info = entry.info();
    for name in std::iter::once(&*info.name).chain(info.aliases.iter().map(String::as_str)) {
        for form in [fold(name), name.to_owned()] {
            match names.insert(form, entry.clone()) {
                Some(other) if !Arc::ptr_eq(&other, entry) => {
                    let other = other.info().name.to_string();
                    return Err(RegistryError::Duplicate { name: name.to_owned(), other });
                }
                _ => {}
            }
        }
    }
    Ok(())
}
