//! The configuration, and the process that runs with it, as tools see them.

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::{ConfigChange, KeyPath, Need, ToolError, own_data::Desk};

/// What a configuration file says at a path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfigValue {
    /// The file.
    pub file: String,
    /// Whether the file is there; if not, this is where one would be.
    pub exists: bool,
    /// Where in it; empty is all of it.
    pub path: String,
    /// What it says there, never a secret; absent if it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// A key that a configuration file can have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigKey {
    /// The key; a part in angle brackets stands for any name.
    pub path: &'static str,
    /// What can be written there.
    pub value: String,
    /// What holds if it is not set, as it would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<&'static str>,
    /// What it is for.
    pub help: &'static str,
    /// Whether an agent may change it.
    pub changeable: bool,
}

/// A key that was changed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfigChanged {
    /// The file it stands in.
    pub file: String,
    /// Whether there was no file before.
    pub created: bool,
    /// The key.
    pub path: String,
    /// What it was; absent if it was not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<Value>,
    /// What it is, in the file and from now on; absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Value>,
}

/// Keeps the configuration and the process that runs with it. Every method may block.
pub trait Gateway: fmt::Debug + Send + Sync {
    /// What the file says at `path`.
    fn get(&self, path: &KeyPath) -> Result<ConfigValue, ToolError>;

    /// The keys at `path` and beneath it.
    fn schema(&self, path: &KeyPath) -> Result<Vec<ConfigKey>, ToolError>;

    /// Changes one key in the file, and lets it hold.
    fn patch(&self, change: &ConfigChange) -> Result<ConfigChanged, ToolError>;

    /// Takes over what the file says now, and names the file.
    fn reload(&self) -> Result<String, ToolError>;

    /// Begins to end what runs here and to start it again; does not wait for it.
    fn restart(&self) -> Result<(), ToolError>;
}

/// The configuration, as far as one call planned to look at it or to change it.
#[derive(Debug)]
pub struct Configuration {
    pub(crate) desk: Desk,
    pub(crate) gateway: Option<Arc<dyn Gateway>>,
}

impl Configuration {
    /// What a call must plan to look at it.
    pub fn look() -> Need {
        Need::Recall("the configuration".to_owned())
    }

    /// What a call must plan to take the file over.
    pub fn reloading() -> Need {
        Need::Act("take over what the configuration file says now".to_owned())
    }

    /// What a call must plan to restart.
    pub fn restarting() -> Need {
        Need::Act("restart the server".to_owned())
    }

    /// What the file says at `path`.
    pub async fn get(&self, path: KeyPath) -> Result<ConfigValue, ToolError> {
        self.looking(move |gateway| gateway.get(&path)).await
    }

    /// The keys at `path` and beneath it.
    pub async fn schema(&self, path: KeyPath) -> Result<Vec<ConfigKey>, ToolError> {
        self.looking(move |gateway| gateway.schema(&path)).await
    }

    /// Changes one key in the file, and lets it hold.
    pub async fn patch(&self, change: ConfigChange) -> Result<ConfigChanged, ToolError> {
        let (need, gateway) = (change.need(), self.gateway()?);
        self.desk.keep(&need, async move { gateway.patch(&change) }).await
    }

    /// Takes over what the file says now, and names the file.
    pub async fn reload(&self) -> Result<String, ToolError> {
        let gateway = self.gateway()?;
        self.desk.keep(&Self::reloading(), async move { gateway.reload() }).await
    }

    /// Ends what runs here and starts it again, soon.
    pub async fn restart(&self) -> Result<(), ToolError> {
        let gateway = self.gateway()?;
        self.desk.keep(&Self::restarting(), async move { gateway.restart() }).await
    }

    async fn looking<T: Send + 'static>(
        &self,
        look: impl FnOnce(&dyn Gateway) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let gateway = self.gateway()?;
        let look = async { spawn_blocking(move || look(&*gateway)).await };
        self.desk.recall(&Self::look(), async { look.await.map_err(ToolError::internal)? }).await
    }

    fn gateway(&self) -> Result<Arc<dyn Gateway>, ToolError> {
        let none = || ToolError::failed("no configuration can be seen or changed here");
        self.gateway.clone().ok_or_else(none)
    }
}
