//! Which capabilities agents were given.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use store::{LazyDb, PermissionState};
use tool::{Caller, Capability, Role, ToolError};

/// The remembered grants, read again when anybody, here or in another process, changed something.
#[derive(Debug, Default)]
pub(crate) struct Permissions {
    read: Mutex<Read>,
}

/// More agents than this are not remembered at once.
const MOST_AGENTS: usize = 10_000;

/// What was read since the database changed.
#[derive(Debug, Default)]
struct Read {
    version: Option<i64>,
    agents: HashMap<UserAndAgent, Decided>,
}

type UserAndAgent = (Arc<str>, Arc<str>);
type Decided = Arc<[(Capability, PermissionState)]>;

impl Permissions {
    /// Whether `caller` has `capability`, and the agent that decides it: a child has at most what
    /// those above it have.
    pub(crate) async fn state<'a>(
        &self,
        db: &LazyDb,
        caller: &'a Caller,
        capability: Capability,
    ) -> Result<(PermissionState, &'a Caller), ToolError> {
        let mut strictest = None;
        for caller in caller.agents() {
            let state = self.state_of(db, caller, capability).await?;
            if strictest.is_none_or(|(known, _)| state > known) {
                strictest = Some((state, caller));
            }
        }
        Ok(strictest.unwrap_or((PermissionState::Denied, caller)))
    }

    /// The agents among `caller` and those above it that somebody must still be asked for.
    pub(crate) async fn lacking<'a>(
        &self,
        db: &LazyDb,
        caller: &'a Caller,
        capability: Capability,
    ) -> Result<Vec<&'a Caller>, ToolError> {
        let mut lacking = Vec::new();
        for caller in caller.agents() {
            if self.state_of(db, caller, capability).await? == PermissionState::Ask {
                lacking.push(caller);
            }
        }
        Ok(lacking)
    }

    /// The version of the database that was looked at last, which was for this call if it needs any
    /// capability.
    pub(crate) fn version(&self) -> Option<i64> {
        self.read().version
    }

    /// Whether this agent has `capability`, whoever spawned it.
    async fn state_of(
        &self,
        db: &LazyDb,
        caller: &Caller,
        capability: Capability,
    ) -> Result<PermissionState, ToolError> {
        let decided = self.decided(db, caller).await?;
        let own = decided.iter().find(|(known, _)| *known == capability);
        Ok(own.map_or_else(|| default_permission(caller.role, capability), |(_, state)| *state))
    }

    /// What was decided about this agent.
    async fn decided(&self, db: &LazyDb, caller: &Caller) -> Result<Decided, ToolError> {
        let db = db.get().await?;
        // Of before the look: a change meanwhile is noticed the next time.
        let version = db.version()?;
        let key = (caller.user.clone(), caller.agent.clone());
        if let Some(known) = self.read().at(version).get(&key) {
            return Ok(known.clone());
        }
        let decided: Decided = db.agent_permissions(&caller.user, &caller.agent).await?.into();
        self.read().at(version).insert(key, decided.clone());
        Ok(decided)
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read {
    /// What is known about this version of the database, and nothing that was known about another.
    fn at(&mut self, version: i64) -> &mut HashMap<UserAndAgent, Decided> {
        if self.version != Some(version) || self.agents.len() >= MOST_AGENTS {
            *self = Self { version: Some(version), agents: HashMap::new() };
        }
        &mut self.agents
    }
}

/// The owner's agents start with files and network; everything else is asked for.
pub const fn default_permission(role: Role, capability: Capability) -> PermissionState {
    match (role, capability) {
        (Role::Owner, Capability::Files | Capability::Network) => PermissionState::Granted,
        _ => PermissionState::Ask,
    }
}
