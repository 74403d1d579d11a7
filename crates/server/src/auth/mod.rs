//! Who a request comes from: what its token says, and nothing else.

mod cache;
mod credential;
mod failures;
mod sees;
mod signed;
mod token;

use std::{net::IpAddr, time::Instant};

use axum::http::{HeaderMap, Uri};
use tokio::sync::SemaphorePermit;
use tool::Digest;

use self::credential::{Credential, credential};
pub(crate) use self::{
    cache::TokenCache,
    credential::{COOKIE_LIFE, Way, dropped_cookie, new_cookie},
    failures::{Failures, network},
    sees::Sees,
    signed::{By, CallerNames, Signed, in_conversation, names},
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
    // One that is known to work has the store look at most once.
    let _turn = if state.tokens.was_known(&hash) { None } else { turn(state, peer).await };
    match find(state, hash, by).await? {
        Some(signed) => Ok(signed),
        None => Err(wrong(state, peer, unknown())),
    }
}

/// Waits until a secret from an address that sent many wrong ones may be looked up: one after the other, so
/// that guessing keeps the store from nobody. It is looked up all the same, because a secret is too long
/// to be guessed, and one client must not lock out another behind the same address.
pub(crate) async fn turn(state: &State, peer: IpAddr) -> Option<SemaphorePermit<'_>> {
    state.failures.wait(peer, Instant::now())?;
    state.failures.turn().await
}

/// What becomes of a wrong secret: it is counted, and refused as `problem` says; after too many it has to wait.
pub(crate) fn wrong(state: &State, peer: IpAddr, problem: Problem) -> Problem {
    if let Some(wait) = state.failures.wait(peer, Instant::now()) {
        let message = "too many wrong tokens or links came from your address; wait a little";
        return Problem::new(Kind::TooMany, message).after(wait);
    }
    state.failures.count(peer, Instant::now());
    state.events.metrics.failed();
    problem
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
