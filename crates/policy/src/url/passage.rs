//! Who reaches a host, and how.

/// How a command in the sandbox reaches a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Request by request, in the clear: each is checked.
    Request,
    /// As bytes that nobody else understands. Where they lead is all that can be checked.
    Tunnel,
}

/// Whom rules are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum User {
    Tools,
    Command(Passage),
}

impl User {
    /// The key of the list that allows.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Tools => "tools.web.network.allow",
            Self::Command(_) => "tools.exec.network",
        }
    }

    /// The ports that are open where a rule names none: those a web server usually has. Behind a
    /// tunnel only the one that speaks TLS: on any other, a request in it could be for anybody.
    pub(super) const fn usual_ports(self) -> &'static [u16] {
        match self {
            Self::Tools | Self::Command(Passage::Request) => &[80, 443, 8080, 8443],
            Self::Command(Passage::Tunnel) => &[443],
        }
    }

    /// The same for people, to read on after "is not open to".
    pub(super) const fn usual(self) -> &'static str {
        match self {
            Self::Tools => "tools; usual are 80, 443, 8080 and 8443",
            Self::Command(Passage::Request) => "commands; usual are 80, 443, 8080 and 8443",
            Self::Command(Passage::Tunnel) => "tunnels of commands; usual is 443",
        }
    }

    /// Whether a name may be looked up because one of its addresses could be allowed. For a command
    /// it may not: whoever can ask for any name can send anything in it, to whose name it is.
    pub(super) const fn looks_up_any_name(self) -> bool {
        match self {
            Self::Tools => true,
            Self::Command(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use config::{HostPattern, Network};

    use super::{
        super::{UrlRules, check},
        *,
    };

    const HOSTS: &[&str] =
        &["ok.example", "*.beneath.example", "named.example:9000", "10.1.0.0/16", "9.9.9.9"];

    fn patterns(texts: &[&str]) -> Vec<HostPattern> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn decided(url: &str, found: Option<&str>, passage: Passage) -> Result<(), &'static str> {
        let deny = patterns(&["denied.beneath.example", "93.184.216.99"]);
        let deny: Vec<_> = deny.into_iter().map(Into::into).collect();
        // What tools may reach besides has nothing to do with it.
        let network = Network { deny: deny.into(), ..Network::default() };
        let rules = UrlRules::new(&network).for_command(&patterns(HOSTS), passage);
        let checked = check(url, &rules).map_err(|refusal| refusal.rule)?;
        let Some(ip) = found else { return Ok(()) };
        checked.check_addresses(&[ip.parse().unwrap()], &rules).map_err(|refusal| refusal.rule)
    }

    #[test]
    fn a_command_reaches_what_is_named_and_nothing_else() {
        for (url, found, expected) in [
            ("http://ok.example/", Some("93.184.216.34"), Ok(())),
            ("http://OK.example.:8080/", Some("93.184.216.34"), Ok(())),
            ("http://a.b.beneath.example/", Some("93.184.216.34"), Ok(())),
            ("http://named.example:9000/", Some("93.184.216.34"), Ok(())),
            ("http://9.9.9.9/", None, Ok(())),
            ("http://10.1.2.3/", None, Ok(())),
            ("http://ok.example/", Some("10.1.2.3"), Ok(())),
            ("http://beneath.example/", None, Err("network.allow")),
            ("http://evil-beneath.example/", None, Err("network.allow")),
            ("http://ok.example.evil.example/", None, Err("network.allow")),
            ("http://www.ok.example/", None, Err("network.allow")),
            ("http://denied.beneath.example/", None, Err("network.deny")),
            ("http://ok.example/", Some("93.184.216.99"), Err("network.deny")),
            ("http://ok.example:9000/", None, Err("url.port")),
            // One of its addresses could have been open on that port.
            ("http://named.example/", Some("10.1.2.3"), Ok(())),
            ("http://named.example/", Some("93.184.216.34"), Err("url.port")),
            ("http://93.184.216.34/", None, Err("network.allow")),
            ("http://169.254.169.254/", None, Err("address.metadata")),
            ("http://ok.example/", Some("10.2.0.1"), Err("address.private")),
            ("http://localhost/", None, Err("host.local")),
            // Not even looked up, whatever it may turn out to be.
            ("http://other.example/", Some("10.1.2.3"), Err("network.allow")),
        ] {
            assert_eq!(decided(url, found, Passage::Request), expected, "{url} {found:?}");
        }
    }

    #[test]
    fn a_tunnel_leads_to_443_or_to_a_port_that_is_named() {
        for (url, found, expected) in [
            ("https://ok.example/", Some("93.184.216.34"), Ok(())),
            ("https://named.example:9000/", Some("93.184.216.34"), Ok(())),
            ("https://10.1.2.3/", None, Ok(())),
            ("https://ok.example:80/", None, Err("url.port")),
            ("https://ok.example:8443/", None, Err("url.port")),
            ("https://named.example/", Some("93.184.216.34"), Err("url.port")),
            ("https://10.1.2.3:8080/", None, Err("address.private")),
        ] {
            assert_eq!(decided(url, found, Passage::Tunnel), expected, "{url}");
        }
    }

    #[test]
    fn a_refusal_names_the_list_that_could_allow_it() {
        let rules = UrlRules::default().for_command(&patterns(HOSTS), Passage::Tunnel);
        for url in ["https://x.example/", "https://ok.example:22/", "https://10.9.9.9/"] {
            let reason = check(url, &rules).unwrap_err().reason;
            assert!(reason.contains("the operator can name"), "{reason}");
            assert!(reason.contains("`tools.exec.network`"), "{reason}");
        }
    }
}
