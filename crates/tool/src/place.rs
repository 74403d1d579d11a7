//! Where a call runs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a call runs.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the glossary describes them")]
pub enum Place {
    Sandbox,
    Container,
    Host,
    Node,
}

impl Place {
    /// Every place.
    pub const ALL: [Self; 4] = [Self::Sandbox, Self::Container, Self::Host, Self::Node];

    /// The names people write, in the same order.
    pub const NAMES: &'static [&'static str] =
        &[Self::Sandbox.name(), Self::Container.name(), Self::Host.name(), Self::Node.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Container => "container",
            Self::Host => "host",
            Self::Node => "node",
        }
    }

    /// The place that `name` means; `gateway` is an old name of `container`.
    pub fn named(name: &str) -> Option<Self> {
        if name == "gateway" {
            return Some(Self::Container);
        }
        Self::ALL.into_iter().find(|place| place.name() == name)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
