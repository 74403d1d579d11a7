//! What goes out.

use std::{collections::BTreeMap, fmt, net::IpAddr, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, Request, Uri,
    header::{ACCEPT_ENCODING, HOST, HeaderValue},
};
use tool::{Method, Source};
use url::{Host, Url};

use super::OutletError;
use crate::net::{connect::Server, headers};

/// What goes out. `Debug` shows neither headers nor body, which may hold secrets.
#[derive(Clone)]
pub struct OutletRequest {
    /// What is asked.
    pub method: Method,
    /// Where to: `http:` or `https:`, without a user name.
    pub url: String,
    /// Headers besides those that every request has.
    pub headers: BTreeMap<String, String>,
    /// What is sent along; may be empty.
    pub body: Bytes,
    /// How long the server may send nothing.
    pub idle: Duration,
}

impl OutletRequest {
    /// How long a server may send nothing, unless a request says otherwise.
    pub const IDLE: Duration = Duration::from_mins(2);

    /// A `POST` of `body` to `url`.
    pub fn post(url: impl Into<String>, body: impl Into<Bytes>) -> Self {
        let (headers, url, body) = (BTreeMap::new(), url.into(), body.into());
        Self { method: Method::Post, url, headers, body, idle: Self::IDLE }
    }
}

impl fmt::Debug for OutletRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, url, headers: _, body, idle: _ } = self;
        let url = url.split('?').next().unwrap_or_default();
        write!(f, "OutletRequest({method} {url}, {} bytes)", body.len())
    }
}

/// A request that can be sent.
pub(super) struct Outgoing {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
}

impl Outgoing {
    pub(super) fn new(request: OutletRequest) -> Result<Self, OutletError> {
        let OutletRequest { method, url, headers, body, idle: _ } = request;
        let url = parsed(&url).map_err(|reason| OutletError::Url(reason.to_owned()))?;
        let given = headers::given(&headers);
        let mut headers = given.map_err(|error| OutletError::Header(error.to_string()))?;
        for value in headers.values_mut() {
            // Any of them may be a key.
            value.set_sensitive(true);
        }
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(Self { method, url, headers, body })
    }

    /// As it goes over the wire.
    pub(super) fn request(&self) -> Result<Request<Full<Bytes>>, OutletError> {
        let wrong = |error: &dyn fmt::Display| OutletError::Url(error.to_string());
        let path = self.url.path();
        let target = self.url.query().map_or_else(|| path.to_owned(), |q| format!("{path}?{q}"));
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self
            .method
            .name()
            .parse()
            .map_err(|error: hyper::http::method::InvalidMethod| wrong(&error))?;
        *request.uri_mut() = Uri::try_from(target).map_err(|error| wrong(&error))?;
        *request.headers_mut() = headers::complete(self.headers.clone());
        let host = HeaderValue::try_from(self.authority()).map_err(|error| wrong(&error))?;
        request.headers_mut().insert(HOST, host);
        Ok(request)
    }

    /// The address, if the URL has one instead of a name.
    pub(super) fn address(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// Scheme, host and port: what a connection is used for.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}", self.url.scheme(), self.authority())
    }

    pub(super) fn silent(&self, after: Duration) -> OutletError {
        OutletError::Silent { host: self.host().to_owned(), after }
    }

    pub(super) fn broken(&self, source: impl Into<Source>) -> OutletError {
        OutletError::Broken { host: self.host().to_owned(), source: source.into() }
    }
}

impl Server for Outgoing {
    fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    fn authority(&self) -> String {
        let port = self.url.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.host())
    }

    fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }
}

/// The URL, or why it cannot be used. It is not repeated: it may have a secret in it.
fn parsed(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "write it as `https://host/path`")?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("write it as `https://host/path` or `http://host/path`");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user name or password in it; configure a secret instead");
    }
    Ok(url)
}
