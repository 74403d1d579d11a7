//! `toolgate check path`.

use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use config::Tools;
use policy::{Situation, Untrusted, url::UrlRules};
use serde_json::Value;
use tool::{Capabilities as _, Facts};
use toolgate::{Caller, FilePath, Gate, Need, Plan};

use super::{Checker, Input, Shown, answer::Answer};
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
    pub(super) fn checker(&self, global: &Global) -> Result<impl Checker> {
        let config = context::configuration_for(global, &self.identity)?;
        let tools = config.tools.clone();
        let gate = context::idle_gate(global, config)?;
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
        let (plan, facts) = (Arc::new(Plan::from([need])), Facts { paths: vec![fact] });
        let urls = UrlRules::new(&self.tools.web.network);
        let untrusted = Untrusted::default();
        let situation =
            Situation { tools: &self.tools, urls: &urls, caller: &self.caller, untrusted };
        let decision = policy::decide(situation, &plan, &facts);
        Answer { input: text.into(), decision, plan: Some(plan) }.shown()
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        Answer::unreadable(input, problem).shown()
    }
}
