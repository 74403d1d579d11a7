//! What a gate is put together from.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use config::Config;
use store::{EmergencyFile, Journal, LazyDb};
use tool::{AnyTool, CallIds, Capabilities};

use crate::{
    approver::Approver, at_once::Soon, cache::Cache, definition::RegistryError, emergency::Alarm,
    hook::Hook, observer::Observer, permissions::Permissions, questions::Questions, rates::Rates,
    redactor::Redactor, refusals::Refusals, registry::Registry, settings::Settings, shared::Shared,
    trust::Trust, unrecorded::Unrecorded, views::Views,
};

/// What a gate is put together from.
#[derive(Debug)]
pub struct Parts {
    /// What is allowed and how much.
    pub config: Config,
    /// Takes secrets out.
    pub redactor: Redactor,
    /// What stands behind the handles of a call.
    pub world: Arc<dyn Capabilities>,
    /// Where calls are recorded.
    pub journal: Journal,
    /// The database for everything else.
    pub db: Arc<LazyDb>,
    /// Whether everything is stopped.
    pub emergency: EmergencyFile,
    /// Who can be asked, in order.
    pub approvers: Vec<Arc<dyn Approver>>,
    /// What the operator plugs in, in order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Who watches.
    pub observers: Vec<Arc<dyn Observer>>,
}

impl Parts {
    /// Puts them together around `tools`.
    pub fn assemble(self, tools: Vec<Arc<dyn AnyTool>>) -> Result<Shared, RegistryError> {
        let Self { config, redactor, world, journal, db, emergency, approvers, hooks, observers } =
            self;
        let registry = Registry::new(world.clone(), Settings::definitions(&config));
        registry.add(tools)?;
        Ok(Shared {
            registry,
            cache: Cache::new(config.limits.cache_bytes.value),
            settings: ArcSwap::from_pointee(Settings::new(config, redactor, 1)),
            changing: Mutex::new(1),
            ids: CallIds::new(world.clock()),
            world,
            journal,
            db,
            alarm: Alarm::new(emergency),
            approvers,
            hooks,
            observers,
            views: Views::default(),
            permissions: Permissions::default(),
            trust: Trust::default(),
            questions: Questions::default(),
            rates: Rates::default(),
            refusals: Refusals::default(),
            unrecorded: Unrecorded::default(),
            slots: Arc::default(),
            soon: Soon::default(),
        })
    }
}
