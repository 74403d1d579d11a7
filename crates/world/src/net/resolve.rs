//! Names to addresses.

use std::{
    fmt,
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use hickory_resolver::{
    ResolverBuilder, TokioResolver, config::LookupIpStrategy, net::runtime::TokioRuntimeProvider,
};
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
        let resolver = built(TokioResolver::builder_tokio()?)?;
        Ok(made.insert(resolver).clone())
    }
}

fn built(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Result<TokioResolver, Source> {
    let options = builder.options_mut();
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.timeout = Duration::from_secs(3);
    options.attempts = 2;
    options.cache_size = 1024;
    options.positive_max_ttl = Some(Duration::from_mins(5));
    options.negative_max_ttl = Some(Duration::from_secs(10));
    Ok(builder.build()?)
}

impl fmt::Debug for NameServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameServers")
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
    use tokio::net::UdpSocket;

    use super::*;

    /// A name server that knows `two.example` only: one IPv4 and one IPv6 address.
    async fn server() -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = socket.local_addr().unwrap();
        tokio::spawn(async move {
            let mut asked = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut asked).await.unwrap();
                socket.send_to(&reply(&asked[..length]), from).await.unwrap();
            }
        });
        address
    }

    /// The header says "answer, no such name" or "answer, one record"; then the question again, and
    /// the record, whose name points back to the question.
    fn reply(query: &[u8]) -> Vec<u8> {
        const NAME: &[u8] = b"\x03two\x07example\x00";
        let question = query.get(12..12 + NAME.len() + 4);
        let Some(question) = question.filter(|question| question.starts_with(NAME)) else {
            let mut refused = query.to_vec();
            refused[2..4].copy_from_slice(&[0x81, 0x83]);
            return refused;
        };
        let data: &[u8] = match question[NAME.len()..NAME.len() + 2] {
            [0, 1] => &[93, 184, 216, 34],
            _ => &[0x26, 6, 0x28, 0, 2, 0x20, 0, 1, 2, 0x48, 0x18, 0x93, 0x25, 0xc8, 0x19, 0x46],
        };
        let mut answer = query[..2].to_vec();
        answer.extend([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        answer.extend(question);
        answer.extend([0xc0, 12]);
        answer.extend(&question[NAME.len()..]);
        answer.extend([0, 0, 0, 60, 0, u8::try_from(data.len()).unwrap()]);
        answer.extend(data);
        answer
    }

    #[tokio::test]
    async fn gives_every_address_of_a_name_and_none_of_an_unknown_one() {
        let address = server().await;
        let mut udp = ConnectionConfig::udp();
        udp.port = address.port();
        let name_server = NameServerConfig::new(address.ip(), true, vec![udp]);
        let config = ResolverConfig::from_parts(None, Vec::new(), vec![name_server]);
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let servers = NameServers(Mutex::new(Some(built(builder).unwrap())));
        let found = servers.resolve("two.example").await.unwrap();
        let mut found: Vec<_> = found.iter().map(ToString::to_string).collect();
        found.sort();
        assert_eq!(found, ["2606:2800:220:1:248:1893:25c8:1946", "93.184.216.34"]);
        assert_eq!(servers.resolve("gone.example").await.unwrap(), Vec::<IpAddr>::new());
    }
}
