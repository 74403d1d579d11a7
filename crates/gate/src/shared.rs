//! What the stages are made of.

use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use store::{Journal, LazyDb};
use tool::{CallIds, Caller, Capabilities};

use crate::{
    approver::Approver,
    at_once::Soon,
    cache::Cache,
    emergency::Alarm,
    hook::Hook,
    observer::Observer,
    permissions::Permissions,
    questions::Questions,
    rates::Rates,
    refusals::Refusals,
    registry::Registry,
    settings::Settings,
    slots::Slots,
    trust::Trust,
    unrecorded::{self, Unrecorded},
    views::{View, Views, generation},
};

/// One for all stages of a gate.
#[derive(Debug)]
pub struct Shared {
    pub(crate) registry: Registry,
    pub(crate) settings: ArcSwap<Settings>,
    /// The generation of the settings, held while they are replaced.
    pub(crate) changing: Mutex<u64>,
    pub(crate) world: Arc<dyn Capabilities>,
    pub(crate) journal: Journal,
    pub(crate) db: Arc<LazyDb>,
    pub(crate) alarm: Alarm,
    pub(crate) approvers: Vec<Arc<dyn Approver>>,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) ids: CallIds,
    pub(crate) views: Views,
    pub(crate) permissions: Permissions,
    pub(crate) trust: Trust,
    pub(crate) questions: Questions,
    pub(crate) rates: Rates,
    pub(crate) refusals: Refusals,
    pub(crate) unrecorded: Unrecorded,
    pub(crate) slots: Arc<Slots>,
    pub(crate) cache: Cache,
    pub(crate) soon: Soon,
}

impl Shared {
    /// What `caller` has now.
    pub(crate) fn view(&self, caller: &Caller) -> Arc<View> {
        self.views.get(&self.registry.snapshot(), &self.settings.load(), caller)
    }

    /// The generation that every view has now, whosever it is.
    pub(crate) fn generation(&self) -> u64 {
        generation(self.settings.load().generation, &self.registry.snapshot())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        unrecorded::flush_now(self);
    }
}
