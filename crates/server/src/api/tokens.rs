//! Tokens: what clients come with.

use axum::http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{NewToken, Scope, StoreError, Token, TokenKind};
use tool::{ItemId, Role};

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    input::{Empty, Json as JsonBody},
    output::{Created, Json},
    paging::{self, Paging},
};
use crate::{
    NewSecret,
    auth::{Signed, is_name},
    problem::refusals,
};

/// A name for people is no longer.
const MOST: usize = 100;

/// Tokens, the newest first. What they are themselves is known to nobody but their holders.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    tokens: Vec<Token>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

refusals! {
    /// Why no tokens are listed.
    NotListed { Invalid }
}

/// `GET /v1/tokens`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/tokens";
    const SUMMARY: &'static str = "One's tokens; the owner sees everybody's.";
    type Path = ();
    type Query = Paging;
    type Body = ();
    type Answer = Json<Tokens>;
    type Refusal = NotListed;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Tokens>, NotListed> {
        let (signed, Paging { limit, cursor }) = (&asked.signed, given.query);
        let limit = paging::limit(limit).map_err(NotListed::Invalid)?;
        let db = asked.state.gate.db().await?;
        let none = || NotListed::Invalid(paging::NO_CURSOR.to_owned());
        let before: Option<ItemId> =
            cursor.map(|cursor| cursor.parse().map_err(|_| none())).transpose()?;
        if let Some(before) = &before {
            // One of somebody else is as none: nobody learns which there are.
            let own = |found: &Token| found.id == *before && is_own(signed, found);
            db.token(before).await?.filter(own).ok_or_else(none)?;
        }
        // An agent's token is not told of the others.
        if !signed.is_person() {
            return Ok(Json(Tokens { tokens: vec![(*signed.token).clone()], next: None }));
        }
        let found = db.tokens_before(before.as_ref(), signed.sees().user(), limit + 1).await?;
        let (tokens, next) = paging::cut(found, limit, |last| last.id.to_string());
        Ok(Json(Tokens { tokens, next }))
    }
}

/// Whether somebody may see and end a token.
fn is_own(signed: &Signed, token: &Token) -> bool {
    signed.is_owner() || token.new.user == signed.user()
}

/// A token that is wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Adding {
    /// What it is for.
    name: String,
    /// Whoever comes with it is this user, whom `POST /v1/users` added; the owner unless told otherwise.
    user: Option<String>,
    /// When it ends, such as `30d`; without it, when it is revoked.
    expires: Option<String>,
    /// Only for these agents. Such a token makes calls, and answers, grants and takes back nothing.
    agents: Option<Vec<String>>,
    /// Only for this; without it for `call`, `answer` and `manage`, as far as the user may and the token
    /// it is made with goes. A token without any only reads.
    scopes: Option<Vec<Scope>>,
}

/// A new token.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Added {
    /// The token itself, shown this once.
    token: String,
    #[serde(flatten)]
    about: Token,
}

refusals! {
    /// Why there is no token.
    NotAdded { Invalid, Forbidden }
}

/// `POST /v1/tokens`.
pub(crate) struct Add;

impl Endpoint for Add {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/tokens";
    const SUMMARY: &'static str = "Make a token. It is shown once.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ();
    type Query = Empty;
    type Body = JsonBody<Adding>;
    type Answer = Created<Added>;
    type Refusal = NotAdded;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Created<Added>, NotAdded> {
        let (state, JsonBody(wanted)) = (&asked.state, given.body);
        let mut new = read(wanted, state.now()).map_err(NotAdded::Invalid)?;
        new.scopes = within(&asked.signed, &new).map_err(NotAdded::Forbidden)?;
        let secret = NewSecret::token().map_err(|error| NotAdded::Internal(error.to_string()))?;
        // A browser's is a person's; what a program makes counts as the program.
        let maker = Some(&*asked.signed.token).filter(|_| asked.signed.is_for_programs());
        let db = state.gate.db().await?;
        let about = db.add_token_of(maker, new, &secret.hash(), state.now()).await;
        let about = about.map_err(|error| {
            if let StoreError::User(problem) = error {
                return NotAdded::Invalid(problem.to_string());
            }
            error.into()
        })?;
        Ok(Created(Added { token: secret.reveal().to_owned(), about }))
    }
}

fn read(wanted: Adding, now: std::time::SystemTime) -> Result<NewToken, String> {
    let Adding { name, user, expires, agents, scopes } = wanted;
    if name.trim().is_empty() || name.chars().count() > MOST {
        return Err(format!("`name` must say what the token is for, in 1 to {MOST} letters"));
    }
    let names = user.iter().chain(agents.iter().flatten());
    if let Some(wrong) = names.into_iter().find(|name| !is_name(name)) {
        return Err(format!("`{}` is no name of a user or an agent", wrong.escape_debug()));
    }
    let expires_at = expires.map(|text| {
        let after = config::parse_duration(&text).map_err(|error| format!("`expires`: {error}"))?;
        now.checked_add(after).ok_or_else(|| "`expires` is too far away".to_owned())
    });
    let (user, role) = match user {
        Some(user) if user != "owner" => (user, Role::Member),
        _ => ("owner".to_owned(), Role::Owner),
    };
    let expires_at = expires_at.transpose()?;
    let new = NewToken { kind: TokenKind::Api, name, user, role, agents, scopes, expires_at };
    new.check_scopes()?;
    Ok(new)
}

/// The scopes of a token that is made with another one: no more than that has. Who may answer may also let
/// a client ask.
fn within(maker: &Signed, new: &NewToken) -> Result<Option<Vec<Scope>>, String> {
    let gives = |scope| match scope {
        Scope::Call | Scope::Answer | Scope::Manage => maker.may(scope),
        // Or a program could answer about its own calls with a token it makes.
        Scope::Elicit => !maker.is_for_programs() && maker.may(Scope::Answer),
        Scope::Senders => !maker.is_for_programs() || maker.may(Scope::Senders),
    };
    if new.scopes.is_some()
        && let Some(wrong) = new.scopes().find(|scope| !gives(*scope))
    {
        if wrong == Scope::Elicit {
            let message =
                "the scope `elicit` is given on the command line or in a browser, not by a program";
            return Err(message.to_owned());
        }
        return Err(format!(
            "this token has not the scope `{wrong}`, and therefore gives it to none"
        ));
    }
    let all = Scope::USUAL.into_iter().all(gives);
    let left = || new.scopes().filter(|scope| gives(*scope)).collect();
    Ok(if all { new.scopes.clone() } else { Some(left()) })
}

/// A token that works no more.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Revoked {
    id: ItemId,
    /// Always.
    revoked: bool,
}

refusals! {
    /// Why a token goes on working.
    NotRevoked { NotFound }
}

/// `DELETE /v1/tokens/{id}`.
pub(crate) struct Revoke;

impl Endpoint for Revoke {
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/v1/tokens/{id}";
    const SUMMARY: &'static str = "Revoke a token: one's own, or as the owner anybody's.";
    const WHO: Who = Who::Person;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ItemId;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Revoked>;
    type Refusal = NotRevoked;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Revoked>, NotRevoked> {
        let (db, signed) = (asked.state.gate.db().await?, &asked.signed);
        let own = |token: &Token| is_own(signed, token);
        let unknown = || {
            let message = "there is no such token that works; `GET /v1/tokens` lists them";
            NotRevoked::NotFound(message.to_owned())
        };
        let token = db.token(&given.path).await?.filter(own).ok_or_else(unknown)?;
        if !db.revoke_token(&token.id, signed.user(), asked.state.now()).await? {
            return Err(unknown());
        }
        Ok(Json(Revoked { id: token.id, revoked: true }))
    }
}
