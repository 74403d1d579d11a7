//! Agents, as clients of model providers list them.

use std::time::UNIX_EPOCH;

use axum::http::Method;
use provider::Format;
use serde_json::Value;

use super::{
    endpoint::{Asked, Endpoint, Given},
    input::Empty,
    output::Json,
};
use crate::{
    auth::Signed,
    problem::{Nothing, refusals},
    state::State,
};

/// What clients may say about the page they want; there is only one.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Page {
    #[expect(dead_code, reason = "clients send it; there is one page")]
    limit: Option<u64>,
    #[expect(dead_code, reason = "clients send it; there is one page")]
    after_id: Option<String>,
    #[expect(dead_code, reason = "clients send it; there is one page")]
    before_id: Option<String>,
    #[serde(rename = "pageSize")]
    #[expect(dead_code, reason = "clients send it; there is one page")]
    page_size: Option<u64>,
    #[serde(rename = "pageToken")]
    #[expect(dead_code, reason = "clients send it; there is one page")]
    page_token: Option<String>,
}

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
    type Path = ();
    type Query = Page;
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
    type Path = ();
    type Query = Page;
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
