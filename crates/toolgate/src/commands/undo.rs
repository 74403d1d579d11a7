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

/// Take back all files a call changed, or none.
///
/// Refuses if one of them changed since, and says which. Prints the outcome as JSON, like `call`; an
/// undo is recorded, and can be undone.
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The call, as `toolgate history` shows it.
    call_id: CallId,
    #[command(flatten)]
    identity: Identity,
}

impl Identity {
    /// The agent and, unless one was given, the workspace that the call worked in.
    fn at_home(mut self, global: &Global, call: CallId) -> Result<Self> {
        let journal = context::journal(global)?;
        if let Some(entry) = journal.entry(call)? {
            self.agent = entry.agent;
        }
        let root = journal.changes(call)?.into_iter().flatten().next().map(|change| change.root);
        self.workspace = self.workspace.or(root.map(PathBuf::from));
        Ok(self)
    }
}

impl Undo {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let identity = self.identity.clone().at_home(global, self.call_id)?;
        let config = context::configuration_for(global, &identity)?;
        let gate = context::gate(global, config, None)?;
        let outcome = gate.undo(&context::caller(&identity), self.call_id).await;
        output::json(&outcome)?;
        Ok(exit_code(&outcome))
    }
}
