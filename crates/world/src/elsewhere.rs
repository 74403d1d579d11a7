//! Where there is no `openat2`.

use std::{convert::Infallible, sync::Arc};

use tool::{ArtifactStore, Caller, Capabilities, Capability, Clock, Disk, Net, OwnData, ToolError};

use crate::{Artifact, Door, Pruned, Recovered, Unfinished, WorldError, WorldSettings};

/// A world that cannot be opened here: nothing would keep paths beneath the workspace.
#[derive(Debug)]
pub struct World(Infallible);

impl World {
    /// Says that this system is not supported.
    pub fn open(_: WorldSettings, _: Arc<dyn Clock>) -> Result<Self, WorldError> {
        Err(WorldError::Unsupported)
    }
    /// Never happens.
    pub fn recover(&self, _: Unfinished<'_>) -> Result<Recovered, ToolError> {
        match self.0 {}
    }
    /// Never happens.
    pub fn artifact(&self, _: &Caller, _: &str) -> Result<Artifact, ToolError> {
        match self.0 {}
    }
    /// Never happens.
    pub fn door(&self) -> &Door {
        match self.0 {}
    }
    /// Never happens.
    #[must_use]
    pub fn with_door(self, _: Door) -> Self {
        match self.0 {}
    }
    /// Never happens.
    pub fn prune(&self) -> Result<Pruned, WorldError> {
        match self.0 {}
    }
}

/// It keeps nothing for anybody.
impl OwnData for World {}

impl Capabilities for World {
    fn disk(&self, _: &Caller) -> Result<Arc<dyn Disk>, ToolError> {
        match self.0 {}
    }
    fn net(&self, _: &Caller) -> Result<Arc<dyn Net>, ToolError> {
        match self.0 {}
    }
    fn artifacts(&self) -> Arc<dyn ArtifactStore> {
        match self.0 {}
    }
    fn clock(&self) -> Arc<dyn Clock> {
        match self.0 {}
    }
    fn missing(&self, _: Capability) -> Option<String> {
        match self.0 {}
    }
    fn missing_program(&self, _: &str) -> Option<String> {
        match self.0 {}
    }
    fn program(&self, _: &str, _: &[String]) -> Option<String> {
        match self.0 {}
    }
}
