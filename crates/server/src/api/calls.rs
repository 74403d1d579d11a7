//! The calls that were made and that run.

use std::time::SystemTime;

use axum::http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Entry, Filter, Scope, Status};
use tool::{CallId, ToolError};

use super::{
    endpoint::{Asked, Endpoint, Given, Who},
    input::Empty,
    output::{Json, OfCall},
    paging::NO_CURSOR,
};
use crate::{
    auth::Sees,
    problem::{Nothing, refusals},
    state::State,
};

/// So many are listed at most,
const MOST: usize = 500;
/// and so many unless told otherwise.
const USUALLY: usize = 50;

/// Which calls.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Only calls of this tool.
    tool: Option<String>,
    /// Only calls that are `success`, `error`, `running` or `interrupted`.
    status: Option<String>,
    /// Only calls within this time (`1h`), or since then (`2026-11-15T21:02:26Z`).
    since: Option<String>,
    /// Only calls of this conversation.
    session: Option<String>,
    /// Only calls of this agent.
    agent: Option<String>,
    /// Only calls for this user; the owner sees everybody's.
    user: Option<String>,
    /// At most so many, up to 500; 50 unless told otherwise.
    limit: Option<u32>,
    /// Where the list before ended: its `next`.
    cursor: Option<String>,
}

/// Some of the calls.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Calls {
    /// The newest first.
    calls: Vec<Entry>,
    /// Give this as `cursor` to get the calls before these; without it there are none.
    next: Option<CallId>,
}

refusals! {
    /// Why no calls are listed.
    NotListed { Invalid }
}

/// `GET /v1/calls`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/calls";
    const SUMMARY: &'static str =
        "The journal, the newest calls first; the owner sees everybody's.";
    type Path = ();
    type Query = Wanted;
    type Body = ();
    type Answer = Json<Calls>;
    type Refusal = NotListed;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Calls>, NotListed> {
        let filter = filter(&asked, given.query).map_err(NotListed::Invalid)?;
        if let Some(before) = filter.before {
            // One of somebody else is as none: nobody learns which there are, nor when.
            let none = || NotListed::Invalid(NO_CURSOR.to_owned());
            seen(&asked, before).await?.ok_or_else(none)?;
        }
        let (limit, journal) = (filter.limit, asked.state.gate.journal().clone());
        // One more than wanted says whether there are more.
        let filter = Filter { limit: limit + 1, ..filter };
        let found = tokio::task::spawn_blocking(move || journal.entries(&filter)).await;
        let mut calls = found.map_err(ToolError::internal)??;
        let more = calls.len() > limit;
        calls.truncate(limit);
        let next = calls.last().filter(|_| more).map(|entry| entry.id);
        Ok(Json(Calls { calls, next }))
    }
}

fn filter(asked: &Asked, wanted: Wanted) -> Result<Filter, String> {
    let Wanted { tool, status, since, session, agent, user, limit, cursor } = wanted;
    let limit = limit.map_or(USUALLY, |limit| limit as usize);
    if !(1..=MOST).contains(&limit) {
        return Err(format!("`limit` must be from 1 to {MOST}"));
    }
    let sees = asked.signed.sees();
    let user = sees.user().map(str::to_owned).or(user);
    let agents = within(&sees, agent);
    Ok(Filter {
        tool,
        status: status.map(|status| status.parse::<Status>()).transpose()?,
        since: since.map(|since| time(&since, asked.state.now())).transpose()?,
        user,
        session,
        agents,
        before: cursor.map(|cursor| cursor.parse().map_err(|_: String| NO_CURSOR)).transpose()?,
        limit,
    })
}

/// The agent that is asked for, as far as somebody sees it; without one, all that they see.
pub(super) fn within(sees: &Sees, agent: Option<String>) -> Option<Vec<String>> {
    let allowed = |name: &String| sees.agents().is_none_or(|seen| seen.contains(name));
    match agent {
        Some(agent) => Some(Some(agent).filter(allowed).into_iter().collect()),
        None => sees.agents().map(<[_]>::to_vec),
    }
}

/// `1h` ago, or a time.
fn time(text: &str, now: SystemTime) -> Result<SystemTime, String> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(time.into());
    }
    let ago = config::parse_duration(text)
        .map_err(|problem| format!("`since` is neither a time nor a duration: {problem}"))?;
    now.checked_sub(ago).ok_or_else(|| "`since` is too long ago".to_owned())
}

refusals! {
    /// Why a call is not shown.
    NotShown { NotFound }
}

/// `GET /v1/calls/{id}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/calls/{id}";
    const SUMMARY: &'static str = "One call: what it was, who decided what, and what came of it.";
    type Path = CallId;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Entry>;
    type Refusal = NotShown;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Entry>, NotShown> {
        let own = seen(&asked, given.path).await?;
        own.map(Json).ok_or_else(|| NotShown::NotFound(unknown(given.path)))
    }
}

/// One call, as the journal has it.
pub(super) async fn entry(state: &State, call: CallId) -> Result<Option<Entry>, ToolError> {
    let journal = state.gate.journal().clone();
    let found = tokio::task::spawn_blocking(move || journal.entry(call)).await;
    Ok(found.map_err(ToolError::internal)??)
}

/// The same, if they see it.
async fn seen(asked: &Asked, call: CallId) -> Result<Option<Entry>, ToolError> {
    let sees = asked.signed.sees();
    let found = entry(&asked.state, call).await?;
    Ok(found.filter(|entry| sees.covers(&entry.user_id, &entry.agent)))
}

fn unknown(call: CallId) -> String {
    format!("there is no call `{call}`; `GET /v1/calls` lists them")
}

/// `POST /v1/calls/{id}/undo`.
pub(crate) struct Undo;

impl Endpoint for Undo {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/calls/{id}/undo";
    const SUMMARY: &'static str = "Take back all files a call changed, or none.";
    const WHO: Who = Who::Person;
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = CallId;
    type Query = Empty;
    type Body = ();
    type Answer = OfCall;
    type Refusal = Nothing;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<OfCall, Nothing> {
        Ok(OfCall(asked.state.gate.undo(&asked.signed.person(), given.path).await))
    }
}

/// What became of a call that was to be stopped.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cancelled {
    call_id: CallId,
    /// Always; its outcome says whether it had done something before.
    cancelled: bool,
}

refusals! {
    /// Why a call is not stopped.
    NotCancelled { NotFound, Conflict }
}

/// `POST /v1/calls/{id}/cancel`.
pub(crate) struct Cancel;

impl Endpoint for Cancel {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/calls/{id}/cancel";
    const SUMMARY: &'static str = "Stop a call that runs in this server.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = CallId;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Cancelled>;
    type Refusal = NotCancelled;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Cancelled>, NotCancelled> {
        let (call, sees) = (given.path, asked.signed.sees());
        if asked.state.events.running.cancel(call, &sees) {
            return Ok(Json(Cancelled { call_id: call, cancelled: true }));
        }
        Err(match seen(&asked, call).await? {
            Some(entry) => NotCancelled::Conflict(format!(
                "call `{call}` does not run in this server; it is `{}`",
                entry.status
            )),
            None => NotCancelled::NotFound(unknown(call)),
        })
    }
}
