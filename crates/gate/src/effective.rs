//! Which capabilities agents have, also where nobody decided.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use store::{OWNER, Permission, PermissionState};
use tool::{Capability, Role};

use crate::default_permission;

/// What holds for one capability of one agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum EffectivePermission {
    /// Somebody decided.
    Decided(Permission),
    /// Nobody decided.
    Default {
        /// When the agent works for this user.
        user: String,
        /// The agent.
        agent: String,
        /// The capability.
        capability: Capability,
        /// Whether it has it.
        state: PermissionState,
    },
}

impl EffectivePermission {
    /// The agent it is about.
    pub fn agent(&self) -> &str {
        match self {
            Self::Decided(permission) => &permission.agent,
            Self::Default { agent, .. } => agent,
        }
    }

    fn by_default(user: &str, agent: &str, capability: Capability) -> Self {
        let role = if user == OWNER { Role::Owner } else { Role::Member };
        let state = default_permission(role, capability);
        Self::Default { user: user.to_owned(), agent: agent.to_owned(), capability, state }
    }
}

/// Every capability of the agents of `user`, and of every other agent that somebody decided about.
pub fn effective_permissions(
    user: &str,
    agents: impl IntoIterator<Item = String>,
    rows: Vec<Permission>,
) -> Vec<EffectivePermission> {
    let agents = agents.into_iter().chain(["main".to_owned()]);
    let configured = agents.map(|agent| (user.to_owned(), agent));
    let decided = rows.iter().map(|row| (row.user.clone(), row.agent.clone()));
    let known: BTreeSet<_> = configured.chain(decided).collect();
    let key = |row: Permission| ((row.user.clone(), row.agent.clone(), row.capability), row);
    let mut rows: BTreeMap<_, _> = rows.into_iter().map(key).collect();
    let mut all = Vec::new();
    for (user, agent) in known {
        for capability in Capability::ALL {
            let decided = rows.remove(&(user.clone(), agent.clone(), capability));
            all.push(decided.map_or_else(
                || EffectivePermission::by_default(&user, &agent, capability),
                EffectivePermission::Decided,
            ));
        }
    }
    all
}
