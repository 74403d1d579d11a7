//! `toolgate undo`.

use std::process::ExitCode;

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

impl Undo {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let gate = context::gate(global, &self.identity, None)?;
        let outcome = gate.undo(&context::caller(&self.identity), self.call_id).await;
        output::json(&outcome)?;
        Ok(exit_code(&outcome))
    }
}
