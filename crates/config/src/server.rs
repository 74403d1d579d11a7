//! The section `server`.

use std::{
    fmt,
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    str::FromStr,
    time::Duration,
};

use crate::{Hosts, Spanned};

/// How the server is reached, and what a client may cost it. [`crate::keys`] says what each is for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the help of each key says it")]
pub struct Server {
    pub listen: Spanned<SocketAddr>,
    /// Names it is called by besides its own address.
    pub hosts: Hosts,
    /// Pages besides its own that may use it.
    pub origins: Spanned<Vec<Spanned<Origin>>>,
    pub body_bytes: Spanned<u64>,
    pub request_timeout: Spanned<Duration>,
    pub answer_timeout: Spanned<Duration>,
    pub shutdown_timeout: Spanned<Duration>,
    pub connections: Spanned<NonZeroUsize>,
    pub connections_per_peer: Spanned<NonZeroUsize>,
    pub connections_per_user: Spanned<NonZeroUsize>,
    pub ws_connections: Spanned<NonZeroUsize>,
    pub ws_requests: Spanned<NonZeroUsize>,
    pub runs: Spanned<NonZeroUsize>,
    pub ws_ping: Spanned<Duration>,
    pub mcp_sessions: Spanned<NonZeroUsize>,
    pub mcp_sessions_per_user: Spanned<NonZeroUsize>,
    pub mcp_session_idle: Spanned<Duration>,
}

impl Server {
    /// Where it listens unless told otherwise.
    pub const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7717);
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: Self::LISTEN.into(),
            hosts: Vec::new().into(),
            origins: Vec::new().into(),
            body_bytes: 12_000_000.into(),
            request_timeout: Duration::from_secs(30).into(),
            answer_timeout: Duration::from_mins(1).into(),
            shutdown_timeout: Duration::from_secs(10).into(),
            connections: at_least_one(1_024),
            connections_per_peer: at_least_one(256),
            connections_per_user: at_least_one(64),
            ws_connections: at_least_one(10_000),
            ws_requests: at_least_one(32),
            runs: at_least_one(32),
            ws_ping: Duration::from_secs(30).into(),
            mcp_sessions: at_least_one(1_024),
            mcp_sessions_per_user: at_least_one(64),
            mcp_session_idle: Duration::from_mins(30).into(),
        }
    }
}

fn at_least_one(count: usize) -> Spanned<NonZeroUsize> {
    NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN).into()
}

/// Where a page comes from, as browsers write it: `https://example.org`, `http://localhost:3000`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// As browsers write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error is what should have been there.
impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().trim_end_matches('/').to_ascii_lowercase();
        let (scheme, host) = text.split_once("://").ok_or(HOW)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]_".contains(c);
        if !matches!(scheme, "http" | "https") || host.is_empty() || !host.chars().all(plain) {
            return Err(HOW);
        }
        // Browsers leave the usual port out.
        let usual = if scheme == "https" { ":443" } else { ":80" };
        Ok(Self(format!("{scheme}://{}", host.strip_suffix(usual).unwrap_or(host))))
    }
}

/// How an origin is written, to read on after "expected".
pub(crate) const HOW: &str =
    "where a page comes from, such as `https://example.org` or `http://localhost:3000`";

#[cfg(test)]
mod tests {
    use super::Origin;

    #[test]
    fn an_origin_is_written_as_browsers_write_it() {
        for (text, expected) in [
            ("https://Example.org/", Some("https://example.org")),
            ("https://example.org:443", Some("https://example.org")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("http://[::1]:80", Some("http://[::1]")),
            ("example.org", None),
            ("https://", None),
            ("https://a/b", None),
            ("https://user@a", None),
            ("null", None),
            ("*", None),
        ] {
            let read = text.parse::<Origin>().ok();
            assert_eq!(read.as_ref().map(Origin::as_str), expected, "{text}");
        }
    }
}
