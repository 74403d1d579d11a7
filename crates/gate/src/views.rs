//! The tools one caller has, worked out once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use policy::{Rule, Rules};
use tool::{Caller, Confined, Left, Role};

use crate::{
    registry::{Entry, Snapshot},
    settings::Settings,
};

/// Views kept at once; beyond that all are worked out again.
const MAX_VIEWS: usize = 256;

/// What one caller has of the tools of one moment.
#[derive(Debug)]
pub struct View {
    snapshot: Arc<Snapshot>,
    settings: u64,
    against: HashMap<Arc<str>, Rule>,
}

/// What a view says about a name.
#[derive(Debug)]
pub enum Found<'a> {
    /// The caller has the tool.
    Tool(&'a Arc<Entry>),
    /// There is such a tool, but not for this caller.
    Withheld(&'a Arc<Entry>, &'a Rule),
    /// The tool is the caller's but cannot work here.
    Unavailable(&'a Arc<Entry>, &'a str),
    /// There is no such tool.
    Unknown,
}

impl View {
    /// Works out the view; a child has at most what its parent has.
    fn new(
        snapshot: Arc<Snapshot>,
        settings: &Settings,
        caller: &Caller,
        parent: Option<&Self>,
    ) -> Self {
        let rules = Rules::new(&settings.config, caller);
        let against = snapshot.tools().filter_map(|entry| {
            let name = &entry.info().name;
            let inherited = parent.and_then(|parent| parent.against.get(name)).map(inherited);
            let rule = inherited.or_else(|| rules.against(entry.info()))?;
            Some((name.clone(), rule))
        });
        let against = against.collect();
        Self { snapshot, settings: settings.generation, against }
    }

    /// Looks a name up; the cost does not depend on how many tools there are.
    pub fn find(&self, name: &str) -> Found<'_> {
        let Some(entry) = self.snapshot.find(name) else { return Found::Unknown };
        let name = &entry.info().name;
        if let Some(rule) = self.against.get(name) {
            return Found::Withheld(entry, rule);
        }
        match self.snapshot.unavailable(name) {
            Some(reason) => Found::Unavailable(entry, reason),
            None => Found::Tool(entry),
        }
    }

    /// The tools of the view, in name order.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.snapshot.tools().filter(|entry| {
            let name = &entry.info().name;
            !self.against.contains_key(name) && self.snapshot.unavailable(name).is_none()
        })
    }

    /// Every tool there is, for the owner to look at.
    pub const fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Changes whenever configuration or registry do.
    pub fn generation(&self) -> u64 {
        generation(self.settings, &self.snapshot)
    }
}

/// The generation of all views that are worked out of these settings and tools.
pub(crate) const fn generation(settings: u64, snapshot: &Snapshot) -> u64 {
    // Two counters that each fit far below half of the bits.
    settings << 32 | snapshot.generation() & 0xffff_ffff
}

/// What a parent does not have, for the child.
fn inherited(rule: &Rule) -> Rule {
    Rule { layer: "parent", text: format!("{}: {}", rule.layer, rule.text), at: rule.at.clone() }
}

/// What of a caller a view depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    agent: Arc<str>,
    provider: Option<Arc<str>>,
    channel: Option<Arc<str>>,
    surface: Option<Arc<str>>,
    /// Only if configuration limits tools to models.
    model: Option<Arc<str>>,
    /// Only if configuration says something about them: senders are many.
    sender: Option<Arc<str>>,
    role: Role,
    owner: bool,
    confined: Confined,
    left: Option<Arc<Left>>,
    parent: Option<Box<Self>>,
}

impl Key {
    fn new(caller: &Caller, settings: &Settings) -> Self {
        let tools = &settings.config.tools;
        let by_sender = tools.by_sender.keys().any(|name| policy::names_sender(name, caller));
        let model = caller.model.as_ref().filter(|_| tools.apply_patch.models.is_some());
        Self {
            agent: caller.agent.clone(),
            provider: caller.provider.clone(),
            channel: caller.channel.clone(),
            surface: caller.surface.clone(),
            model: model.cloned(),
            sender: by_sender.then(|| caller.sender_or_user().clone()),
            role: caller.role,
            owner: caller.is_owner(),
            confined: caller.confined,
            left: caller.left.clone(),
            parent: caller.parent.as_ref().map(|parent| Box::new(Self::new(parent, settings))),
        }
    }
}

/// Views by what they depend on.
#[derive(Debug, Default)]
pub(crate) struct Views {
    views: Mutex<ByCaller>,
}

type ByCaller = HashMap<Key, Arc<View>>;

impl Views {
    /// The view of `caller` now.
    pub(crate) fn get(
        &self,
        snapshot: &Arc<Snapshot>,
        settings: &Settings,
        caller: &Caller,
    ) -> Arc<View> {
        let key = Key::new(caller, settings);
        if let Some(view) = self.lock().get(&key).filter(|view| {
            view.settings == settings.generation && Arc::ptr_eq(&view.snapshot, snapshot)
        }) {
            return view.clone();
        }
        // Worked out without the lock: a large registry must not hold up callers that have a view.
        let parent = caller.parent.as_ref().map(|parent| self.get(snapshot, settings, parent));
        let view = Arc::new(View::new(snapshot.clone(), settings, caller, parent.as_deref()));
        let mut views = self.lock();
        if views.len() >= MAX_VIEWS {
            views.clear();
        }
        views.insert(key, view.clone());
        view
    }

    fn lock(&self) -> MutexGuard<'_, ByCaller> {
        self.views.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
