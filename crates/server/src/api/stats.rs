//! Numbers: for people, and for Prometheus.

use std::{collections::BTreeMap, time::Duration};

use axum::http::Method;
use schemars::JsonSchema;
use serde::Serialize;
use store::{ApprovalFilter, Which};
use tool::ToolError;

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    input::Empty,
    output::{Json, Text},
};
use crate::{connections::Kind, metrics, problem::Nothing};

/// The time calls are counted for.
const DAY: Duration = Duration::from_hours(24);

/// What the server is doing.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Stats {
    version: &'static str,
    uptime_ms: u64,
    /// Who asks.
    user: String,
    owner: bool,
    /// How many tools the caller has.
    tools: usize,
    /// The calls of the last 24 hours by status; the owner's are everybody's.
    calls: BTreeMap<&'static str, u64>,
    /// Questions that wait for an answer.
    questions: usize,
    /// What all do together; for the owner, because it tells what others do.
    #[serde(flatten)]
    all: Option<All>,
}

/// What all do together.
#[derive(Debug, Serialize, JsonSchema)]
struct All {
    /// Calls that have a slot.
    running: usize,
    /// Calls that wait for a slot.
    waiting: usize,
    /// WebSocket connections.
    connections: usize,
}

/// `GET /v1/stats`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/stats";
    const SUMMARY: &'static str = "What the server is doing.";
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Json<Stats>;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Json<Stats>, Nothing> {
        let (state, signed) = (&asked.state, &asked.signed);
        let sees = signed.sees();
        let since = state.now().checked_sub(DAY).unwrap_or(std::time::SystemTime::UNIX_EPOCH);
        let (journal, whose) = (state.gate.journal().clone(), sees.clone());
        let count = move || journal.counts(since, (whose.user(), whose.agents()));
        let counted = tokio::task::spawn_blocking(count);
        let counted = counted.await.map_err(ToolError::internal)??;
        let user = sees.user().map(str::to_owned);
        let filter = ApprovalFilter { which: Which::Pending, user, limit: 1_000 };
        let db = state.gate.db().await?;
        let questions = db.approvals_of(sees.agents(), &filter, state.now()).await?.len();
        let gate = state.gate.stats();
        Ok(Json(Stats {
            version: env!("CARGO_PKG_VERSION"),
            uptime_ms: u64::try_from(state.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            user: signed.user().to_owned(),
            owner: signed.is_owner(),
            tools: asked.caller().map_or(0, |caller| state.gate.view(&caller).tools().count()),
            calls: counted.into_iter().map(|(status, count)| (status.name(), count)).collect(),
            questions,
            all: signed.is_owner().then(|| All {
                running: gate.running,
                waiting: gate.waiting,
                connections: state.connections.count(Kind::Ws),
            }),
        }))
    }
}

/// `GET /metrics`.
pub(crate) struct Metrics;

impl Endpoint for Metrics {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/metrics";
    const SUMMARY: &'static str = "Numbers in the text format of Prometheus.";
    const WHO: Who = Who::Owner;
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Text;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Text, Nothing> {
        let state = &asked.state;
        let now = metrics::Now {
            gate: state.gate.stats(),
            runner: state.runner.stats(),
            connections: state.connections.count(Kind::Plain),
            ws_connections: state.connections.count(Kind::Ws),
            mcp: state.mcp.counts(),
            uptime: state.started.elapsed(),
            version: env!("CARGO_PKG_VERSION"),
        };
        let text = metrics::page(&state.events.metrics, &now);
        Ok(Text { content_type: "text/plain; version=0.0.4; charset=utf-8", text })
    }
}
