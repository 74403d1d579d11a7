//! `toolgate undo`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::Args;
use toolgate::CallId;

use super::call::exit_code;
use crate::{
    cli::{Global, Identity},
    context, output,
};

/// Take back all that a call changed, or nothing of it: files, notes and tasks.
///
/// Refuses if one of them changed since, and says which. Prints the outcome as JSON, like `call`; an
/// undo is recorded, and can be undone.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The call, as `toolgate history` shows it.
    call_id: CallId,
    /// Act for this user instead of the owner.
    #[arg(long, value_name = "U")]
    user: Option<String>,
    /// The folder the call worked in; by default the one it is recorded with.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

impl Undo {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        context::person()?;
        let identity = self.identity(global)?;
        context::check_user(global, &identity).await?;
        let mut config = context::configuration(global)?;
        // Also of an agent that was removed since, or cannot work: a person takes it back, by no agent's rules.
        if let Some(folder) = &identity.workspace {
            let agent = config.agents.entry(identity.agent.clone()).or_default();
            agent.workspace = Some(folder.clone().into());
        }
        let gate = context::gate(global, config, None)?;
        let outcome = gate.undo(&context::caller(&identity), self.call_id).await;
        output::json(&outcome)?;
        Ok(exit_code(&[outcome]))
    }

    /// The agent and, unless one was given, the workspace that the call worked in.
    fn identity(&self, global: &Global) -> Result<Identity> {
        let journal = context::journal(global)?;
        let entry = journal.entry(self.call_id)?;
        let changes = journal.changes(self.call_id)?.into_iter().flatten();
        // What was named by an absolute path says itself where it is.
        let root = changes.into_iter().find(|change| !change.path.as_str().starts_with('/'));
        Ok(Identity {
            agent: entry.map_or_else(|| "main".to_owned(), |entry| entry.agent),
            user: self.user.clone(),
            session: "main".to_owned(),
            sender: None,
            channel: None,
            allow_broad_workspace: true,
            workspace: self.workspace.clone().or(root.map(|change| change.root.into())),
        })
    }
}
