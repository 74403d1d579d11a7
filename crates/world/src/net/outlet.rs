//! The way to hosts the operator configured by their URLs: providers of models.
//!
//! Nobody else chooses where this leads, so it may be this machine or the one beside it. The rest is
//! as strict as the door for tools: no proxy, whatever the environment says, no redirects, bounded
//! headers and bodies.

mod body;
mod error;
mod request;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::{
    Response,
    body::Incoming,
    header::{CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION},
};
use tokio::time::timeout;
use tool::{BoxFuture, Source};

use self::{body::Open, request::Outgoing};
pub use self::{body::OutletBody, error::OutletError, request::OutletRequest};
use super::{
    connect::{Server as _, connect},
    dial::{Dial, Direct},
    door::DoorParts,
    pool::{Key, Pool, Sender},
    resolve::Resolve,
    tls::Tls,
};

/// The way to hosts the operator configured. Connections are used again.
#[derive(Debug)]
pub struct Outlet {
    resolver: Arc<dyn Resolve>,
    dialer: Arc<dyn Dial>,
    tls: Tls,
    pool: Arc<Pool>,
}

/// What came back. Any status but a redirect is an answer.
#[derive(Debug)]
pub struct OutletAnswer {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as it comes.
    pub body: OutletBody,
}

impl OutletAnswer {
    /// The first header of this name, which is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl Default for Outlet {
    fn default() -> Self {
        Self::new()
    }
}

impl Outlet {
    /// To the real network.
    pub fn new() -> Self {
        let (resolver, dialer) = (Arc::new(Machine), Arc::new(Direct));
        Self { resolver, dialer, tls: Tls::new(None), pool: Arc::default() }
    }

    /// To another network. A lint keeps it to tests.
    pub fn with(parts: DoorParts) -> Self {
        let DoorParts { resolver, dialer, roots } = parts;
        Self { resolver, dialer, tls: Tls::new(Some(roots)), pool: Arc::default() }
    }

    /// Sends a request, and gives the answer as soon as its headers are there.
    pub async fn send(&self, request: OutletRequest) -> Result<OutletAnswer, OutletError> {
        let idle = request.idle;
        let outgoing = Outgoing::new(request)?;
        let (response, key, sender) = self.exchange(&outgoing, idle).await?;
        let (head, body) = response.into_parts();
        let open = Open { body, key, sender };
        let (status, host) = (head.status.as_u16(), outgoing.host().to_owned());
        if head.status.is_redirection() {
            let location = head.headers.get(LOCATION).map(HeaderValue::as_bytes);
            return Err(OutletError::redirected(host, status, location));
        }
        // Not asked for, so whoever sends it would send anything.
        let coding = head.headers.get(CONTENT_ENCODING);
        if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
            let source = "the answer is compressed, which was not asked for".into();
            return Err(OutletError::Broken { host, source });
        }
        let body = OutletBody::new(open, self.pool.clone(), host, idle);
        Ok(OutletAnswer { status, headers: shown(&head.headers), body })
    }

    async fn exchange(
        &self,
        outgoing: &Outgoing,
        idle: Duration,
    ) -> Result<(Response<Incoming>, Key, Sender), OutletError> {
        let (addresses, origin) = (self.addresses(outgoing).await?, outgoing.origin());
        while let Some((key, mut sender)) = self.pool.take(&origin, &addresses) {
            if sender.ready().await.is_err() {
                continue;
            }
            let sent = timeout(idle, sender.try_send_request(outgoing.request()?)).await;
            match sent.map_err(|_| outgoing.silent(idle))? {
                Ok(response) => return Ok((response, key, sender)),
                // The server closed it meanwhile, and nothing went out.
                Err(error) if error.message().is_some() => {}
                Err(error) => return Err(outgoing.broken(error.into_error())),
            }
        }
        let (address, mut sender) =
            connect(outgoing, &addresses, self.dialer.as_ref(), &self.tls).await?;
        let sent = timeout(idle, sender.send_request(outgoing.request()?)).await;
        let response = sent.map_err(|_| outgoing.silent(idle))?;
        let response = response.map_err(|error| outgoing.broken(error))?;
        Ok((response, (origin, address), sender))
    }

    async fn addresses(&self, outgoing: &Outgoing) -> Result<Vec<SocketAddr>, OutletError> {
        let found = match outgoing.address() {
            Some(address) => vec![address],
            None => self.resolver.resolve(outgoing.host()).await.map_err(|source| {
                let message = format!("cannot find the host `{}`: {source}", outgoing.host());
                OutletError::Connect { message, source }
            })?,
        };
        if found.is_empty() {
            let message = format!("there is no host `{}`; check its name", outgoing.host());
            return Err(OutletError::Connect { source: message.clone().into(), message });
        }
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, outgoing.port())).collect())
    }
}

/// Names mean what they mean to every other program of this machine: the operator wrote them, and may
/// have them in `/etc/hosts` or in the search list of a cluster.
#[derive(Debug)]
struct Machine;

impl Resolve for Machine {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<IpAddr>, Source>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

fn shown(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let pairs = headers.iter();
    pairs.map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}
