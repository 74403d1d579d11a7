//! URLs.

use std::{net::IpAddr, str::FromStr, sync::Arc};

use config::Tools;
use tool::{Caller, Facts, Need, Plan};

use super::Checked;
use crate::{
    Decision, Situation, Untrusted, Verdict, decide,
    url::{UrlRules, check, explain},
};

/// A host, and the addresses it is taken to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    host: String,
    addresses: Vec<IpAddr>,
}

/// Reads `HOST=IP,IP`; nothing after the `=` is a name without an address.
impl FromStr for Resolved {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, addresses) = text.split_once('=').ok_or("expected `HOST=IP[,IP]`")?;
        let addresses = addresses.split(',').filter(|address| !address.is_empty());
        let read = |text: &str| text.parse().map_err(|_| format!("`{text}` is not an IP address"));
        let host = host.strip_suffix('.').unwrap_or(host).to_owned();
        Ok(Self { host, addresses: addresses.map(read).collect::<Result<_, _>>()? })
    }
}

/// Everything that is the same for all URLs. Nothing is looked up: a name is judged as a name, unless
/// somebody says what it resolves to.
#[derive(Debug)]
pub struct UrlCheck {
    rules: UrlRules,
    tools: Tools,
    resolved: Vec<Resolved>,
}

impl UrlCheck {
    /// As `tools` says, with what names resolve to.
    pub fn new(tools: Tools, resolved: Vec<Resolved>) -> Self {
        Self { rules: UrlRules::new(&tools.web.network), tools, resolved }
    }

    /// What would be decided about fetching `url`.
    pub fn check(&self, caller: &Caller, url: &str) -> Checked {
        let plan = Arc::new(Plan::from([Need::Fetch(url.to_owned())]));
        let decision = self.decision(caller, url, &plan);
        Checked { input: url.into(), decision, plan: Some(plan) }
    }

    /// What the network door says, and then when a person is asked.
    fn decision(&self, caller: &Caller, url: &str, plan: &Plan) -> Decision {
        let door = explain(url, self.addresses(url), &self.rules);
        let (tools, urls) = (&self.tools, &self.rules);
        let asked = decide(
            Situation { tools, urls, caller, untrusted: Untrusted::default() },
            plan,
            &Facts::default(),
        );
        if asked.verdict == Verdict::Ask && door.verdict == Verdict::Allow { asked } else { door }
    }

    fn addresses(&self, url: &str) -> Option<&[IpAddr]> {
        let url = check(url, &self.rules).ok()?;
        let same = |known: &&Resolved| known.host.eq_ignore_ascii_case(url.host());
        self.resolved.iter().find(same).map(|known| &*known.addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::Resolved;

    #[test]
    fn a_host_is_given_with_its_addresses() {
        for (text, expected) in [
            ("a.example=1.2.3.4,::1", Ok(2)),
            ("a.example=", Ok(0)),
            ("a.example", Err("expected `HOST=IP[,IP]`")),
            ("a.example=127.1", Err("`127.1` is not an IP address")),
        ] {
            let read = text.parse::<Resolved>().map(|read| read.addresses.len());
            assert_eq!(read.as_ref().map_err(String::as_str), expected.as_ref().map_err(|e| *e));
        }
    }
}
