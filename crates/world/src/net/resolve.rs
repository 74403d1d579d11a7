//! Names to addresses.

use std::{
    fmt,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hickory_resolver::{TokioResolver, config::LookupIpStrategy};
use tool::{BoxFuture, Source};

/// Finds the addresses of a host.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// Every address of `name`; none if there is no such name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Source>>;
}

/// Asks the name servers of this machine, by its own means: what a system library would add to a
/// name, or ask another service, does not count.
#[derive(Default)]
pub(super) struct NameServers(Mutex<Option<TokioResolver>>);

impl Resolve for NameServers {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Source>> {
        Box::pin(async move {
            // With a dot at its end, no search list is applied.
            match self.resolver()?.lookup_ip(format!("{name}.")).await {
                Ok(found) => Ok(found.iter().collect()),
                Err(error) if error.is_no_records_found() || error.is_nx_domain() => Ok(Vec::new()),
                Err(error) => Err(error.into()),
            }
        })
    }
}

impl NameServers {
    /// Made when it is first needed: it needs a runtime, and a machine without one may never ask.
    fn resolver(&self) -> Result<TokioResolver, Source> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolver) = &*made {
            return Ok(resolver.clone());
        }
        let mut builder = TokioResolver::builder_tokio()?;
        let options = builder.options_mut();
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.timeout = Duration::from_secs(3);
        options.attempts = 2;
        options.cache_size = 1024;
        options.positive_max_ttl = Some(Duration::from_mins(5));
        options.negative_max_ttl = Some(Duration::from_secs(10));
        let resolver = builder.build()?;
        Ok(made.insert(resolver).clone())
    }
}

impl fmt::Debug for NameServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameServers")
    }
}
