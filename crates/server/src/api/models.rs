//! Agents, as clients of model providers list them.

use std::time::UNIX_EPOCH;

use axum::http::Method;
use provider::Format;
use serde_json::Value;

use super::{
    endpoint::{Asked, Endpoint, Given, Unknown},
    input::Empty,
    output::Json,
};
use crate::{
    auth::Signed,
    problem::{Nothing, refusals},
    state::State,
};

/// The agents that somebody may talk to, each with the time this server began.
fn listed(state: &State, signed: &Signed) -> Vec<(String, u64)> {
    let began = state.now().checked_sub(state.started.elapsed());
    let began = began.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let ids = state.agents.ids().into_iter();
    ids.filter(|id| signed.may_use(id)).map(|id| (id, began.as_secs())).collect()
}

/// `GET /v1/models`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/models";
    const SUMMARY: &'static str = "The agents, as clients of OpenAI and Anthropic list models.";
    const UNKNOWN: Unknown = Unknown::PassedOver;
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Json<Value>;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Json<Value>, Nothing> {
        Ok(Json(provider::models(Format::OpenAi, &listed(&asked.state, &asked.signed))))
    }
}

/// `GET /v1beta/models`.
pub(crate) struct ListGemini;

impl Endpoint for ListGemini {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1beta/models";
    const SUMMARY: &'static str = "The agents, as clients of Gemini list models.";
    const UNKNOWN: Unknown = Unknown::PassedOver;
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Json<Value>;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Json<Value>, Nothing> {
        Ok(Json(provider::models(Format::Gemini, &listed(&asked.state, &asked.signed))))
    }
}

refusals! {
    /// Why nothing is shown.
    NotShown { NotFound }
}

/// `GET /v1/models/{call}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/models/{call}";
    const SUMMARY: &'static str = "One agent, as clients of OpenAI and Anthropic show a model.";
    const UNKNOWN: Unknown = Unknown::PassedOver;
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Value>;
    type Refusal = NotShown;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Value>, NotShown> {
        let mut all = listed(&asked.state, &asked.signed);
        all.retain(|(id, _)| *id == given.path);
        let mut shown = provider::models(Format::OpenAi, &all);
        let found = shown.get_mut("data").and_then(|data| data.get_mut(0)).map(Value::take);
        found.map(Json).ok_or_else(|| {
            NotShown::NotFound(format!(
                "there is no agent `{}`; `GET /v1/models` lists them",
                given.path
            ))
        })
    }
}
