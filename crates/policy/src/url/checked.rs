//! A URL that was checked.

use std::net::IpAddr;

use url::{Host, Url};

use super::{
    UrlRefusal, UrlRules, address, host,
    rules::{Target, named},
    written,
};

/// A URL that may be used, if the addresses of its host may be. Normalised: what is checked is what
/// is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedUrl {
    url: Url,
    port: u16,
    address: Option<IpAddr>,
}

impl CheckedUrl {
    pub(super) fn new(text: &str, rules: &UrlRules) -> Result<Self, UrlRefusal> {
        written::check(text)?;
        let url = Url::parse(text).map_err(|problem| unreadable(text, problem))?;
        let checked = Self::of(url, written::authority(text))?;
        checked.check_host(rules)?;
        Ok(checked)
    }

    /// Where a redirect from here to `location` leads, checked from scratch.
    pub fn follow(&self, location: &str, rules: &UrlRules) -> Result<Self, UrlRefusal> {
        written::check(location)?;
        let next = self.url.join(location).map_err(|problem| unreadable(location, problem))?;
        Self::new(next.as_str(), rules)
    }

    /// Whether the host, found at `ip`, may be reached. An address in the URL was checked before.
    pub fn check_address(&self, ip: IpAddr, rules: &UrlRules) -> Result<(), UrlRefusal> {
        rules.deny(&Target::Address(ip), self.port)?;
        if rules.opens(&named(&rules.networks(), ip), self.port) {
            return Ok(());
        }
        if let Some(special) = address::special(ip) {
            let shown = self.address.map_or_else(
                || format!("`{}` is found at `{ip}`, which", self.host()),
                |_| format!("`{ip}`"),
            );
            let reason = format!("{shown} is {}; {}", special.what, only_public(rules));
            return Err(UrlRefusal::new(special.rule, reason));
        }
        self.check_named(rules)
    }

    /// Whether the host may be reached, found at these addresses. One that may not be refuses all:
    /// whoever answers with such a mixture wants another one to be used later.
    pub fn check_addresses(&self, ips: &[IpAddr], rules: &UrlRules) -> Result<(), UrlRefusal> {
        if ips.is_empty() {
            let reason = format!("`{}` has no address", self.host());
            return Err(UrlRefusal::new("host.unknown", reason));
        }
        ips.iter().try_for_each(|ip| self.check_address(*ip, rules))
    }

    /// The whole URL, without a fragment.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The name or address, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// The address, if the URL has one instead of a name.
    pub const fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// The port, written or not.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Whether anybody could reach it. A name is judged as a name: what it resolves to may differ.
    pub fn is_public(&self) -> bool {
        match self.address {
            Some(ip) => address::special(ip).is_none(),
            None => host::local(self.host()).is_none(),
        }
    }

    /// Whether it is `https`.
    pub fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Path and query, as they are asked for.
    pub fn target(&self) -> &str {
        self.url.as_str().get(self.origin().len()..).unwrap_or("/")
    }

    /// Scheme, host and port: what credentials stay with.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.url.scheme(), self.authority())
    }

    /// Host and port, as the server is told.
    pub fn authority(&self) -> String {
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.host())
    }

    /// Everything that needs no rules.
    fn of(mut url: Url, authority: &str) -> Result<Self, UrlRefusal> {
        if !matches!(url.scheme(), "http" | "https") {
            let reason = format!("`{}:` is not `http:` or `https:`", url.scheme());
            return Err(UrlRefusal::new("url.scheme", reason));
        }
        if authority.contains('@') {
            let reason =
                "the URL has a user name or password in it; send an `Authorization` header";
            return Err(UrlRefusal::new("url.credentials", reason));
        }
        let unknown = || UrlRefusal::new("url", "the URL has no host; write `https://host/path`");
        let address = match url.host().filter(|_| !authority.is_empty()).ok_or_else(unknown)? {
            Host::Domain(name) => {
                let name = host::normalise(name)?;
                url.set_host(Some(&name)).map_err(|_| unknown())?;
                None
            }
            Host::Ipv4(ip) => {
                plain(authority, &ip.to_string())?;
                Some(IpAddr::V4(ip))
            }
            Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
        };
        url.set_fragment(None);
        let port = url.port_or_known_default().ok_or_else(unknown)?;
        Ok(Self { url, port, address })
    }

    fn check_host(&self, rules: &UrlRules) -> Result<(), UrlRefusal> {
        if let Some(ip) = self.address {
            return self.check_address(ip, rules);
        }
        let target = Target::Name(self.host());
        rules.deny(&target, self.port)?;
        let mut allowing = rules.allowing(&target);
        if let Some(why) = host::local(self.host()) {
            // `*` means public hosts; such a name must be named.
            allowing.retain(|rule| rule.host != config::HostSpec::Any);
            if allowing.is_empty() {
                let reason = format!("`{}` {why}; {}", self.host(), only_public(rules));
                return Err(UrlRefusal::new("host.local", reason));
            }
        } else if rules.user().looks_up_any_name() || !allowing.is_empty() {
            allowing.extend(rules.networks());
        }
        self.check_port(&allowing, rules)
    }

    /// Whether a rule opens a public host by its name, on this port.
    fn check_named(&self, rules: &UrlRules) -> Result<(), UrlRefusal> {
        let target = self.address.map_or_else(|| Target::Name(self.host()), Target::Address);
        self.check_port(&rules.allowing(&target), rules)
    }

    fn check_port(
        &self,
        allowing: &[&config::HostPattern],
        rules: &UrlRules,
    ) -> Result<(), UrlRefusal> {
        let (host, port, key) = (self.host(), self.port, rules.user().key());
        if allowing.is_empty() {
            let reason = format!("`{key}` does not have `{host}`; the operator can name it there");
            return Err(UrlRefusal::new("network.allow", reason));
        }
        if !rules.opens(allowing, port) {
            let usual = rules.user().usual();
            let reason = format!(
                "port {port} of `{host}` is not open to {usual}, and the operator can name \
                 `{host}:{port}` in `{key}`"
            );
            return Err(UrlRefusal::new("url.port", reason));
        }
        Ok(())
    }
}

/// What a refused host or address has in common: what to do about it.
fn only_public(rules: &UrlRules) -> String {
    let key = rules.user().key();
    format!("tools reach public hosts only; the operator can name others in `{key}`")
}

fn unreadable(text: &str, problem: url::ParseError) -> UrlRefusal {
    let relative = matches!(problem, url::ParseError::RelativeUrlWithoutBase);
    if relative {
        let reason = "the URL has no scheme; write it as `https://host/path`";
        return UrlRefusal::new("url.scheme", reason);
    }
    let shown: String = text.chars().take(200).collect();
    UrlRefusal::new("url", format!("`{shown}` is not a URL: {problem}"))
}

fn plain(authority: &str, address: &str) -> Result<(), UrlRefusal> {
    if written::is_plain_address(authority, address) {
        return Ok(());
    }
    let reason = format!("the host is the address `{address}` in disguise; write it plainly");
    Err(UrlRefusal::new("host.form", reason))
}
