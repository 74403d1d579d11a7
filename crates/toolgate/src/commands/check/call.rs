//! `toolgate check call`.

use anyhow::Result;
use clap::Args;
use policy::Checked;
use serde_json::Value;
use toolgate::{Caller, Gate};

use super::{Checker, Input, Shown, answer::shown};
use crate::{
    cli::{Global, Identity},
    context,
};

/// Say whether a call would run: `{"tool": …, "arguments": …}`.
#[derive(Debug, Args)]
pub(super) struct CheckCall {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    identity: Identity,
}

impl CheckCall {
    pub(super) async fn checker(&self, global: &Global) -> Result<impl Checker> {
        context::check_user(global, &self.identity).await?;
        let config = context::configuration_for(global, &self.identity)?;
        let gate = context::idle_gate_as(global, config, &self.identity.agent)?;
        Ok(Calls { gate, caller: context::caller(&self.identity) })
    }
}

struct Calls {
    gate: Gate,
    caller: Caller,
}

impl Checker for Calls {
    async fn one(&self, text: &str) -> Result<Shown> {
        let (name, arguments, input) = match gate::named(text) {
            Ok(call) => call,
            Err(problem) => return self.unreadable(text.into(), &problem),
        };
        let check = self.gate.check_openly(&self.caller, &name, &arguments).await;
        shown(&Checked { input, decision: check.decision, plan: check.plan })
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        shown(&Checked::unreadable(input, problem))
    }
}
