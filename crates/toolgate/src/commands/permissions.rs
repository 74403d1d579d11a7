//! `toolgate permissions`.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use gate::{EffectivePermission, effective_permissions};
use store::{Db, OWNER, Permission, PermissionState};
use toolgate::Capability;

use crate::{cli::Global, context, output, visible::visible};

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
    /// Take back what was decided about a capability, so that somebody is asked again.
    Reset(Grant),
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
        // A full disk must not keep anybody from taking a right away.
        if matches!(self.action, Action::Revoke { .. }) {
            store::use_reserve();
        }
        if !matches!(self.action, Action::List { .. }) {
            context::person()?;
        }
        let db = context::db(global).await?;
        match self.action {
            Action::List { json } => {
                let agents = context::configuration(global)?.agents.into_keys();
                let all = effective_permissions(OWNER, agents, db.permissions(None).await?);
                if json {
                    output::json(&all)?;
                } else {
                    output::table(
                        &["user", "agent", "capability", "state", "decided by", "when"],
                        all.iter().map(row).collect(),
                    );
                }
            }
            Action::Grant(what) => decide(&db, what, PermissionState::Granted).await?,
            Action::Reset(what) => decide(&db, what, PermissionState::Ask).await?,
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

fn row(permission: &EffectivePermission) -> Vec<String> {
    let (user, agent, capability, state, by, at) = match permission {
        EffectivePermission::Decided(Permission { user, agent, capability, state, by, at }) => {
            (user, agent, capability, state, by.as_str(), output::time(*at))
        }
        EffectivePermission::Default { user, agent, capability, state } => {
            (user, agent, capability, state, "default", String::new())
        }
    };
    let (capability, state) = (capability.to_string(), state.to_string());
    vec![visible(user), visible(agent), capability, state, visible(by), at]
}
