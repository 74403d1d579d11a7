//! The section `tools.web`.

use std::time::Duration;

use crate::{HostPattern, Spanned};

/// What tools do on the network, and how far they get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Web {
    /// Whom they reach.
    pub network: Network,
    /// What one answer may cost.
    pub fetch: Fetch,
}

/// Patterns of hosts, each with its line.
pub type Hosts = Spanned<Vec<Spanned<HostPattern>>>;

/// Whom tools reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Network {
    /// Only these; empty is nobody.
    pub allow: Hosts,
    /// Never these; looked at first.
    pub deny: Hosts,
}

/// Every public host, on the usual ports.
impl Default for Network {
    fn default() -> Self {
        Self { allow: vec![HostPattern::ANY.into()].into(), deny: Vec::new().into() }
    }
}

/// What one answer may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// From the first lookup to the last byte, redirects included.
    pub timeout: Spanned<Duration>,
    /// The longest body that is read, decompressed.
    pub max_bytes: Spanned<u64>,
    /// How many redirects are followed.
    pub max_redirects: Spanned<u32>,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30).into(),
            max_bytes: 1_000_000.into(),
            max_redirects: 5.into(),
        }
    }
}
