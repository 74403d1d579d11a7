//! One request on the way to an answer.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    HeaderMap, Request, Uri,
    header::{CONTENT_TYPE, HOST, HeaderValue},
};
use policy::url::{CheckedUrl, UrlRules, check};
use tool::{Fetch, Method, ToolError};

use super::{headers, problem};

/// What one request asks, and of whom.
#[derive(Debug, Clone)]
pub(super) struct Hop {
    pub(super) url: CheckedUrl,
    pub(super) method: Method,
    headers: HeaderMap,
    body: Option<Bytes>,
}

impl Hop {
    /// What a tool asked for.
    pub(super) fn first(fetch: Fetch, rules: &UrlRules) -> Result<Self, ToolError> {
        let Fetch { url, method, headers, body, max_bytes: _ } = fetch;
        let url = check(&url, rules).map_err(problem::refused)?;
        Ok(Self { url, method, headers: headers::given(&headers)?, body: body.map(Bytes::from) })
    }

    /// Whether asking twice does no more than asking once.
    pub(super) const fn is_harmless(&self) -> bool {
        matches!(self.method, Method::Get | Method::Head) && self.body.is_none()
    }

    /// As it goes over the wire.
    pub(super) fn request(&self) -> Result<Request<Full<Bytes>>, ToolError> {
        let mut headers = headers::complete(self.headers.clone());
        let host = HeaderValue::try_from(self.url.authority()).map_err(ToolError::internal)?;
        headers.insert(HOST, host);
        let target = Uri::try_from(self.url.target()).map_err(ToolError::internal)?;
        let body = Full::new(self.body.clone().unwrap_or_default());
        let mut request = Request::builder().method(self.method.name()).uri(target).body(body);
        if let Ok(request) = &mut request {
            *request.headers_mut() = headers;
        }
        request.map_err(ToolError::internal)
    }

    /// The request that an answer with `status` and this `location` asks for, if it does. It is
    /// checked like the first one.
    pub(super) fn redirected(
        &self,
        status: u16,
        location: Option<&HeaderValue>,
        rules: &UrlRules,
    ) -> Result<Option<Self>, ToolError> {
        let (301 | 302 | 303 | 307 | 308, Some(location)) = (status, location) else {
            return Ok(None);
        };
        // Bytes that are no UTF-8 become a character that no host has.
        let location = String::from_utf8_lossy(location.as_bytes());
        let url = self.url.follow(&location, rules).map_err(problem::refused)?;
        let mut next = Self { url, ..self.clone() };
        if becomes_get(status, self.method) {
            next.method = Method::Get;
        }
        if next.method != self.method {
            next.body = None;
            headers::without_body(&mut next.headers);
        }
        if next.url.origin() == self.url.origin() {
            return Ok(Some(next));
        }
        next.headers = headers::for_another_origin(&next.headers);
        // Somebody agreed to send this to one host. Another one is another call.
        Ok((next.is_harmless() || self.is_upgraded_by(&next)).then(|| {
            if !next.is_harmless() {
                next.headers.extend(self.content_type());
            }
            next
        }))
    }

    /// The same host, now encrypted: no other party, as `http:` on its usual port becomes `https:`
    /// on its own.
    fn is_upgraded_by(&self, next: &Self) -> bool {
        let (from, to) = (&self.url, &next.url);
        from.host() == to.host() && (from.port(), to.port()) == (80, 443) && to.is_secure()
    }

    fn content_type(&self) -> HeaderMap {
        let value = self.headers.get(CONTENT_TYPE).cloned();
        value.map(|value| (CONTENT_TYPE, value)).into_iter().collect()
    }
}

/// As browsers do: after 303 everything but `HEAD` is a `GET`, after 301 and 302 only a `POST` is.
const fn becomes_get(status: u16, method: Method) -> bool {
    match status {
        303 => !matches!(method, Method::Head),
        301 | 302 => matches!(method, Method::Post),
        _ => false,
    }
}
