//! Which capabilities agents have.

use std::{fmt, str::FromStr, time::SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::{Row, sqlite::SqliteRow};
use tool::Capability;

use super::{
    Db,
    approvals::{parsed, withdraw_of_capability},
    grants::revoke_of_permission,
};
use crate::{
    StoreError,
    time::{from_micros, micros, shown},
};

/// Whether an agent has a capability.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PermissionState {
    /// It has.
    Granted,
    /// Somebody is asked.
    Ask,
    /// It has not, and may ask again later.
    Denied,
    /// It has not, and nobody is to be asked again.
    DeniedForGood,
}

impl PermissionState {
    const ALL: [Self; 4] = [Self::Granted, Self::Ask, Self::Denied, Self::DeniedForGood];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Ask => "ask",
            Self::Denied => "denied",
            Self::DeniedForGood => "denied_for_good",
        }
    }
}

impl fmt::Display for PermissionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PermissionState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join("`, `");
        let found = Self::ALL.into_iter().find(|state| state.name() == text);
        found.ok_or_else(|| format!("no permission state `{text}`, only `{names}`"))
    }
}

/// What somebody decided about a capability of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Permission {
    /// When the agent works for this user.
    pub user: String,
    /// The agent.
    pub agent: String,
    /// The capability.
    pub capability: Capability,
    /// Whether it has it.
    pub state: PermissionState,
    /// Who decided.
    pub by: String,
    /// When.
    #[serde(serialize_with = "shown")]
    #[schemars(with = "String")]
    pub at: SystemTime,
}

impl Db {
    /// What holds now, by user, agent and capability; of one user, or of all.
    pub async fn permissions(&self, user: Option<&str>) -> Result<Vec<Permission>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM permissions WHERE (?1 IS NULL OR user = ?1) AND id IN
                (SELECT max(id) FROM permissions GROUP BY user, agent, capability)
             ORDER BY user, agent, capability",
        )
        .bind(user)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read).collect()
    }

    /// What holds now for one agent of one user.
    pub async fn agent_permissions(
        &self,
        user: &str,
        agent: &str,
    ) -> Result<Vec<(Capability, PermissionState)>, StoreError> {
        let rows = sqlx::query(
            "SELECT capability, state FROM permissions WHERE id IN
                (SELECT max(id) FROM permissions WHERE user = ? AND agent = ? GROUP BY capability)",
        )
        .bind(user)
        .bind(agent)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok((parsed(row, "capability")?, parsed(row, "state")?))).collect()
    }

    /// Everything that was ever decided, oldest first; of one user, or of all.
    pub async fn permission_history(
        &self,
        user: Option<&str>,
    ) -> Result<Vec<Permission>, StoreError> {
        let rows =
            sqlx::query("SELECT * FROM permissions WHERE ?1 IS NULL OR user = ?1 ORDER BY id")
                .bind(user)
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(read).collect()
    }

    /// Decides. What was decided before is kept, and no longer holds.
    ///
    /// A denial takes back the questions of the agent that need the capability, so that no late answer
    /// counts, and revokes the answers that were remembered for all of it.
    pub async fn set_permission(&self, permission: Permission) -> Result<(), StoreError> {
        let mut write = self.begin().await?;
        if matches!(permission.state, PermissionState::Denied | PermissionState::DeniedForGood) {
            withdraw_of_capability(&mut write, &permission).await?;
            revoke_of_permission(&mut write, &permission).await?;
        }
        let Permission { user, agent, capability, state, by, at } = permission;
        sqlx::query(
            "INSERT INTO permissions (user, agent, capability, state, changed_by, changed_at)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(user)
        .bind(agent)
        .bind(capability.name())
        .bind(state.name())
        .bind(by)
        .bind(micros(at))
        .execute(&mut *write)
        .await?;
        write.commit().await?;
        Ok(())
    }
}

fn read(row: &SqliteRow) -> Result<Permission, StoreError> {
    Ok(Permission {
        user: row.try_get("user")?,
        agent: row.try_get("agent")?,
        capability: parsed(row, "capability")?,
        state: parsed(row, "state")?,
        by: row.try_get("changed_by")?,
        at: from_micros(row.try_get("changed_at")?),
    })
}
