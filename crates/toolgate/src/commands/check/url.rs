//! `toolgate check url`.

use anyhow::Result;
use clap::Args;
use policy::{Checked, Resolved, UrlCheck};
use serde_json::Value;
use toolgate::Caller;

use super::{Checker, Input, Shown, answer::shown};
use crate::{cli::Global, context};

/// Say whether a URL may be fetched.
///
/// Nothing is looked up: a name is judged as a name, unless `--resolve` says what it resolves to.
#[derive(Debug, Args)]
pub(super) struct CheckUrl {
    #[command(flatten)]
    pub(super) input: Input,
    /// Judge this host as if it had these addresses; may be given for several hosts.
    #[arg(long, value_name = "HOST=IP[,IP]")]
    resolve: Vec<Resolved>,
}

impl CheckUrl {
    pub(super) fn checker(&self, global: &Global) -> Result<impl Checker> {
        let tools = context::checked_configuration(global)?.tools;
        Ok(Urls(UrlCheck::new(tools, self.resolve.clone())))
    }
}

struct Urls(UrlCheck);

impl Checker for Urls {
    async fn one(&self, text: &str) -> Result<Shown> {
        shown(&self.0.check(&Caller::owner("main"), text))
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        shown(&Checked::unreadable(input, problem))
    }
}
