//! Which capabilities agents were given.

use std::sync::{Arc, Mutex, PoisonError};

use store::{LazyDb, Permission, PermissionState};
use tool::{Caller, Capability, Role, ToolError};

/// The remembered grants, read again when anybody, here or in another process, changed something.
#[derive(Debug, Default)]
pub(crate) struct Permissions {
    read: Mutex<Option<(i64, Arc<Vec<Permission>>)>>,
}

impl Permissions {
    /// Whether `caller` has `capability`, and the agent that decides it: a child has at most what
    /// those above it have.
    pub(crate) async fn state<'a>(
        &self,
        db: &LazyDb,
        caller: &'a Caller,
        capability: Capability,
    ) -> Result<(PermissionState, &'a Caller), ToolError> {
        let all = self.all(db).await?;
        let states = caller.agents().map(|caller| (state_of(&all, caller, capability), caller));
        let strictest = states.reduce(|one, other| if other.0 > one.0 { other } else { one });
        Ok(strictest.unwrap_or((PermissionState::Denied, caller)))
    }

    /// The agents among `caller` and those above it that somebody must still be asked for.
    pub(crate) async fn lacking<'a>(
        &self,
        db: &LazyDb,
        caller: &'a Caller,
        capability: Capability,
    ) -> Result<Vec<&'a Caller>, ToolError> {
        let all = self.all(db).await?;
        let lacks = |caller: &&Caller| state_of(&all, caller, capability) == PermissionState::Ask;
        Ok(caller.agents().filter(lacks).collect())
    }

    /// The version of the database that was looked at last, which was for this call if it needs any
    /// capability.
    pub(crate) fn version(&self) -> Option<i64> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.as_ref().map(|(version, _)| *version)
    }

    async fn all(&self, db: &LazyDb) -> Result<Arc<Vec<Permission>>, ToolError> {
        let db = db.get().await?;
        let version = db.version()?;
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, all)) = known.filter(|(read, _)| *read == version) {
            return Ok(all);
        }
        let all = Arc::new(db.permissions(None).await?);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        *read = Some((version, all.clone()));
        Ok(all)
    }
}

/// Whether this agent has `capability`, whoever spawned it.
fn state_of(all: &[Permission], caller: &Caller, capability: Capability) -> PermissionState {
    let own = all.iter().find(|permission| {
        permission.capability == capability
            && *permission.user == *caller.user
            && *permission.agent == *caller.agent
    });
    own.map_or_else(|| default_permission(caller.role, capability), |permission| permission.state)
}

/// The owner's agents start with files and network; everything else is asked for.
pub const fn default_permission(role: Role, capability: Capability) -> PermissionState {
    match (role, capability) {
        (Role::Owner, Capability::Files | Capability::Network) => PermissionState::Granted,
        _ => PermissionState::Ask,
    }
}
