//! Whether the server lives, and whether it can work.

use axum::{
    extract::Request,
    http::{Method, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use tool::ToolError;

use super::{endpoint::Open, openapi::Described};
use crate::{
    problem::{Kind, Problem, json_response},
    state::State,
};

#[derive(Debug, Serialize, JsonSchema)]
struct Healthy {
    /// Always `ok`.
    status: &'static str,
}

const OK: Healthy = Healthy { status: "ok" };

/// `GET /healthz`.
pub(crate) struct Health;

impl Open for Health {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/healthz";
    const SUMMARY: &'static str = "Whether the process lives.";

    fn described(described: &mut Described<'_>) {
        described.json::<Healthy>(200, "It does.");
    }

    async fn handle(_: State, _: Request) -> Response {
        json_response(StatusCode::OK, &OK)
    }
}

/// `GET /readyz`.
pub(crate) struct Ready;

impl Open for Ready {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/readyz";
    const SUMMARY: &'static str = "Whether database and journal answer.";

    fn described(described: &mut Described<'_>) {
        described.json::<Healthy>(200, "They do.");
    }

    async fn handle(state: State, _: Request) -> Response {
        if state.ending.is_cancelled() {
            return Problem::new(Kind::Unavailable, "the server is about to end").into_response();
        }
        match ready(&state).await {
            Ok(()) => json_response(StatusCode::OK, &OK),
            Err(error) => {
                tracing::error!(detail = error.operator_detail(), "the store does not answer");
                Problem::new(Kind::Unavailable, "the database or the journal does not answer")
                    .into_response()
            }
        }
    }
}

async fn ready(state: &State) -> Result<(), ToolError> {
    state.gate.db().await?.version()?;
    let journal = state.gate.journal().clone();
    let filter = store::Filter { limit: 1, ..store::Filter::default() };
    let look = tokio::task::spawn_blocking(move || journal.entries(&filter));
    look.await.map_err(ToolError::internal)??;
    Ok(())
}
