//! Signs a browser in and out.

use std::time::Duration;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{NewToken, TokenKind};
use tool::Role;

use super::{
    endpoint::{Asked, Endpoint, Given, Open},
    input::{Empty, expect_json, read, read_json},
    openapi::Described,
    output::{Answer, Json},
    shape::Fields,
};
use crate::{
    NewSecret,
    auth::{self, COOKIE_LIFE, Way, dropped_cookie, hash, new_cookie},
    guard::{Ends, FromPage},
    problem::{Kind, Nothing, Problem, json_response},
    state::State,
};

/// Nobody is known yet, so little is read.
const MOST: u64 = 4_096;
/// And not for long.
const TIME: Duration = Duration::from_secs(5);

/// The secret of a link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Link {
    /// What stands behind `#token=` in the link.
    token: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SignedIn {
    user: &'static str,
    /// Seconds until one has to sign in again.
    seconds: u64,
}

/// `POST /v1/sign-in`.
pub(crate) struct SignIn;

impl Open for SignIn {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/sign-in";
    const SUMMARY: &'static str =
        "Exchange a sign-in link, which works once and from this machine only, for a cookie.";

    fn described(described: &mut Described<'_>) {
        described.body::<Link>();
        described.json::<SignedIn>(200, "Signed in; the cookie comes along.");
        described.problems(&[Kind::Unauthenticated]);
    }

    async fn handle(state: State, request: Request) -> Response {
        sign_in(&state, request).await.unwrap_or_else(Problem::into_response)
    }
}

async fn sign_in(state: &State, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let ends = parts.extensions.get::<Ends>().copied();
    let ends = ends.ok_or_else(|| Problem::internal("a request without a connection"))?;
    let peer = ends.peer.ip();
    if !peer.to_canonical().is_loopback() {
        let message = "a link signs in from the machine of the server only; use a token here";
        return Err(Problem::new(Kind::Forbidden, message));
    }
    expect_json(&parts.headers)?;
    let body = read(body, MOST, TIME).await?;
    let text = str::from_utf8(&body).unwrap_or_default();
    let Link { token } = read_json(&Fields::of::<Link>(), text)?;
    let db = state.gate.db().await.map_err(Problem::internal)?;
    let turn = auth::turn(state, peer).await;
    if !db.use_link(&hash(&token), state.now()).await.map_err(Problem::internal)? {
        let message = "the link is wrong, expired, or was used already; `toolgate tokens link` makes a new one";
        return Err(auth::wrong(state, peer, Problem::new(Kind::Unauthenticated, message)));
    }
    drop(turn);
    let secret = NewSecret::token().map_err(Problem::internal)?;
    let new = NewToken {
        kind: TokenKind::Browser,
        name: browser(&parts.headers),
        user: "owner".to_owned(),
        role: Role::Owner,
        agents: None,
        scopes: None,
        expires_at: state.now().checked_add(COOKIE_LIFE),
    };
    db.add_token(new, &secret.hash(), state.now()).await.map_err(Problem::internal)?;
    let way = match parts.extensions.get::<FromPage>() {
        Some(FromPage::OurPage { encrypted: true }) => Way::Encrypted,
        _ => Way::Plain,
    };
    let cookie = new_cookie(state.local.port(), secret.reveal(), way);
    let seconds = COOKIE_LIFE.as_secs();
    let mut response = json_response(StatusCode::OK, &SignedIn { user: "owner", seconds });
    let cookie = HeaderValue::from_str(&cookie).map_err(Problem::internal)?;
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// A name for the list of tokens.
fn browser(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let known = ["Firefox", "Edg", "Chrome", "Safari"];
    let name = known.iter().find(|name| agent.is_some_and(|agent| agent.contains(*name)));
    format!("browser ({})", name.unwrap_or(&"unknown"))
}

/// `POST /v1/sign-out`.
pub(crate) struct SignOut;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SignedOut {
    /// Always.
    signed_out: bool,
}

/// The cookie is dropped, and what it held works no more.
#[derive(Debug)]
pub(crate) struct Out(u16);

impl Answer for Out {
    fn describe(described: &mut Described<'_>) {
        Json::<SignedOut>::describe(described);
    }

    fn respond(self) -> Response {
        let mut response = Json(SignedOut { signed_out: true }).respond();
        let cookie = HeaderValue::from_str(&dropped_cookie(self.0));
        response.headers_mut().extend(cookie.map(|cookie| (header::SET_COOKIE, cookie)));
        response
    }
}

impl Endpoint for SignOut {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/sign-out";
    const SUMMARY: &'static str = "End a browser's session; a token of a program stays as it is.";
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Out;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Out, Nothing> {
        let (state, token) = (&asked.state, &asked.signed.token);
        if token.new.kind == TokenKind::Browser {
            let db = state.gate.db().await?;
            db.revoke_token(&token.id, asked.signed.user(), state.now()).await?;
        }
        Ok(Out(state.local.port()))
    }
}
