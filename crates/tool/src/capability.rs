//! What a tool can be given, by name.

use std::{fmt, str::FromStr, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ArtifactStore, Caller, Clock, Disk, Exec, Isolation, Net, OwnData, ToolError, nearest,
};

/// A part of the world that a person can grant to an agent or withhold.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Capability {
    Files,
    Network,
    Exec,
    Messages,
    Browser,
    Media,
    Schedule,
    Nodes,
    Location,
}

impl Capability {
    /// Every capability, in the order they are shown.
    pub const ALL: [Self; 9] = [
        Self::Files,
        Self::Network,
        Self::Exec,
        Self::Messages,
        Self::Browser,
        Self::Media,
        Self::Schedule,
        Self::Nodes,
        Self::Location,
    ];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Network => "network",
            Self::Exec => "exec",
            Self::Messages => "messages",
            Self::Browser => "browser",
            Self::Media => "media",
            Self::Schedule => "schedule",
            Self::Nodes => "nodes",
            Self::Location => "location",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Capability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        Self::ALL.into_iter().find(|capability| capability.name() == text).ok_or_else(|| {
            let hint = nearest(text, names).map(|near| format!("; did you mean `{near}`?"));
            format!("no capability `{text}`{}", hint.unwrap_or_default())
        })
    }
}

/// What stands behind the handles of a [`crate::ToolContext`]. The gate is given one of these.
pub trait Capabilities: OwnData {
    /// The files `caller` works on.
    fn disk(&self, caller: &Caller) -> Result<Arc<dyn Disk>, ToolError>;
    /// The network, as far as `caller` reaches.
    fn net(&self, caller: &Caller) -> Result<Arc<dyn Net>, ToolError>;
    /// What runs commands for `caller`.
    fn exec(&self, caller: &Caller) -> Result<Arc<dyn Exec>, ToolError>;
    /// Where large outputs go.
    fn artifacts(&self) -> Arc<dyn ArtifactStore>;
    /// The time.
    fn clock(&self) -> Arc<dyn Clock>;
    /// How the sandbox isolates commands here; `None` where there is no sandbox. The first time it may
    /// block for some milliseconds.
    fn isolation(&self) -> Option<Arc<Isolation>> {
        None
    }
    /// Why `capability` cannot be had here, or `None` if it can.
    fn missing(&self, capability: Capability) -> Option<String>;
    /// Why `program` cannot be used here, or `None` if it can.
    fn missing_program(&self, program: &str) -> Option<String>;
    /// Where a program is in the first of `folders` that has it. One that is named with its folder is
    /// where it says, or nowhere.
    fn program(&self, name: &str, folders: &[String]) -> Option<String>;
    /// Ends what goes on after its call, for everybody.
    fn halt(&self) {}
}
