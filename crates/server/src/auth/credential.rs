//! Where a request carries its token.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

use super::{By, token::MAX_LENGTH};
use crate::problem::{Kind, Problem};

/// Headers that clients of model providers put their key in.
const KEY_HEADERS: [&str; 2] = ["x-api-key", "x-goog-api-key"];

/// So long somebody stays signed in.
pub(crate) const COOKIE_LIFE: Duration = Duration::from_hours(12);

/// A token, and how it came.
pub(super) struct Credential {
    pub(super) secret: String,
    pub(super) by: By,
}

/// The token in `headers`. A header counts before the cookie; two that differ are refused, because nobody
/// could say which one was meant.
pub(super) fn credential(headers: &HeaderMap, port: u16) -> Result<Option<Credential>, Problem> {
    let mut secrets = Vec::new();
    for value in headers.get_all(header::AUTHORIZATION) {
        secrets.push(bearer(text(value)?)?);
    }
    for value in KEY_HEADERS.iter().flat_map(|name| headers.get_all(*name)) {
        secrets.push(text(value)?);
    }
    let Some((secret, others)) = secrets.split_first() else {
        return Ok(cookie(headers, port).map(|secret| Credential { secret, by: By::Cookie }));
    };
    if others.iter().any(|other| other != secret) {
        return Err(refused("the request has two different tokens; send one"));
    }
    if secret.len() > MAX_LENGTH {
        return Err(refused("the token is too long to be one"));
    }
    Ok(Some(Credential { secret: (*secret).to_owned(), by: By::Header }))
}

fn text(value: &HeaderValue) -> Result<&str, Problem> {
    value.to_str().map(str::trim).map_err(|_| refused("the token has characters no token has"))
}

fn bearer(value: &str) -> Result<&str, Problem> {
    match value.split_once(' ') {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => Ok(secret.trim()),
        _ => Err(refused("`Authorization` must be `Bearer TOKEN`")),
    }
}

fn refused(message: &str) -> Problem {
    Problem::new(Kind::Unauthenticated, message)
}

/// Cookies of one host are shared by all its ports, so each has its own name.
fn cookie_name(port: u16) -> String {
    format!("toolgate-{port}")
}

fn cookie(headers: &HeaderMap, port: u16) -> Option<String> {
    let name = cookie_name(port);
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(key, _)| key.trim() == name)?.1.trim();
    (found.len() <= MAX_LENGTH).then(|| found.to_owned())
}

/// How a browser is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// With TLS, by a proxy before us.
    Encrypted,
    Plain,
}

/// Signs a browser in. No script can read it, and no other site's page sends it.
pub(crate) fn new_cookie(port: u16, secret: &str, way: Way) -> String {
    let secure = match way {
        Way::Encrypted => "; Secure",
        Way::Plain => "",
    };
    let (name, seconds) = (cookie_name(port), COOKIE_LIFE.as_secs());
    format!("{name}={secret}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}")
}

/// Signs a browser out.
pub(crate) fn dropped_cookie(port: u16) -> String {
    format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", cookie_name(port))
}
