//! Agents: those of the configuration, and those that the owner made here.

use agent::{
    ExistingAgent, MAIN, NewAgent, NotStored, has_agent, provider_names, remove_agent, store_agent,
};
use axum::http::Method;
use config::Agent;
use policy::{KnownNames, check_agent_names};
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

/// An agent, and for the owner all that is set for it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgentDetails {
    #[serde(flatten)]
    agent: Shown,
    /// With the keys of `agents.<id>` of the configuration. Only the owner sees them.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<Value>,
}

refusals! {
    /// Why no agent is shown.
    NoAgent { NotFound }
}

/// `GET /v1/agents/{id}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/agents/{id}";
    const SUMMARY: &'static str = "One agent; for the owner with all that is set for it.";
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<AgentDetails>;
    type Refusal = NoAgent;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<AgentDetails>, NoAgent> {
        let id = given.path;
        let internal = |failure| match failure {
            Nothing::Internal(problem) => NoAgent::Internal(problem),
            Nothing::Stuck(message) => NoAgent::Stuck(message),
        };
        let all = list(&asked).await.map_err(internal)?.agents;
        let found = all.into_iter().find(|agent| agent.id == id);
        let Some(agent) = found else {
            return Err(NoAgent::NotFound(format!("there is no agent `{}`", id.escape_debug())));
        };
        let settings = if asked.signed.is_owner() {
            Some(settings_of(&asked, &agent.id).await.map_err(internal)?)
        } else {
            None
        };
        Ok(Json(AgentDetails { agent, settings }))
    }
}

/// What is set for the agent `id`, as it was given if it was made here.
async fn settings_of(asked: &Asked, id: &str) -> Result<Value, Nothing> {
    let config = asked.state.gate.config();
    if let Some(made) = asked.state.gate.db().await?.agent(id).await? {
        return Ok(made.settings);
    }
    let agent = config.agents.get(id).cloned().unwrap_or_default();
    Ok(Value::Object(config::agent_settings(&agent)))
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
            NotStored::Exists(_) => {
                Self::Conflict(format!("{error}; `PATCH /v1/agents/{{id}}` changes it"))
            }
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
    const SUMMARY: &'static str = "Make an agent. One that exists is not replaced.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = ();
    type Query = Empty;
    type Body = JsonBody<Making>;
    type Answer = Created<Shown>;
    type Refusal = NotMade;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Created<Shown>, NotMade> {
        let Making { id, settings } = given.body.0;
        let by = asked.signed.user().to_owned();
        let settings = Value::Object(settings);
        let new = NewAgent { id, by, settings, existing: ExistingAgent::Keep };
        store_and_take_over(&asked, &new, None).await.map(Created)
    }
}

/// What is to be different about an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changing {
    /// Only what changes, with the keys of `agents.<id>`. `null` unsets a key; a table is merged, a list is
    /// replaced.
    settings: Map<String, Value>,
}

/// `PATCH /v1/agents/{id}`.
pub(crate) struct Change;

impl Endpoint for Change {
    const METHOD: Method = Method::PATCH;
    const PATH: &'static str = "/v1/agents/{id}";
    const SUMMARY: &'static str =
        "Change an agent that was made here. One of the configuration is changed there.";
    const WHO: Who = Who::Owner;
    const NEEDS: Option<Scope> = Some(Scope::Manage);
    type Path = String;
    type Query = Empty;
    type Body = JsonBody<Changing>;
    type Answer = Json<AgentDetails>;
    type Refusal = NotMade;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<AgentDetails>, NotMade> {
        let (id, Changing { settings: change }) = (given.path, given.body.0);
        let db = asked.state.gate.db().await?;
        let Some(was) = db.agent(&id).await? else {
            if has_agent(&asked.state.gate.config(), &id) {
                return Err(NotStored::Configured(id).into());
            }
            return Err(NotMade::NotFound(format!("there is no agent `{}`", id.escape_debug())));
        };
        let mut settings = was.settings.clone();
        merge(&mut settings, &change);
        let new =
            NewAgent { id, by: was.owner.clone(), settings, existing: ExistingAgent::Replace };
        let agent = store_and_take_over(&asked, &new, Some(was)).await?;
        Ok(Json(AgentDetails { agent, settings: Some(new.settings) }))
    }
}

/// Merges `change` as RFC 7396 says: `null` removes, objects are merged, all else is replaced. A loop with
/// a list of open objects instead of recursion: how deep a change is, is the client's choice.
fn merge(settings: &mut Value, change: &Map<String, Value>) {
    let mut open = vec![(settings, change)];
    while let Some((target, change)) = open.pop() {
        if !target.is_object() {
            *target = Value::Object(Map::new());
        }
        let Value::Object(target) = target else { continue };
        target.retain(|name, _| change.get(name).is_none_or(|value| !value.is_null()));
        for (name, value) in
            change.iter().filter(|(_, value)| !value.is_object() && !value.is_null())
        {
            target.insert(name.clone(), value.clone());
        }
        for (name, _) in change.iter().filter(|(_, value)| value.is_object()) {
            if !target.get(name).is_some_and(Value::is_object) {
                target.insert(name.clone(), Value::Object(Map::new()));
            }
        }
        let inner = target
            .iter_mut()
            .filter_map(|(name, target)| Some((target, change.get(name)?.as_object()?)));
        open.extend(inner);
    }
}

/// Stores an agent and lets it hold. If it cannot, the database is put back as it `was`.
async fn store_and_take_over(
    asked: &Asked,
    new: &NewAgent,
    was: Option<StoredAgent>,
) -> Result<Shown, NotMade> {
    let (gate, db) = (&asked.state.gate, asked.state.gate.db().await?);
    let config = gate.config();
    let check = |agent: &Agent| {
        let tools = gate.nameable_tools();
        let own = [new.id.clone(), MAIN.to_owned()];
        let agents: Vec<_> = config.agents.keys().cloned().chain(own).collect();
        let known = KnownNames {
            tools: &tools.iter().collect::<Vec<_>>(),
            later_tools: &[],
            users: None,
            agents: Some(&agents),
            providers: &provider_names(&config),
        };
        check_agent_names(&new.id, agent, &known)
    };
    store_agent(db, &config, new, check, asked.state.now()).await?;
    let NewAgent { id, settings, .. } = new;
    take_over(asked, db, id, was.clone()).await?;
    // One that cannot work is left out, and stops no other agent.
    if !gate.config().agents.contains_key(id) {
        put_back(db, id, was).await?;
        asked.state.reload().await.map_err(NotMade::Conflict)?;
        let problem = "its folder cannot be one; the log of the server says why";
        return Err(NotMade::Conflict(format!("nothing is changed for `{id}`: {problem}")));
    }
    let text = |name: &str| settings.get(name).and_then(Value::as_str).map(str::to_owned);
    Ok(Shown {
        id: id.clone(),
        description: text("description"),
        model: text("model"),
        from: "api",
    })
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
