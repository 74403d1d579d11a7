//! Hosts, as a rule about the network names them.

use std::{fmt, net::IpAddr, str::FromStr};

/// The hosts that a rule about the network means, and on which port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPattern {
    /// Which hosts.
    pub host: HostSpec,
    /// On this port only; unset is not the same everywhere: see where the list is used.
    pub port: Option<u16>,
}

/// Which hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostSpec {
    /// `*`
    Any,
    /// `example.org`, in lower case, without a dot at its end.
    Name(String),
    /// `*.example.org`: every name that ends so, but not `example.org` itself.
    Beneath(String),
    /// `10.1.0.0/16`, or one address, which has all its bits.
    Net {
        /// The first address, or any other of them.
        address: IpAddr,
        /// How many leading bits they share.
        bits: u8,
    },
}

impl HostPattern {
    /// `*`
    pub const ANY: Self = Self { host: HostSpec::Any, port: None };
}

/// The error is what should have been there.
impl FromStr for HostPattern {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (host, port) = split_port(text.trim()).ok_or(HOW)?;
        let host = spec(host).ok_or(HOW)?;
        Ok(Self { host, port })
    }
}

/// How a pattern is written, to read on after "expected".
pub(crate) const HOW: &str = "a host such as `example.org`, `*.example.org`, `10.1.0.0/16` or \
    `[fd00::]/8`, with a port if need be (`example.org:9200`), or `*`; other letters than a-z in \
    their `xn--` form";

/// `host:port` and `[address]:port`; an IPv6 address without brackets has no port.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') || host.contains("]/") => {
            Some((host, Some(port.parse().ok().filter(|port| *port > 0)?)))
        }
        _ => Some((text, None)),
    }
}

fn spec(host: &str) -> Option<HostSpec> {
    if host == "*" {
        return Some(HostSpec::Any);
    }
    if let Some(net) = net(host) {
        return Some(net);
    }
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    match host.strip_prefix("*.") {
        Some(rest) => is_name(rest).then(|| HostSpec::Beneath(rest.to_owned())),
        None => is_name(&host).then_some(HostSpec::Name(host)),
    }
}

fn net(host: &str) -> Option<HostSpec> {
    let (address, bits) = match host.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().ok()?)),
        None => (host, None),
    };
    let bare = address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address: IpAddr = bare.unwrap_or(address).parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(most);
    (bits <= most).then_some(HostSpec::Net { address, bits })
}

/// A name whose last label is a number is an address to a URL, and never meant as a name.
fn is_name(name: &str) -> bool {
    let label = |label: &str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=63).contains(&label.len()) && label.chars().all(letter)
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let numeric = last.starts_with("0x") || last.chars().all(|c| c.is_ascii_digit());
    name.len() <= 253 && name.split('.').all(label) && !numeric
}

/// As people write it.
impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            HostSpec::Any => f.write_str("*")?,
            HostSpec::Name(name) => f.write_str(name)?,
            HostSpec::Beneath(name) => write!(f, "*.{name}")?,
            HostSpec::Net { address: IpAddr::V4(address), bits: 32 } => write!(f, "{address}")?,
            HostSpec::Net { address: IpAddr::V4(address), bits } => write!(f, "{address}/{bits}")?,
            HostSpec::Net { address: IpAddr::V6(address), bits: 128 } => write!(f, "[{address}]")?,
            HostSpec::Net { address: IpAddr::V6(address), bits } => {
                write!(f, "[{address}]/{bits}")?;
            }
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, expected) in [
            ("*", "*"),
            ("*:9200", "*:9200"),
            ("Example.ORG", "example.org"),
            ("example.org.", "example.org"),
            ("*.example.org", "*.example.org"),
            ("example.org:9200", "example.org:9200"),
            ("localhost:3000", "localhost:3000"),
            ("10.1.0.0/16", "10.1.0.0/16"),
            ("10.1.2.3", "10.1.2.3"),
            ("10.1.2.3/32:9200", "10.1.2.3:9200"),
            ("fd00::1", "[fd00::1]"),
            ("fd00::/8", "[fd00::]/8"),
            ("[fd00::1]:80", "[fd00::1]:80"),
            ("[fd00::]/8:80", "[fd00::]/8:80"),
        ] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn refuses_what_would_never_match_or_too_much() {
        for text in [
            "",
            "*.",
            "*example.org",
            "a.*.org",
            "exa mple.org",
            "https://example.org",
            "bücher.de",
            "example.org/path",
            "10.1.0.0/33",
            "fd00::/129",
            "127.1",
            "0x7f.1",
            "example..org",
            "example.org:0",
            "example.org:99999",
            "example.org:",
            ":80",
            "user@example.org",
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }
}
