//! Which capabilities agents have.

use std::fmt;

use axum::http::Method;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use gate::{EffectivePermission, effective_permissions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{OWNER, Permission, PermissionState, Scope};
use tool::Capability;

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    input::{Empty, Json as JsonBody},
    output::Json,
    paging::{self, Paging},
};
use crate::{
    auth::{Signed, is_name},
    problem::refusals,
    state::State,
};

/// What agents have.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Permissions {
    permissions: Vec<EffectivePermission>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

refusals! {
    /// Why no permissions are listed.
    NotListed { Invalid }
}

/// `GET /v1/permissions`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/permissions";
    const SUMMARY: &'static str =
        "Which capabilities agents have, also where nobody decided; the owner sees everybody's.";
    type Path = ();
    type Query = Paging;
    type Body = ();
    type Answer = Json<Permissions>;
    type Refusal = NotListed;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Permissions>, NotListed> {
        list(&asked.state, &asked.signed, given.query).await.map(Json)
    }
}

/// The permissions somebody sees.
pub(crate) async fn list(
    state: &State,
    signed: &Signed,
    Paging { limit, cursor }: Paging,
) -> Result<Permissions, NotListed> {
    let limit = paging::limit(limit).map_err(NotListed::Invalid)?;
    let none = || NotListed::Invalid(paging::NO_CURSOR.to_owned());
    let after = cursor.map(|cursor| Place::read(&cursor).ok_or_else(none)).transpose()?;
    let rows = state.gate.db().await?.permissions(signed.sees().user()).await?;
    let agents = state.gate.config().agents.keys().cloned().collect::<Vec<_>>();
    let mut permissions = effective_permissions(signed.user(), agents, rows);
    permissions.retain(|permission| signed.may_use(permission.agent()));
    permissions.retain(|one| after.as_ref().is_none_or(|after| Place::of(one) > *after));
    let (permissions, next) = paging::cut(permissions, limit, |last| Place::of(last).to_string());
    Ok(Permissions { permissions, next })
}

/// A place in the list: the user, the agent, and the number of the capability.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Place(String, String, usize);

impl Place {
    fn of(permission: &EffectivePermission) -> Self {
        let (user, agent, capability) = match permission {
            EffectivePermission::Decided(Permission { user, agent, capability, .. })
            | EffectivePermission::Default { user, agent, capability, .. } => {
                (user, agent, capability)
            }
        };
        let number = Capability::ALL.iter().position(|one| one == capability);
        Self(user.clone(), agent.clone(), number.unwrap_or_default())
    }

    fn read(cursor: &str) -> Option<Self> {
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_vec(self).map_err(|_| fmt::Error)?;
        f.write_str(&URL_SAFE_NO_PAD.encode(text))
    }
}

/// A decision about a capability.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Granting {
    capability: Capability,
    /// The agent; `main` unless told otherwise.
    agent: Option<String>,
    /// When it works for this user; the owner unless told otherwise.
    user: Option<String>,
    /// `granted`, which is usual, `ask`, `denied` or `denied_for_good`.
    state: Option<PermissionState>,
}

refusals! {
    /// Why nothing is decided.
    NotDecided { Invalid, Forbidden }
}

/// `POST /v1/permissions`.
pub(crate) struct Grant;

impl Endpoint for Grant {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/permissions";
    const SUMMARY: &'static str = "Give an agent a capability, or decide otherwise about it.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ();
    type Query = Empty;
    type Body = JsonBody<Granting>;
    type Answer = Json<Permission>;
    type Refusal = NotDecided;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Permission>, NotDecided> {
        refuse_askers(&asked, &given.body.0).await?;
        decide(&asked, given.body.0).await
    }
}

/// Whoever asks does not answer, nor give what makes asking needless: not with a token that made calls or
/// spoke to agents, or whose family did. To deny is open to all.
async fn refuse_askers(asked: &Asked, wanted: &Granting) -> Result<(), NotDecided> {
    let denies = match wanted.state {
        None | Some(PermissionState::Granted | PermissionState::Ask) => false,
        Some(PermissionState::Denied | PermissionState::DeniedForGood) => true,
    };
    if denies || !asked.signed.is_for_programs() {
        return Ok(());
    }
    if asked.state.gate.db().await?.has_asked(&asked.signed.token.family).await? {
        let message = "calls were made or agents were spoken to with this token, or with one that it was \
                       made with or that it made, and therefore it cannot grant anything; sign in with a \
                       browser, use a token that `toolgate tokens add` made, or `toolgate permissions`";
        return Err(NotDecided::Forbidden(message.to_owned()));
    }
    Ok(())
}

/// What is taken away.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Revoking {
    /// The capability.
    capability: String,
    /// The agent; `main` unless told otherwise.
    agent: Option<String>,
    /// When it works for this user; the owner unless told otherwise.
    user: Option<String>,
    /// Whether nobody is to be asked again.
    for_good: Option<bool>,
}

/// `DELETE /v1/permissions`.
pub(crate) struct Revoke;

impl Endpoint for Revoke {
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/v1/permissions";
    const SUMMARY: &'static str = "Take a capability away from an agent.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ();
    type Query = Revoking;
    type Body = ();
    type Answer = Json<Permission>;
    type Refusal = NotDecided;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Permission>, NotDecided> {
        let Revoking { capability, agent, user, for_good } = given.query;
        let state = if for_good.unwrap_or_default() {
            PermissionState::DeniedForGood
        } else {
            PermissionState::Denied
        };
        let capability = capability.parse().map_err(NotDecided::Invalid)?;
        decide(&asked, Granting { capability, agent, user, state: Some(state) }).await
    }
}

async fn decide(asked: &Asked, wanted: Granting) -> Result<Json<Permission>, NotDecided> {
    let Granting { capability, agent, user, state } = wanted;
    let [agent, user] =
        [agent.unwrap_or_else(|| "main".into()), user.unwrap_or_else(|| OWNER.into())];
    if let Some(wrong) = [&agent, &user].into_iter().find(|name| !is_name(name)) {
        return Err(NotDecided::Invalid(format!("`{}` is no name", wrong.escape_debug())));
    }
    let permission = Permission {
        user,
        agent,
        capability,
        state: state.unwrap_or(PermissionState::Granted),
        by: format!("{} (token {})", asked.signed.user(), asked.signed.token.new.name),
        at: asked.state.now(),
    };
    asked.state.gate.db().await?.set_permission(permission.clone()).await?;
    Ok(Json(permission))
}
