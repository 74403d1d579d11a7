//! `toolgate check url`.

use std::{net::IpAddr, sync::Arc};

use anyhow::Result;
use clap::Args;
use config::Tools;
use policy::{
    Decision, Situation, Untrusted, Verdict,
    url::{UrlRules, check, explain},
};
use serde_json::Value;
use tool::Facts;
use toolgate::{Caller, Need, Plan};

use super::{Checker, Input, Shown, answer::Answer};
use crate::{cli::Global, context};

/// Say whether a URL may be fetched.
///
/// Nothing is looked up: a name is judged as a name, unless `--resolve` says what it resolves to.
#[derive(Debug, Args)]
pub(super) struct CheckUrl {
    #[command(flatten)]
    pub(super) input: Input,
    /// Judge this host as if it had these addresses; may be given for several hosts.
    #[arg(long, value_name = "HOST=IP[,IP]", value_parser = resolved)]
    resolve: Vec<Resolved>,
}

/// A host and its addresses.
#[derive(Debug, Clone)]
struct Resolved {
    host: String,
    addresses: Vec<IpAddr>,
}

impl CheckUrl {
    pub(super) fn checker(&self, global: &Global) -> Result<impl Checker> {
        let tools = context::configuration(global)?.tools;
        let rules = UrlRules::new(&tools.web.network);
        Ok(Urls { rules, tools, resolve: self.resolve.clone() })
    }
}

struct Urls {
    rules: UrlRules,
    tools: Tools,
    resolve: Vec<Resolved>,
}

impl Checker for Urls {
    async fn one(&self, text: &str) -> Result<Shown> {
        let plan = Arc::new(Plan::from([Need::Fetch(text.to_owned())]));
        Answer { input: text.into(), decision: self.decision(text, &plan), plan: Some(plan) }
            .shown()
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        Answer::unreadable(input, problem).shown()
    }
}

impl Urls {
    /// What the network door says, and then when a person is asked.
    fn decision(&self, url: &str, plan: &Plan) -> Decision {
        let door = explain(url, self.addresses(url), &self.rules);
        let (tools, urls, caller) = (&self.tools, &self.rules, &Caller::owner("main"));
        let asked = policy::decide(
            Situation { tools, urls, caller, untrusted: Untrusted::default() },
            plan,
            &Facts::default(),
        );
        if asked.verdict == Verdict::Ask && door.verdict == Verdict::Allow { asked } else { door }
    }

    fn addresses(&self, url: &str) -> Option<&[IpAddr]> {
        let url = check(url, &self.rules).ok()?;
        let same = |known: &&Resolved| known.host.eq_ignore_ascii_case(url.host());
        self.resolve.iter().find(same).map(|known| &*known.addresses)
    }
}

/// Reads `HOST=IP,IP`; nothing after the `=` is a name without an address.
fn resolved(text: &str) -> Result<Resolved, String> {
    let (host, addresses) = text.split_once('=').ok_or("expected `HOST=IP[,IP]`")?;
    let addresses = addresses.split(',').filter(|address| !address.is_empty());
    let read = |text: &str| text.parse().map_err(|_| format!("`{text}` is not an IP address"));
    let host = host.strip_suffix('.').unwrap_or(host).to_owned();
    Ok(Resolved { host, addresses: addresses.map(read).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn a_host_is_given_with_its_addresses() {
        for (text, expected) in [
            ("a.example=1.2.3.4,::1", Ok(2)),
            ("a.example=", Ok(0)),
            ("a.example", Err("expected `HOST=IP[,IP]`")),
            ("a.example=127.1", Err("`127.1` is not an IP address")),
        ] {
            let read = resolved(text).map(|read| read.addresses.len());
            assert_eq!(read.as_ref().map_err(String::as_str), expected.as_ref().map_err(|e| *e));
        }
    }
}
