//! Headers that are for the next one on the way, and not for the other end.

use hyper::{
    HeaderMap,
    header::{CONNECTION, CONTENT_LENGTH, HeaderName, TRANSFER_ENCODING},
};

/// What is never passed on, besides `proxy-…` and what `connection` names.
const HOPS: &[&str] = &[
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Takes out everything that was said to us.
pub(super) fn remove(headers: &mut HeaderMap) {
    if headers.contains_key(TRANSFER_ENCODING) {
        // It says how long the body is; a length beside it is wrong.
        headers.remove(CONTENT_LENGTH);
    }
    let lists = headers.get_all(CONNECTION).iter();
    let named: Vec<HeaderName> = lists
        .flat_map(|list| list.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        // The framing of the body is nobody's to name away.
        .filter(|name| *name != CONTENT_LENGTH)
        .collect();
    let ours = |name: &HeaderName| {
        HOPS.contains(&name.as_str()) || name.as_str().starts_with("proxy-") || named.contains(name)
    };
    let names: Vec<_> = headers.keys().filter(|name| ours(name)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn what_was_said_to_us_is_not_passed_on() {
        for (given, expected) in [
            (&[("accept", "*/*"), ("cookie", "a=b")][..], "accept cookie"),
            (&[("connection", "close, X-A,x-b"), ("x-a", "1"), ("x-b", "2"), ("x-c", "3")], "x-c"),
            (&[("connection", "x-a"), ("connection", "x-b"), ("x-a", "1"), ("x-b", "2")], ""),
            (&[("connection", "content-length"), ("content-length", "5")], "content-length"),
            (&[("proxy-authorization", "x"), ("proxy-connection", "keep-alive")], ""),
            (&[("upgrade", "h2c"), ("http2-settings", "x"), ("te", "trailers")], ""),
            (&[("transfer-encoding", "chunked"), ("content-length", "5"), ("x", "y")], "x"),
            (&[("connection", "\u{fc}, ,"), ("accept", "*/*")], "accept"),
        ] {
            let value = |text: &str| HeaderValue::from_bytes(text.as_bytes()).unwrap();
            let mut headers = HeaderMap::new();
            for (name, text) in given {
                headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value(text));
            }
            remove(&mut headers);
            let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
            left.sort_unstable();
            assert_eq!(left.join(" "), expected, "{given:?}");
        }
    }
}
