//! What is looked at before anything else: for which host a request is, from which page it comes, and how
//! long it is.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use config::{HostPattern, HostSpec, Server};

use crate::problem::{Kind, Problem};

/// Both ends of the connection a request came by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// Ours.
    pub(crate) local: SocketAddr,
    /// Theirs, by the socket; no header says otherwise.
    pub(crate) peer: SocketAddr,
}

/// The page a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FromPage {
    /// No page, or one that does not say.
    Nowhere,
    /// Our own; whether it was loaded with TLS.
    OurPage { encrypted: bool },
    /// One that configuration names.
    Listed(HeaderValue),
}

/// Refuses what is for another host, comes from another site's page, or is too long. Says which page it
/// comes from.
pub(crate) fn check<B>(
    request: &Request<B>,
    ends: Ends,
    server: &Server,
) -> Result<FromPage, Problem> {
    check_host(request.uri(), request.headers(), ends, server)?;
    let from = check_origin(request.headers(), ends, server)?;
    check_length(request.headers(), server)?;
    Ok(from)
}

/// Somebody's page that gets our address for its own name can reach us, but cannot change the name the
/// browser asks for.
fn check_host(uri: &Uri, headers: &HeaderMap, ends: Ends, server: &Server) -> Result<(), Problem> {
    let mut named = headers.get_all(header::HOST).iter();
    let (Some(Ok(host)), None) = (named.next().map(HeaderValue::to_str), named.next()) else {
        return Err(wrong_host("the request must have one `Host`"));
    };
    let asked = uri.authority().map(axum::http::uri::Authority::as_str);
    if [Some(host), asked].into_iter().flatten().all(|host| is_ours(host, ends, server)) {
        return Ok(());
    }
    Err(wrong_host(
        "the request is for another host; name it in `server.hosts` if the server is reached by it",
    ))
}

fn wrong_host(message: &str) -> Problem {
    Problem::new(Kind::WrongHost, message)
}

/// Whether `authority` (`host` or `host:port`) is a name of this server.
fn is_ours(authority: &str, ends: Ends, server: &Server) -> bool {
    let Some((host, port)) = split(authority) else { return false };
    // Behind a proxy the port is the usual one, which browsers leave out.
    let usual = port.is_none_or(|port| port == ends.local.port());
    let direct = port.unwrap_or(80) == ends.local.port();
    let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
    let ourselves = match address {
        Some(address) => address.is_loopback() || address == ends.local.ip().to_canonical(),
        None => host.eq_ignore_ascii_case("localhost"),
    };
    let listed = |pattern: &HostPattern| {
        let right_port = pattern.port.map_or(usual, |wanted| port.unwrap_or(wanted) == wanted);
        right_port && is_meant(&pattern.host, host, address)
    };
    ourselves && direct || server.hosts.iter().any(|pattern| listed(pattern))
}

fn is_meant(spec: &HostSpec, host: &str, address: Option<IpAddr>) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    match spec {
        HostSpec::Any => true,
        HostSpec::Name(name) => host == *name,
        HostSpec::Beneath(name) => {
            host.strip_suffix(name.as_str()).is_some_and(|above| above.ends_with('.'))
        }
        HostSpec::Net { address: first, bits } => {
            address.is_some_and(|address| shares(address, *first, *bits))
        }
    }
}

/// Whether two addresses share their leading bits.
fn shares(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let (one, other, width) = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (u128::from(one.to_bits()), u128::from(other.to_bits()), 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits(), other.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let apart = u32::from(u8::saturating_sub(width, bits));
    one.checked_shr(apart).unwrap_or(0) == other.checked_shr(apart).unwrap_or(0)
}

/// `host`, `host:port`, `[address]`, `[address]:port`.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            (address, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    if host.is_empty() || !host.chars().all(plain) {
        return None;
    }
    Some((host, port.map(str::parse).transpose().ok()?))
}

fn check_origin(headers: &HeaderMap, ends: Ends, server: &Server) -> Result<FromPage, Problem> {
    let mut named = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = named.next() else { return Ok(FromPage::Nowhere) };
    let foreign = || {
        Problem::new(
            Kind::Forbidden,
            "the request comes from another site's page; name it in `server.origins` to allow that",
        )
    };
    let text = origin.to_str().ok().filter(|_| named.next().is_none()).ok_or_else(foreign)?;
    if server.origins.iter().any(|listed| listed.as_str() == text) {
        return Ok(FromPage::Listed(origin.clone()));
    }
    let (scheme, authority) = text.split_once("://").ok_or_else(foreign)?;
    if matches!(scheme, "http" | "https") && is_ours(authority, ends, server) {
        return Ok(FromPage::OurPage { encrypted: scheme == "https" });
    }
    Err(foreign())
}

/// By what the request says of itself; while it is read it is counted again.
fn check_length(headers: &HeaderMap, server: &Server) -> Result<(), Problem> {
    let said = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let said = said.and_then(|value| value.parse::<u64>().ok()).unwrap_or_default();
    if said <= server.body_bytes.value { Ok(()) } else { Err(too_large(server.body_bytes.value)) }
}

/// What is said about a body that is too long.
pub(crate) fn too_large(most: u64) -> Problem {
    Problem::new(
        Kind::TooLarge,
        format!("the body is longer than {most} bytes, which `server.body_bytes` allows"),
    )
}

/// Answers a browser that asks whether a page may send a request.
pub(crate) fn preflight(
    method: &Method,
    headers: &HeaderMap,
    from: &FromPage,
) -> Option<Response<axum::body::Body>> {
    let asks = *method == Method::OPTIONS && headers.contains_key("access-control-request-method");
    let FromPage::Listed(_) = from else { return None };
    if !asks {
        return None;
    }
    let mut response = Response::new(axum::body::Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let fixed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PATCH, DELETE"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    // Whatever it likes: clients of model providers have headers of their own, and none gives more rights
    // than the token beside it.
    let wanted = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let allowed = wanted.map(|wanted| (header::ACCESS_CONTROL_ALLOW_HEADERS, wanted));
    response.headers_mut().extend(allowed);
    Some(response)
}

/// Lets a page that configuration names read the answer.
pub(crate) fn allow_reading<B>(response: &mut Response<B>, from: &FromPage) {
    let FromPage::Listed(origin) = from else { return };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let exposed =
        "toolgate-call-id, toolgate-request-id, toolgate-session, mcp-session-id, retry-after";
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
}

#[cfg(test)]
mod tests;
