//! Agents: those of the configuration, and those that the owner made here.

use agent::{NewAgent, NotStored, remove_agent, store_agent};
use axum::http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Db, Scope, StoreError, StoredAgent};

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    input::{Empty, Json as JsonBody},
    output::{Created, Json},
};
use crate::problem::{Nothing, refusals};

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Shown {
    id: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// `provider/model`, if one is set for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// `configuration`, or `api` if it was made here.
    from: &'static str,
}

/// The agents.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    agents: Vec<Shown>,
}

/// The agents somebody may talk to.
pub(crate) async fn list(asked: &Asked) -> Result<Listed, Nothing> {
    let made = asked.state.gate.db().await?.agents(None).await?;
    let config = asked.state.gate.config();
    let shown = |id: String| {
        let agent = config.agents.get(&id);
        Shown {
            description: agent
                .and_then(|agent| Some(agent.description.as_ref()?.value.to_string())),
            model: agent.and_then(|agent| Some(agent.model.as_ref()?.value.clone())),
            from: if made.iter().any(|made| made.id == id) { "api" } else { "configuration" },
            id,
        }
    };
    let ids = asked.state.agents.ids().into_iter().filter(|id| asked.signed.may_use(id));
    Ok(Listed { agents: ids.map(shown).collect() })
}

/// `GET /v1/agents`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/agents";
    const SUMMARY: &'static str = "The agents you may talk to.";
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Json<Listed>;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Json<Listed>, Nothing> {
        list(&asked).await.map(Json)
    }
}

/// A new agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Making {
    /// Its name: letters, digits, `_` and `-`.
    id: String,
    /// What `agents.<id>` of the configuration can say, such as `model`, `prompt`, `tools`.
    #[serde(default)]
    settings: Map<String, Value>,
}

refusals! {
    /// Why no agent is made or removed.
    NotMade { Invalid, NotFound, Conflict }
}

impl From<NotStored> for NotMade {
    fn from(error: NotStored) -> Self {
        match error {
            NotStored::Invalid(_) | NotStored::NoFolder(_) => Self::Invalid(error.to_string()),
            NotStored::Configured(_) => Self::Conflict(error.to_string()),
            NotStored::Unknown { .. } => Self::NotFound(error.to_string()),
            NotStored::Store(error) => error.into(),
        }
    }
}

/// `POST /v1/agents`.
pub(crate) struct Add;

impl Endpoint for Add {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/agents";
    const SUMMARY: &'static str = "Make an agent, or change one that was made here; what the configuration says about one stays.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ();
    type Query = Empty;
    type Body = JsonBody<Making>;
    type Answer = Created<Shown>;
    type Refusal = NotMade;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Created<Shown>, NotMade> {
        let Making { id, settings } = given.body.0;
        let settings = Value::Object(settings);
        let (db, by) = (asked.state.gate.db().await?, asked.signed.user().to_owned());
        let new = NewAgent { id, by, settings };
        let was = db.agent(&new.id).await?;
        store_agent(db, &asked.state.gate.config(), &new, asked.state.now()).await?;
        let NewAgent { id, settings, .. } = new;
        take_over(&asked, db, &id, was.clone()).await?;
        // One that cannot work is left out, and stops nobody else.
        if !asked.state.gate.config().agents.contains_key(&id) {
            put_back(db, &id, was).await?;
            asked.state.reload().await.map_err(NotMade::Conflict)?;
            let problem = "its folder cannot be one; the log of the server says why";
            return Err(NotMade::Conflict(format!("nothing is changed for `{id}`: {problem}")));
        }
        let text = |name: &str| settings.get(name).and_then(Value::as_str).map(str::to_owned);
        let (description, model) = (text("description"), text("model"));
        Ok(Created(Shown { id, description, model, from: "api" }))
    }
}

/// What was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Removed {
    id: String,
}

/// `DELETE /v1/agents/{id}`.
pub(crate) struct Remove;

impl Endpoint for Remove {
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/v1/agents/{id}";
    const SUMMARY: &'static str = "Remove an agent that was made here. Its sessions stay.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Removed>;
    type Refusal = NotMade;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Removed>, NotMade> {
        let id = given.path;
        let db = asked.state.gate.db().await?;
        let was = db.agent(&id).await?;
        remove_agent(db, &asked.state.gate.config(), &id).await?;
        take_over(&asked, db, &id, was).await?;
        Ok(Json(Removed { id }))
    }
}

/// Lets hold what is stored about the agent `id` now. If that cannot be, it is stored again as it `was`:
/// what is said to have failed must not hold after the next start.
async fn take_over(
    asked: &Asked,
    db: &Db,
    id: &str,
    was: Option<StoredAgent>,
) -> Result<(), NotMade> {
    let Err(problem) = asked.state.reload().await else { return Ok(()) };
    put_back(db, id, was).await?;
    Err(NotMade::Conflict(format!("nothing is changed: {problem}")))
}

async fn put_back(db: &Db, id: &str, was: Option<StoredAgent>) -> Result<(), StoreError> {
    let Some(StoredAgent { id, owner, settings, created_at, changed_at }) = was else {
        db.remove_agent(id).await?;
        return Ok(());
    };
    if db.change_agent(&id, &settings, changed_at).await?.is_none() {
        db.add_agent(&id, &owner, &settings, created_at).await?;
        db.change_agent(&id, &settings, changed_at).await?;
    }
    Ok(())
}
