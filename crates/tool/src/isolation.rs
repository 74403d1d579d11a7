//! How commands are isolated on this machine.

use schemars::JsonSchema;
use serde::Serialize;

/// How the sandbox isolates commands on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Isolation {
    /// How much of it there is.
    pub level: IsolationLevel,
    /// What it is made of, such as `namespaces+cgroup` or `landlock+watching`.
    pub mode: String,
    /// What commands lack that they would have elsewhere: each a noun, and after a colon what that
    /// means.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// How much isolation there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IsolationLevel {
    /// Namespaces, an overlay of the workspace, and limits for all processes together.
    #[default]
    Full,
    /// Landlock and seccomp alone. A command changes the workspace itself.
    Reduced,
}

impl Isolation {
    /// What a person and a model should know about a command that ran like this; `None` if nothing is
    /// unusual about it.
    pub fn note(&self) -> Option<String> {
        let Self { level, mode, missing } = self;
        let name = |text: &String| text.split(':').next().unwrap_or_default().to_owned();
        let names: Vec<_> = missing.iter().map(name).collect();
        (*level == IsolationLevel::Reduced)
            .then(|| format!("isolation is reduced ({mode}); missing: {}", names.join(", ")))
    }
}
