//! Who a request comes from: what its token says, and nothing else.

mod cache;
mod credential;
mod failures;
mod sees;
mod signed;
mod token;

use std::{net::IpAddr, time::Instant};

use axum::http::{HeaderMap, Uri};
use tool::Digest;

use self::credential::{Credential, credential};
pub(crate) use self::{
    cache::TokenCache,
    credential::{COOKIE_LIFE, Way, dropped_cookie, new_cookie},
    failures::Failures,
    sees::Sees,
    signed::{By, Signed, names},
    token::hash,
};
pub use self::{signed::is_name, token::NewSecret};
use crate::{
    problem::{Kind, Problem},
    state::State,
};

/// Who sent these headers from the address `peer`; `None` if they say nothing about it.
pub(crate) async fn authenticate(
    state: &State,
    peer: IpAddr,
    headers: &HeaderMap,
) -> Result<Option<Signed>, Problem> {
    let Some(Credential { secret, by }) = credential(headers, state.local.port())? else {
        return Ok(None);
    };
    check_secret(state, peer, &secret, by).await.map(Some)
}

/// Who has this token.
pub(crate) async fn check_secret(
    state: &State,
    peer: IpAddr,
    secret: &str,
    by: By,
) -> Result<Signed, Problem> {
    let hash = hash(secret);
    // Who waits is not looked up, but a token that is known to work goes on working: one client must not
    // lock out another behind the same address.
    if let Some(wait) = state.failures.wait(peer, Instant::now())
        && !state.tokens.was_known(&hash)
    {
        let message = "too many wrong tokens came from your address; wait a little";
        return Err(Problem::new(Kind::TooMany, message).after(wait));
    }
    if let Some(signed) = find(state, hash, by).await? {
        return Ok(signed);
    }
    state.failures.count(peer, Instant::now());
    state.events.metrics.failed();
    Err(unknown())
}

/// Who has the token with this hash, if it still works.
pub(crate) async fn find(state: &State, hash: Digest, by: By) -> Result<Option<Signed>, Problem> {
    let db = state.gate.db().await.map_err(Problem::internal)?;
    let found = state.tokens.find(db, &hash, state.now()).await.map_err(Problem::internal)?;
    Ok(found.map(|token| Signed { token, hash, by }))
}

/// What somebody is told whose token does not work, or no longer.
pub(crate) fn unknown() -> Problem {
    Problem::new(
        Kind::Unauthenticated,
        "the token is unknown, expired or revoked; `toolgate tokens add` makes one",
    )
}

/// What somebody is told who sends a key where clients of some providers do, or none.
pub(crate) fn missing_in(uri: &Uri) -> Problem {
    let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    if !query.any(|(name, _)| name == "key") {
        return missing();
    }
    let message = "a key in the address is not accepted, because addresses are written down in many places; \
                   send it as `x-goog-api-key: TOKEN` or `Authorization: Bearer TOKEN`";
    Problem::new(Kind::Unauthenticated, message)
}

/// What somebody without a token is told.
pub(crate) fn missing() -> Problem {
    Problem::new(
        Kind::Unauthenticated,
        "a token is needed: send `Authorization: Bearer TOKEN`; `toolgate tokens add` makes one",
    )
}
