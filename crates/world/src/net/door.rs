//! The door itself.

use std::{
    net::SocketAddr,
    sync::{Arc, PoisonError, RwLock},
};

use hyper::{
    Response,
    body::Incoming,
    header::{CONTENT_ENCODING, CONTENT_LENGTH, LOCATION},
    http::response,
};
use policy::url::{CheckedUrl, UrlRules};
use tokio::{net::TcpStream, time::timeout};
use tool::{Answer, BoxFuture, Fetch, Net, Source, ToolError};

use super::{
    NetSettings,
    body::{self, Coding, Read},
    connect::{connect, reach},
    dial::{Dial, Direct},
    hop::Hop,
    pool::{Key, Pool, Sender},
    problem,
    resolve::{NameServers, Resolve},
    tls::Tls,
};

/// The one door to the network for tools.
#[derive(Debug)]
pub struct Door {
    settings: RwLock<Arc<NetSettings>>,
    resolver: Arc<dyn Resolve>,
    dialer: Arc<dyn Dial>,
    tls: Tls,
    pool: Pool,
}

/// What a door can be given instead of the real network. Only for tests: whoever dials decides
/// where a checked address leads.
#[derive(Debug)]
pub struct DoorParts {
    /// Finds addresses.
    pub resolver: Arc<dyn Resolve>,
    /// Opens connections.
    pub dialer: Arc<dyn Dial>,
    /// The only certificates that are trusted, as DER.
    pub roots: Vec<Vec<u8>>,
}

/// A connection that has answered, and what it may be used for later.
struct Answered {
    response: Response<Incoming>,
    key: Key,
    sender: Sender,
}

impl Door {
    /// A door to the real network.
    pub fn new(settings: NetSettings) -> Self {
        let settings = RwLock::new(Arc::new(settings));
        let (resolver, dialer) = (Arc::new(NameServers::default()), Arc::new(Direct));
        Self { settings, resolver, dialer, tls: Tls::new(None), pool: Pool::default() }
    }

    /// A door to another network. A lint keeps it to tests.
    pub fn with(settings: NetSettings, parts: DoorParts) -> Self {
        let DoorParts { resolver, dialer, roots } = parts;
        let tls = Tls::new(Some(roots));
        Self { resolver, dialer, tls, ..Self::new(settings) }
    }

    /// Replaces the settings; what is under way goes on with the old ones until its next request.
    pub fn configure(&self, settings: NetSettings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }

    pub(super) fn settings(&self) -> Arc<NetSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Follows redirects until there is an answer.
    async fn follow(&self, fetch: Fetch) -> Result<Answer, ToolError> {
        let settings = self.settings();
        let (wanted, most) = (fetch.max_bytes.unwrap_or(u64::MAX), settings.max_redirects);
        let max_bytes = wanted.min(settings.max_bytes);
        let mut hop = Hop::first(fetch, &settings.rules)?;
        for _ in 0..=most {
            // Read again, so that what was denied meanwhile is denied.
            let rules = &self.settings().rules;
            let answered = self.send(&hop, rules).await?;
            let (status, headers) = (answered.response.status(), answered.response.headers());
            match hop.redirected(status.as_u16(), headers.get(LOCATION), rules)? {
                Some(next) => hop = next,
                None => return self.read(&hop.url, answered, max_bytes).await,
            }
        }
        Err(problem::too_many_redirects(hop.url.host(), most))
    }

    /// Sends one request to an address of its host, all of which were checked.
    async fn send(&self, hop: &Hop, rules: &UrlRules) -> Result<Answered, ToolError> {
        let addresses = self.addresses(&hop.url, rules).await?;
        let origin = hop.url.origin();
        while let Some((key, mut sender)) = self.pool.take(&origin, &addresses) {
            if sender.ready().await.is_err() {
                continue;
            }
            match sender.try_send_request(hop.request()?).await {
                Ok(response) => return Ok(Answered { response, key, sender }),
                // The server closed it meanwhile. Once more, if nothing went out or nothing can
                // have happened there.
                Err(error) if error.message().is_some() || hop.is_harmless() => {}
                Err(error) => return Err(broken(&hop.url, error.into_error())),
            }
        }
        let (address, mut sender) =
            connect(&hop.url, &addresses, self.dialer.as_ref(), &self.tls).await?;
        let response = sender.send_request(hop.request()?).await;
        let response = response.map_err(|error| broken(&hop.url, error))?;
        Ok(Answered { response, key: (origin, address), sender })
    }

    /// A connection to an address of the host, all of which were checked.
    pub(super) async fn reach(
        &self,
        url: &CheckedUrl,
        rules: &UrlRules,
    ) -> Result<TcpStream, ToolError> {
        let addresses = self.addresses(url, rules).await?;
        let (_, stream) = reach(url, &addresses, self.dialer.as_ref()).await?;
        Ok(stream)
    }

    /// Every address of the host, if all of them may be reached.
    async fn addresses(
        &self,
        url: &CheckedUrl,
        rules: &UrlRules,
    ) -> Result<Vec<SocketAddr>, ToolError> {
        let found = match url.address() {
            Some(address) => vec![address],
            None => self.resolver.resolve(url.host()).await.map_err(|source| {
                let message = format!("the name servers do not answer about `{}`", url.host());
                problem::network(message, source)
            })?,
        };
        if found.is_empty() {
            return Err(problem::unknown_host(url.host()));
        }
        url.check_addresses(&found, rules).map_err(problem::refused)?;
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, url.port())).collect())
    }

    /// Reads the answer, and keeps the connection if nothing is left on it.
    async fn read(
        &self,
        url: &CheckedUrl,
        answered: Answered,
        max_bytes: u64,
    ) -> Result<Answer, ToolError> {
        let Answered { response, key, sender } = answered;
        let (mut head, body) = response.into_parts();
        let coding = coding(&mut head);
        let read = body::read(body, coding, max_bytes).await;
        let Read { bytes, truncated } = read.map_err(|error| broken(url, error))?;
        if !truncated {
            self.pool.put(key, sender);
        }
        Ok(Answer {
            url: url.as_str().to_owned(),
            status: head.status.as_u16(),
            headers: shown(&head),
            body: bytes,
            truncated,
        })
    }
}

impl Net for Door {
    fn fetch(&self, fetch: Fetch) -> BoxFuture<'_, Result<Answer, ToolError>> {
        Box::pin(async move {
            let most = self.settings().timeout;
            timeout(most, self.follow(fetch)).await.unwrap_or(Err(ToolError::TimedOut(most)))
        })
    }
}

/// How the body is compressed. What will be undone is no longer said.
fn coding(head: &mut response::Parts) -> Coding {
    let named = head.headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let coding = Coding::named(named);
    if coding != Coding::Plain {
        head.headers.remove(CONTENT_ENCODING);
        head.headers.remove(CONTENT_LENGTH);
    }
    coding
}

fn shown(head: &response::Parts) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let pairs = head.headers.iter();
    pairs.map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

fn broken(url: &CheckedUrl, source: impl Into<Source>) -> ToolError {
    problem::network(format!("the answer of `{}` broke off or makes no sense", url.host()), source)
}
