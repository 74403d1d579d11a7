//! `toolgate permissions`.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;
use store::{Db, Permission, PermissionState};
use toolgate::{Capability, Role};

use crate::{cli::Global, context, output, visible::visible};

const OWNER: &str = "owner";
const BY: &str = "owner (toolgate permissions)";

/// Grant capabilities to agents, or take them away.
#[derive(Debug, Args)]
pub(crate) struct Permissions {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what each agent has, also where nobody decided.
    List {
        /// Print a list as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Give an agent a capability, so that nobody is asked about it again.
    Grant(Grant),
    /// Take a capability away from an agent.
    Revoke {
        #[command(flatten)]
        what: Grant,
        /// Tell the agent not to ask again.
        #[arg(long)]
        for_good: bool,
    },
}

#[derive(Debug, Args)]
struct Grant {
    /// `files`, `network`, `exec`, `messages`, `browser`, `media`, `schedule`, `nodes` or `location`.
    capability: Capability,
    /// The agent.
    #[arg(long, value_name = "A", default_value = "main")]
    agent: String,
    /// When it works for this user.
    #[arg(long, value_name = "U", default_value = OWNER)]
    user: String,
}

impl Permissions {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        if !matches!(self.action, Action::List { .. }) {
            context::person()?;
        }
        let db = context::db(global).await?;
        match self.action {
            Action::List { json } => {
                let agents = context::configuration(global)?.agents.into_keys();
                let all = effective(agents, db.permissions(None).await?);
                if json {
                    output::json(&all)?;
                } else {
                    output::table(
                        &["user", "agent", "capability", "state", "decided by", "when"],
                        all.iter().map(Effective::row).collect(),
                    );
                }
            }
            Action::Grant(what) => decide(&db, what, PermissionState::Granted).await?,
            Action::Revoke { what, for_good: true } => {
                decide(&db, what, PermissionState::DeniedForGood).await?;
            }
            Action::Revoke { what, for_good: false } => {
                decide(&db, what, PermissionState::Denied).await?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn decide(db: &Db, what: Grant, state: PermissionState) -> Result<()> {
    let Grant { capability, agent, user } = what;
    let done = match state {
        PermissionState::Granted => format!("now has `{capability}`"),
        PermissionState::Ask => format!("has to ask for `{capability}`"),
        PermissionState::Denied => format!("no longer has `{capability}`"),
        PermissionState::DeniedForGood => format!("no longer has `{capability}`, for good"),
    };
    let said = format!("Agent `{agent}` of `{user}` {done}.");
    let (by, at) = (BY.to_owned(), context::now());
    db.set_permission(Permission { user, agent, capability, state, by, at }).await?;
    output::note(said);
    Ok(())
}

/// What holds for one capability of one agent.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Effective {
    Decided(Permission),
    /// Nobody decided.
    Default {
        user: String,
        agent: String,
        capability: Capability,
        state: PermissionState,
    },
}

impl Effective {
    fn by_default(user: &str, agent: &str, capability: Capability) -> Self {
        let role = if user == OWNER { Role::Owner } else { Role::Member };
        let state = gate::default_permission(role, capability);
        Self::Default { user: user.to_owned(), agent: agent.to_owned(), capability, state }
    }

    fn row(&self) -> Vec<String> {
        let (user, agent, capability, state, by, at) = match self {
            Self::Decided(Permission { user, agent, capability, state, by, at }) => {
                (user, agent, capability, state, by.as_str(), output::time(*at))
            }
            Self::Default { user, agent, capability, state } => {
                (user, agent, capability, state, "default", String::new())
            }
        };
        let (capability, state) = (capability.to_string(), state.to_string());
        vec![visible(user), visible(agent), capability, state, visible(by), at]
    }
}

/// Every capability of every agent that is configured or that somebody decided about.
fn effective(agents: impl Iterator<Item = String>, rows: Vec<Permission>) -> Vec<Effective> {
    let configured = agents.chain(["main".to_owned()]).map(|agent| (OWNER.to_owned(), agent));
    let decided = rows.iter().map(|row| (row.user.clone(), row.agent.clone()));
    let known: BTreeSet<_> = configured.chain(decided).collect();
    let key = |row: Permission| ((row.user.clone(), row.agent.clone(), row.capability), row);
    let mut rows: BTreeMap<_, _> = rows.into_iter().map(key).collect();
    let mut all = Vec::new();
    for (user, agent) in known {
        for capability in Capability::ALL {
            let decided = rows.remove(&(user.clone(), agent.clone(), capability));
            all.push(decided.map_or_else(
                || Effective::by_default(&user, &agent, capability),
                Effective::Decided,
            ));
        }
    }
    all
}
