//! Users: who may come.

use axum::http::Method;
use config::Config;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{RemovedUser, Scope, StoreError, User, UserError};
use tool::Role;

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    input::{Empty, Json as JsonBody},
    output::{Created, Json},
    paging::{self, Paging},
};
use crate::{auth::is_name, leaving, problem::refusals};

/// A name for people is no longer.
const MOST: usize = 100;

/// A user, and what they may do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    #[serde(flatten)]
    user: User,
    /// Whether they may answer questions about the calls of others: the owner, or one of `tools.approvers`.
    approver: bool,
}

impl Shown {
    fn new(user: User, config: &Config) -> Self {
        let named = config.tools.approvers.iter().any(|named| named.value == user.id);
        let approver = user.is_there() && (named || user.role == Role::Owner);
        Self { user, approver }
    }
}

/// Users, the owner first, then by id.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Users {
    users: Vec<Shown>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

refusals! {
    /// Why no users are listed.
    NotListed { Invalid }
}

/// `GET /v1/users`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/users";
    const SUMMARY: &'static str = "The users, also those who were removed.";
    const WHO: Who = Who::Owner;
    type Path = ();
    type Query = Paging;
    type Body = ();
    type Answer = Json<Users>;
    type Refusal = NotListed;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Users>, NotListed> {
        let Paging { limit, cursor } = given.query;
        let limit = paging::limit(limit).map_err(NotListed::Invalid)?;
        let (db, config) = (asked.state.gate.db().await?, asked.state.gate.config());
        if let Some(cursor) = &cursor
            && db.user(cursor).await?.is_none()
        {
            return Err(NotListed::Invalid(paging::NO_CURSOR.to_owned()));
        }
        let found = db.users_after(cursor.as_deref(), limit + 1).await?;
        let (users, next) = paging::cut(found, limit, |last| last.id.clone());
        let users = users.into_iter().map(|user| Shown::new(user, &config)).collect();
        Ok(Json(Users { users, next }))
    }
}

refusals! {
    /// Why a user is not shown, added, changed or removed.
    NoUser { Invalid, NotFound, Conflict }
}

/// `GET /v1/users/{id}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/users/{id}";
    const SUMMARY: &'static str = "One user: oneself, or as the owner anybody.";
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Shown>;
    type Refusal = NoUser;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Shown>, NoUser> {
        let (db, signed) = (asked.state.gate.db().await?, &asked.signed);
        let seen = signed.is_owner() || given.path == signed.user();
        let found = if seen { db.user(&given.path).await? } else { None };
        let id: String = given.path.chars().take(MOST).collect();
        let none = || NoUser::NotFound(format!("there is no user `{}`", id.escape_debug()));
        Ok(Json(Shown::new(found.ok_or_else(none)?, &asked.state.gate.config())))
    }
}

/// What was refused for a reason is the client's business.
fn refused(error: StoreError) -> NoUser {
    let StoreError::User(problem) = error else { return error.into() };
    match problem {
        UserError::Unknown { .. } => NoUser::NotFound(problem.to_string()),
        UserError::Exists(_) | UserError::Removed(_) | UserError::OwnerStays => {
            NoUser::Conflict(problem.to_string())
        }
    }
}

/// A new user.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Adding {
    /// What they are called in tokens, configuration and the journal. It stays theirs for good.
    id: String,
    /// For people; the id unless told otherwise.
    name: Option<String>,
}

/// `POST /v1/users`.
pub(crate) struct Add;

impl Endpoint for Add {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/users";
    const SUMMARY: &'static str = "Add a member. A token for them is made with `POST /v1/tokens`.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ();
    type Query = Empty;
    type Body = JsonBody<Adding>;
    type Answer = Created<Shown>;
    type Refusal = NoUser;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Created<Shown>, NoUser> {
        let Adding { id, name } = given.body.0;
        check_id(&id).map_err(NoUser::Invalid)?;
        let name = name.unwrap_or_else(|| id.clone());
        check_name(&name).map_err(NoUser::Invalid)?;
        let db = asked.state.gate.db().await?;
        let user = db.add_user(&id, &name, asked.state.now()).await.map_err(refused)?;
        Ok(Created(Shown::new(user, &asked.state.gate.config())))
    }
}

/// What can be the id of a user.
fn check_id(id: &str) -> Result<(), String> {
    if is_name(id) {
        return Ok(());
    }
    let id: String = id.chars().take(MOST).collect();
    let wanted = "that is 1 to 128 of `A-Z a-z 0-9 . _ : @ / + -`";
    Err(format!("`{}` is no name of a user: {wanted}", id.escape_debug()))
}

fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().count() > MOST || name.chars().any(char::is_control) {
        return Err(format!("`name` must be 1 to {MOST} letters"));
    }
    Ok(())
}

/// What is to be otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changing {
    /// For people.
    name: Option<String>,
    /// `false` lets somebody come back who was removed; their tokens do not.
    removed: Option<bool>,
}

/// `PATCH /v1/users/{id}`.
pub(crate) struct Change;

impl Endpoint for Change {
    const METHOD: Method = Method::PATCH;
    const PATH: &'static str = "/v1/users/{id}";
    const SUMMARY: &'static str = "Give a user another name, or let one come back who was removed.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = String;
    type Query = Empty;
    type Body = JsonBody<Changing>;
    type Answer = Json<Shown>;
    type Refusal = NoUser;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Shown>, NoUser> {
        let (id, Changing { name, removed }) = (given.path, given.body.0);
        name.as_deref().map_or(Ok(()), check_name).map_err(NoUser::Invalid)?;
        if removed == Some(true) {
            let message = "`DELETE /v1/users/{id}` removes a user".to_owned();
            return Err(NoUser::Invalid(message));
        }
        let db = asked.state.gate.db().await?;
        let restored = match removed {
            Some(_) => Some(db.restore_user(&id).await.map_err(refused)?),
            None => None,
        };
        let user = match (name, restored) {
            (Some(name), _) => db.rename_user(&id, &name).await.map_err(refused)?,
            (None, Some(user)) => user,
            (None, None) => {
                let message = "`name` or `removed` must say what is to be otherwise".to_owned();
                return Err(NoUser::Invalid(message));
            }
        };
        Ok(Json(Shown::new(user, &asked.state.gate.config())))
    }
}

/// Somebody who comes no more.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Removed {
    id: String,
    /// What ended with them.
    #[serde(flatten)]
    ended: RemovedUser,
    /// Calls that ran and were cancelled.
    calls: usize,
}

/// `DELETE /v1/users/{id}`.
pub(crate) struct Remove;

impl Endpoint for Remove {
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/v1/users/{id}";
    const SUMMARY: &'static str =
        "Remove a user: their tokens and whatever runs for them end at once. The journal stays.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Removed>;
    type Refusal = NoUser;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Removed>, NoUser> {
        let (state, id) = (&asked.state, given.path);
        let db = state.gate.db().await?;
        let by = asked.signed.user();
        let ended = db.remove_user(&id, by, state.now()).await.map_err(refused)?;
        let calls = leaving::end_all_of(state, &id);
        Ok(Json(Removed { id, ended, calls }))
    }
}
