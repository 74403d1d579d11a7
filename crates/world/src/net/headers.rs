//! The headers of a request.

use std::collections::BTreeMap;

use hyper::{
    HeaderMap,
    header::{
        ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT,
    },
};
use tool::ToolError;

use super::problem;

/// Headers that say how the request travels, or whom it is for: that was checked and stays so.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    // A `GET` that is a `DELETE` in truth is not what was planned.
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// The most headers a request may have, and the most bytes in all of them.
const MOST: (usize, usize) = (64, 32 * 1024);

/// The headers a tool asked for, if each of them may be sent.
pub(super) fn given(headers: &BTreeMap<String, String>) -> Result<HeaderMap, ToolError> {
    let bytes: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    if headers.len() > MOST.0 || bytes > MOST.1 {
        let (count, most) = (headers.len(), MOST);
        let reason = format!(
            "{count} headers of {bytes} bytes together are too many; at most {} of {} bytes",
            most.0, most.1
        );
        return Err(problem::header(reason));
    }
    headers.iter().map(|(name, value)| pair(name, value)).collect()
}

fn pair(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), ToolError> {
    let wrong =
        |what: &str| problem::header(format!("the header `{}` {what}", name.escape_debug()));
    let parsed = HeaderName::try_from(name).map_err(|_| wrong("has a name that cannot be sent"))?;
    let ours = OURS.contains(&parsed.as_str()) || parsed.as_str().starts_with("proxy-");
    if ours {
        return Err(wrong("is set by the network door; leave it out"));
    }
    let value = HeaderValue::try_from(value)
        .map_err(|_| wrong("has a value that cannot be sent: control or unusual characters"))?;
    Ok((parsed, value))
}

/// Adds what every request has, where a tool did not choose otherwise.
pub(super) fn complete(mut headers: HeaderMap) -> HeaderMap {
    const AGENT: &str = concat!("toolgate/", env!("CARGO_PKG_VERSION"));
    for (name, value) in [(ACCEPT, "*/*"), (ACCEPT_ENCODING, "gzip, deflate"), (USER_AGENT, AGENT)]
    {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers
}

/// What may go to another origin: nothing that could be a credential.
pub(super) fn for_another_origin(headers: &HeaderMap) -> HeaderMap {
    const HARMLESS: [HeaderName; 4] = [ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, USER_AGENT];
    let kept = headers.iter().filter(|(name, _)| HARMLESS.contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Takes out what describes a body that is no longer sent.
pub(super) fn without_body(headers: &mut HeaderMap) {
    let about_body = |name: &HeaderName| {
        *name == CONTENT_TYPE || name.as_str().starts_with("content-") || name == "digest"
    };
    let names: Vec<_> = headers.keys().filter(|name| about_body(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}
