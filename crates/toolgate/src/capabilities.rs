//! Everything a gate can hand to a tool.

use std::sync::{Arc, OnceLock};

use agent::WeakAgents;
use services::{Runner, Shelf};
use store::LazyDb;
use tool::{
    ArtifactStore, Caller, Capabilities, Capability, Clock, Disk, Exec, Gateway, Isolation, Net,
    Notes, OwnData, Sessions, Tasks, ToolError,
};
use world::World;

use crate::gateway::WeakGateway;

/// The world, what runs commands in it, and what is kept for users.
#[derive(Debug)]
pub(crate) struct Everything {
    pub(crate) world: Arc<World>,
    pub(crate) runner: Arc<Runner>,
    /// Filled in when there are agents; they have the gate, which has this.
    pub(crate) agents: Arc<OnceLock<WeakAgents>>,
    /// Filled in last, for the same reason.
    pub(crate) gateway: Arc<OnceLock<WeakGateway>>,
    pub(crate) db: Arc<LazyDb>,
}

impl Everything {
    fn shelf(&self, caller: &Caller) -> Arc<Shelf> {
        Arc::new(Shelf::new(self.db.clone(), self.world.clock(), caller))
    }
}

impl OwnData for Everything {
    fn notes(&self, caller: &Caller) -> Result<Arc<dyn Notes>, ToolError> {
        Ok(self.shelf(caller))
    }

    fn tasks(&self, caller: &Caller) -> Result<Arc<dyn Tasks>, ToolError> {
        Ok(self.shelf(caller))
    }

    fn sessions(&self) -> Option<Arc<dyn Sessions>> {
        let agents = self.agents.get().and_then(WeakAgents::upgrade)?;
        Some(Arc::new(agents))
    }

    fn gateway(&self) -> Option<Arc<dyn Gateway>> {
        let gateway = self.gateway.get().and_then(WeakGateway::upgrade)?;
        Some(Arc::new(gateway))
    }
}

impl Capabilities for Everything {
    fn disk(&self, caller: &Caller) -> Result<Arc<dyn Disk>, ToolError> {
        self.world.disk(caller)
    }

    fn net(&self, caller: &Caller) -> Result<Arc<dyn Net>, ToolError> {
        self.world.net(caller)
    }

    fn exec(&self, _: &Caller) -> Result<Arc<dyn Exec>, ToolError> {
        Ok(self.runner.clone())
    }

    fn artifacts(&self) -> Arc<dyn ArtifactStore> {
        self.world.artifacts()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.world.clock()
    }

    fn isolation(&self) -> Option<Arc<Isolation>> {
        self.runner.isolation()
    }

    fn missing(&self, capability: Capability) -> Option<String> {
        match capability {
            Capability::Exec => self.runner.unavailable(),
            Capability::Files
            | Capability::Network
            | Capability::Messages
            | Capability::Browser
            | Capability::Media
            | Capability::Schedule
            | Capability::Nodes
            | Capability::Location => self.world.missing(capability),
        }
    }

    fn missing_program(&self, program: &str) -> Option<String> {
        self.world.missing_program(program)
    }

    fn program(&self, name: &str, folders: &[String]) -> Option<String> {
        self.world.program(name, folders)
    }

    fn halt(&self) {
        self.runner.halt();
    }
}
