//! `toolgate check path`.

use anyhow::Result;
use clap::Args;
use config::Tools;
use policy::{Checked, check_path};
use serde_json::Value;
use tool::Capabilities as _;
use toolgate::{Caller, FilePath, Gate, Need};

use super::{Checker, Input, Shown, answer::shown};
use crate::{
    cli::{Global, Identity},
    context,
};

/// Say whether a path may be read or written.
#[derive(Debug, Args)]
pub(super) struct CheckPath {
    #[command(flatten)]
    pub(super) input: Input,
    /// Ask about writing instead of reading.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    identity: Identity,
}

impl CheckPath {
    pub(super) async fn checker(&self, global: &Global) -> Result<impl Checker> {
        context::check_user(global, &self.identity).await?;
        let config = context::configuration_for(global, &self.identity)?;
        let tools = config.tools.clone();
        let gate = context::idle_gate_as(global, config, &self.identity.agent)?;
        let need: fn(FilePath) -> Need = if self.write { Need::Write } else { Need::Read };
        Ok(Paths { gate, caller: context::caller(&self.identity), tools, need })
    }
}

struct Paths {
    gate: Gate,
    caller: Caller,
    tools: Tools,
    need: fn(FilePath) -> Need,
}

impl Checker for Paths {
    async fn one(&self, text: &str) -> Result<Shown> {
        let need = (self.need)(FilePath::new(text));
        let fact = self.gate.world().disk(&self.caller).and_then(|disk| disk.look(&need));
        shown(&check_path(&self.tools, &self.caller, (text, need), fact))
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        shown(&Checked::unreadable(input, problem))
    }
}
