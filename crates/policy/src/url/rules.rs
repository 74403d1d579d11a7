//! What configuration says about the network.

use std::net::{IpAddr, Ipv6Addr};

use config::{HostPattern, HostSpec, Network, Spanned};

use super::{
    UrlRefusal, address,
    passage::{Passage, User},
};

/// Whom tools may reach. The default is every public host on the usual ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlRules {
    allow: Vec<Spanned<HostPattern>>,
    deny: Vec<Spanned<HostPattern>>,
    user: User,
}

impl Default for UrlRules {
    fn default() -> Self {
        Self::new(&Network::default())
    }
}

impl UrlRules {
    /// The rules that `network` writes down.
    pub fn new(network: &Network) -> Self {
        let Network { allow, deny } = network;
        Self { allow: allow.value.clone(), deny: deny.value.clone(), user: User::Tools }
    }

    /// The rules for a command in the sandbox that may reach `hosts`. What is denied to tools is
    /// denied to it too; what else they may reach is not its business.
    #[must_use]
    pub fn for_command(&self, hosts: &[HostPattern], passage: Passage) -> Self {
        let allow = hosts.iter().cloned().map(Spanned::from).collect();
        Self { allow, deny: self.deny.clone(), user: User::Command(passage) }
    }

    /// Whom they are for.
    pub(super) const fn user(&self) -> User {
        self.user
    }

    /// Refuses a host that is denied on this port. Without a port in the rule, every port is.
    pub(super) fn deny(&self, host: &Target<'_>, port: u16) -> Result<(), UrlRefusal> {
        let on_port = |pattern: &&Spanned<HostPattern>| pattern.port.is_none_or(|p| p == port);
        let found = self.deny.iter().filter(on_port).find(|pattern| host.is_meant(&pattern.host));
        found.map_or(Ok(()), |pattern| {
            let at = pattern.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
            let reason = format!("{host} is denied by `{}`{at}", pattern.value);
            Err(UrlRefusal::new("network.deny", reason))
        })
    }

    /// The allow rules that mean `host` on any port. Without a port in the rule, the usual ones are
    /// open.
    pub(super) fn allowing(&self, host: &Target<'_>) -> Vec<&HostPattern> {
        let rules = self.allow.iter().map(|pattern| &pattern.value);
        rules.filter(|pattern| host.is_meant(&pattern.host)).collect()
    }

    /// The allow rules about addresses: any name may turn out to have one of them.
    pub(super) fn networks(&self) -> Vec<&HostPattern> {
        let rules = self.allow.iter().map(|pattern| &pattern.value);
        rules.filter(|pattern| matches!(pattern.host, HostSpec::Net { .. })).collect()
    }

    /// Whether one of `allowing` opens `port`.
    pub(super) fn opens(&self, allowing: &[&HostPattern], port: u16) -> bool {
        let usual = self.user.usual_ports().contains(&port);
        allowing.iter().any(|rule| rule.port.map_or(usual, |open| open == port))
    }
}

/// What a pattern is compared with.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl Target<'_> {
    fn is_meant(&self, pattern: &HostSpec) -> bool {
        match (pattern, self) {
            (HostSpec::Any, _) => true,
            (HostSpec::Name(name), Self::Name(host)) => name == host,
            // By labels: `docs.example.evil.test` is not beneath `docs.example`.
            (HostSpec::Beneath(name), Self::Name(host)) => {
                host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            (HostSpec::Net { address, bits }, Self::Address(ip)) => {
                address::covers(*address, *bits, *ip)
                    || address::inner(*ip).is_some_and(|ip| address::covers(*address, *bits, ip))
            }
            (HostSpec::Name(_) | HostSpec::Beneath(_), Self::Address(_))
            | (HostSpec::Net { .. }, Self::Name(_)) => false,
        }
    }
}

impl std::fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Address(ip) => write!(f, "`{ip}`"),
        }
    }
}

/// Whether `rules` name the network of `ip` itself, not only what it carries inside.
pub(super) fn named<'a>(rules: &[&'a HostPattern], ip: IpAddr) -> Vec<&'a HostPattern> {
    let exact = match ip {
        IpAddr::V6(ip) => mapped(ip),
        IpAddr::V4(_) => ip,
    };
    let names = |rule: &&&HostPattern| match rule.host {
        HostSpec::Net { address, bits } => address::covers(address, bits, exact),
        HostSpec::Any | HostSpec::Name(_) | HostSpec::Beneath(_) => false,
    };
    rules.iter().filter(names).copied().collect()
}

/// `::ffff:10.0.0.1` is `10.0.0.1` to the kernel.
fn mapped(ip: Ipv6Addr) -> IpAddr {
    ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4)
}
