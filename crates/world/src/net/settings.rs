//! How far tools get on the network.

use std::time::Duration;

use config::Web;
use policy::url::UrlRules;

/// How far tools get on the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetSettings {
    /// Whom they reach.
    pub rules: UrlRules,
    /// How long everything about one fetch may take.
    pub timeout: Duration,
    /// What is read of a body, before and after it is decompressed.
    pub max_bytes: u64,
    /// How many redirects are followed.
    pub max_redirects: u32,
}

impl Default for NetSettings {
    fn default() -> Self {
        Self::new(&Web::default())
    }
}

impl NetSettings {
    /// What configuration says.
    pub fn new(web: &Web) -> Self {
        let Web { network, fetch } = web;
        Self {
            rules: UrlRules::new(network),
            timeout: fetch.timeout.value,
            max_bytes: fetch.max_bytes.value,
            max_redirects: fetch.max_redirects.value,
        }
    }
}
