//! What a request wants to reach.

use hyper::{
    HeaderMap, Method, Uri, Version,
    header::{HOST, TRANSFER_ENCODING},
    http::{request, uri::Authority},
};
use policy::url::Passage;

/// What a request wants to reach.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// To be checked.
    pub(super) url: String,
    /// `host:port`, for people.
    pub(super) target: String,
    pub(super) passage: Passage,
}

impl Wanted {
    /// What a request wants, if it says so in one way only; if not, why.
    pub(super) fn of(head: &request::Parts) -> Result<Self, &'static str> {
        if head.method == Method::CONNECT { tunnel(&head.uri) } else { request(head) }
    }
}

fn tunnel(uri: &Uri) -> Result<Wanted, &'static str> {
    const HOW: &str = "a tunnel is asked for with `CONNECT host:port`";
    let authority = uri.authority().filter(|_| uri.scheme().is_none()).ok_or(HOW)?;
    let port = authority.port_u16().ok_or(HOW)?;
    let target = format!("{}:{port}", authority.host());
    Ok(Wanted { url: format!("https://{authority}/"), target, passage: Passage::Tunnel })
}

fn request(head: &request::Parts) -> Result<Wanted, &'static str> {
    let uri = &head.uri;
    let authority = uri.authority().ok_or("this is a proxy; ask it for `http://host/path`")?;
    if uri.scheme_str() != Some("http") {
        return Err("only `http:` is asked for in the clear; for anything else use `CONNECT`");
    }
    let target = format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80));
    check_host(&head.headers, head.version, &target)?;
    let mut encodings = head.headers.get_all(TRANSFER_ENCODING).iter();
    if !encodings.all(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return Err("a body is sent plainly or `chunked`, not in another encoding");
    }
    Ok(Wanted { url: uri.to_string(), target, passage: Passage::Request })
}

/// Whether `host` says what the URL says. What goes on has the host of the URL; but a request that
/// says both is meant for one of two readers.
fn check_host(headers: &HeaderMap, version: Version, target: &str) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version < Version::HTTP_11 => Ok(()),
        (Some(host), None) => {
            let host = Authority::try_from(host.as_bytes()).ok();
            let host = host.filter(|host| !host.as_str().contains('@'));
            let host =
                host.map(|host| format!("{}:{}", host.host(), host.port_u16().unwrap_or(80)));
            let same = host.is_some_and(|host| host.eq_ignore_ascii_case(target));
            same.then_some(()).ok_or("the URL and the `Host` header name different hosts")
        }
        (None, _) => Err("a request without a `Host` header"),
        (Some(_), Some(_)) => Err("a request with two `Host` headers"),
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn wanted(method: &str, uri: &str, headers: &[(&str, &str)]) -> Result<String, &'static str> {
        let request = Request::builder().method(method).uri(uri);
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let wanted = Wanted::of(&request.body(()).unwrap().into_parts().0)?;
        Ok(format!("{:?} {} {}", wanted.passage, wanted.target, wanted.url))
    }

    #[test]
    fn says_whom_a_request_is_for_or_why_that_is_not_clear() {
        const DIFFERENT: &str = "the URL and the `Host` header name different hosts";
        const CONNECT: &str = "a tunnel is asked for with `CONNECT host:port`";
        for (method, uri, headers, expected) in [
            ("GET", "http://a.b/c?d", &[("host", "a.b")][..], Ok("Request a.b:80 http://a.b/c?d")),
            ("GET", "http://a.b", &[("host", "A.B:80")], Ok("Request a.b:80 http://a.b/")),
            ("GET", "http://A.b:81/", &[("host", "a.b:81")], Ok("Request A.b:81 http://A.b:81/")),
            ("GET", "http://[::1]/", &[("host", "[::1]")], Ok("Request [::1]:80 http://[::1]/")),
            ("CONNECT", "a.b:443", &[], Ok("Tunnel a.b:443 https://a.b:443/")),
            ("CONNECT", "[::1]:443", &[("host", "x")], Ok("Tunnel [::1]:443 https://[::1]:443/")),
            // The user is in no list that people see.
            ("CONNECT", "u:p@a.b:443", &[], Ok("Tunnel a.b:443 https://u:p@a.b:443/")),
            ("GET", "http://a.b/", &[("host", "c.d")], Err(DIFFERENT)),
            ("GET", "http://a.b/", &[("host", "a.b:81")], Err(DIFFERENT)),
            ("GET", "http://a.b/", &[("host", "")], Err(DIFFERENT)),
            ("GET", "http://a.b/", &[("host", "a.b/")], Err(DIFFERENT)),
            ("GET", "http://a.b/", &[("host", "u@a.b")], Err(DIFFERENT)),
            ("GET", "http://a.b/", &[], Err("a request without a `Host` header")),
            (
                "GET",
                "http://a.b/",
                &[("host", "a.b"), ("host", "a.b")],
                Err("a request with two `Host` headers"),
            ),
            ("GET", "/", &[("host", "a.b")], Err("this is a proxy; ask it for `http://host/path`")),
            (
                "GET",
                "https://a.b/",
                &[("host", "a.b")],
                Err("only `http:` is asked for in the clear; for anything else use `CONNECT`"),
            ),
            (
                "PUT",
                "http://a.b/",
                &[("host", "a.b"), ("transfer-encoding", "gzip, chunked")],
                Err("a body is sent plainly or `chunked`, not in another encoding"),
            ),
            ("CONNECT", "a.b", &[], Err(CONNECT)),
            ("CONNECT", "http://a.b:443/", &[], Err(CONNECT)),
            ("CONNECT", "/", &[], Err(CONNECT)),
        ] {
            let found = wanted(method, uri, headers);
            assert_eq!(found.as_deref(), expected.as_ref().map(|text| *text), "{method} {uri}");
        }
    }
}
