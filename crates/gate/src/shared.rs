//! What the stages are made of.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use arc_swap::ArcSwap;
use store::{Db, Journal};
use tokio::sync::OnceCell;
use tool::{CallIds, Caller, Capabilities, ToolError};

use crate::{
    approver::Approver, cache::Cache, emergency::Alarm, hook::Hook, observer::Observer,
    permissions::Permissions, questions::Questions, rates::Rates, registry::Registry,
    settings::Settings, slots::Slots, trust::Trust, views::View, views::Views,
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
    pub(crate) db: LazyDb,
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
    pub(crate) slots: Arc<Slots>,
    pub(crate) cache: Cache,
}

impl Shared {
    /// What `caller` has now.
    pub(crate) fn view(&self, caller: &Caller) -> Arc<View> {
        self.views.get(&self.registry.snapshot(), &self.settings.load(), caller)
    }
}

/// The database, opened by the first call that needs it.
#[derive(Debug)]
pub(crate) struct LazyDb {
    data: PathBuf,
    db: OnceCell<Db>,
}

impl LazyDb {
    pub(crate) const fn new(data: PathBuf) -> Self {
        Self { data, db: OnceCell::const_new() }
    }

    pub(crate) async fn get(&self) -> Result<&Db, ToolError> {
        self.db.get_or_try_init(|| Db::open(&self.data)).await.map_err(ToolError::internal)
    }
}
