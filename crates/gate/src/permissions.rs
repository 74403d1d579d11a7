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
    /// Whether `caller` has `capability`.
    pub(crate) async fn state(
        &self,
        db: &LazyDb,
        caller: &Caller,
        capability: Capability,
    ) -> Result<PermissionState, ToolError> {
        let all = self.all(db).await?;
        let own = all.iter().find(|permission| {
            permission.capability == capability
                && *permission.user == *caller.user
                && *permission.agent == *caller.agent
        });
        Ok(own.map_or_else(
            || default_permission(caller.role, capability),
            |permission| permission.state,
        ))
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

/// The owner's agents start with files and network; everything else is asked for.
pub const fn default_permission(role: Role, capability: Capability) -> PermissionState {
    match (role, capability) {
        (Role::Owner, Capability::Files | Capability::Network) => PermissionState::Granted,
        _ => PermissionState::Ask,
    }
}
