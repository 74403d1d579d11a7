//! Conversations, as people look at them.

use std::time::{Duration, Instant, UNIX_EPOCH};

use agent::Sink;
use axum::http::Method;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Scope, Session, SessionCursor, SessionFilter, SessionKey, SessionKind, SessionState};
use tool::{Caller, MessageInfo, SessionInfo, SessionSettings, WithTools};

use super::{
    calls::within,
    endpoint::{Asked, Endpoint, Given, Who},
    input::{Empty, Json as JsonBody},
    output::Json,
};
use crate::{
    auth::{self, CallerNames},
    problem::{Kind, Problem, refusals},
    speaking::{self, NoAnswer},
};

/// Sessions and messages of one page, at most.
const MOST: u32 = 200;
/// So long an agent may take to leave a session that is removed,
const LEAVING: Duration = Duration::from_secs(5);
/// and so often it is looked.
const LOOK: Duration = Duration::from_millis(20);

refusals! {
    /// Why nothing is shown or changed.
    NoSession { NotFound, Invalid, Forbidden, Conflict, TooMany, ModelFailed, Unavailable }
}

impl From<Problem> for NoSession {
    fn from(problem: Problem) -> Self {
        let message = problem.message().to_owned();
        match problem.kind() {
            Kind::NotFound => Self::NotFound(message),
            Kind::Forbidden => Self::Forbidden(message),
            Kind::Conflict => Self::Conflict(message),
            Kind::TooMany => Self::TooMany(message),
            Kind::ModelFailed => Self::ModelFailed(message),
            Kind::Unavailable => Self::Unavailable(message),
            // What it was is in the log already.
            Kind::Internal => Self::Internal("an agent failed".to_owned()),
            Kind::Invalid
            | Kind::Unauthenticated
            | Kind::MethodNotAllowed
            | Kind::NotAcceptable
            | Kind::TooSlow
            | Kind::TooLarge
            | Kind::UnsupportedMediaType
            | Kind::RangeNotSatisfiable
            | Kind::WrongHost => Self::Invalid(message),
        }
    }
}

/// What of an error somebody may know.
fn shown<E: Into<NoAnswer>>(asked: &Asked) -> impl Fn(E) -> NoSession {
    let person = asked.signed.person();
    move |error| error.into().problem(&person).into()
}

/// Which sessions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// Only of this agent.
    agent: Option<String>,
    /// Only `chat`, `request` or `child`.
    kind: Option<SessionKind>,
    /// Only those that did something in the last so many seconds.
    active: Option<u64>,
    /// Only those whose name or label contains this.
    search: Option<String>,
    /// At most so many; 50 unless told otherwise.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Where the page before ended: its `next`.
    cursor: Option<String>,
}

/// A page of sessions, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    sessions: Vec<SessionInfo>,
    /// Give it as `cursor` for the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// `GET /v1/sessions`.
pub(crate) struct List;

impl Endpoint for List {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/sessions";
    const SUMMARY: &'static str = "Your conversations, newest first.";
    type Path = ();
    type Query = Wanted;
    type Body = ();
    type Answer = Json<Listed>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Listed>, NoSession> {
        list(&asked, given.query).await.map(Json)
    }
}

/// A page of the sessions somebody has.
pub(crate) async fn list(asked: &Asked, wanted: Wanted) -> Result<Listed, NoSession> {
    let Wanted { agent, kind, active, search, limit, cursor } = wanted;
    let limit = limit.unwrap_or(50).clamp(1, MOST);
    let db = asked.state.gate.db().await?;
    let before = cursor.map(|cursor| place(asked.signed.user(), &cursor)).transpose()?;
    let agents = within(&asked.signed.sees(), agent);
    // To the store no agents are all agents.
    if agents.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Listed { sessions: Vec::new(), next: None });
    }
    let filter = SessionFilter {
        user: Some(asked.signed.user().to_owned()),
        agents: agents.unwrap_or_default(),
        kinds: kind.into_iter().collect(),
        active_since: active
            .and_then(|seconds| asked.state.now().checked_sub(Duration::from_secs(seconds))),
        search,
        before,
        limit: limit + 1,
        ..SessionFilter::default()
    };
    let mut found = db.sessions(&filter).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|session| cursor_of(&session.into()));
    let mut sessions = Vec::with_capacity(found.len());
    for session in &found {
        sessions.push(asked.state.agents.info(session).await.map_err(shown(asked))?);
    }
    Ok(Listed { sessions, next })
}

/// A place in the list, for somebody who comes back: it says itself where it is, because what was there
/// may be gone by then.
fn cursor_of(at: &SessionCursor) -> String {
    let since = at.active_at.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    URL_SAFE_NO_PAD.encode(format!("{since} {}", at.key))
}

/// The place that a cursor says.
fn place(user: &str, cursor: &str) -> Result<SessionCursor, NoSession> {
    let read = || {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?;
        let (since, key) = text.split_once(' ')?;
        let active_at = UNIX_EPOCH.checked_add(Duration::from_micros(since.parse().ok()?))?;
        Some(SessionCursor { active_at, key: SessionKey::parse(user, key).ok()? })
    };
    let message = "`cursor` must be the `next` of the page before";
    read().ok_or_else(|| NoSession::Invalid(message.to_owned()))
}

/// The session with this key that somebody has.
async fn find(asked: &Asked, key: &str) -> Result<Session, NoSession> {
    let key = SessionKey::parse(asked.signed.user(), key).map_err(NoSession::Invalid)?;
    let session = asked.state.gate.db().await?.session(&key).await?;
    let session = session.filter(|session| asked.signed.may_use(&session.key.agent));
    session.ok_or_else(|| NoSession::NotFound(format!("there is no session `{key}`")))
}

/// `GET /v1/sessions/{key}`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/sessions/{key}";
    const SUMMARY: &'static str = "How a conversation stands; its key is `agent:AGENT:NAME`.";
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<SessionInfo>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<SessionInfo>, NoSession> {
        let session = find(&asked, &given.path).await?;
        Ok(Json(asked.state.agents.info(&session).await.map_err(shown(&asked))?))
    }
}

/// `PATCH /v1/sessions/{key}`.
pub(crate) struct Change;

impl Endpoint for Change {
    const METHOD: Method = Method::PATCH;
    const PATH: &'static str = "/v1/sessions/{key}";
    const SUMMARY: &'static str = "Change the label, the model or the metadata of a conversation.";
    const WHO: Who = Who::Person;
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = String;
    type Query = Empty;
    type Body = JsonBody<SessionSettings>;
    type Answer = Json<SessionInfo>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<SessionInfo>, NoSession> {
        let session = find(&asked, &given.path).await?;
        asked.state.agents.set(&session, given.body.0).await.map_err(shown(&asked))?;
        let session = find(&asked, &given.path).await?;
        Ok(Json(asked.state.agents.info(&session).await.map_err(shown(&asked))?))
    }
}

/// What was removed or stopped.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Done {
    session: String,
    /// Whether there was something to remove or to stop.
    done: bool,
}

/// `DELETE /v1/sessions/{key}`.
pub(crate) struct Remove;

impl Endpoint for Remove {
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/v1/sessions/{key}";
    const SUMMARY: &'static str = "Forget a conversation. The journal keeps its calls.";
    const WHO: Who = Who::Person;
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Done>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Done>, NoSession> {
        let session = find(&asked, &given.path).await?;
        stopped(&asked, &session.key).await?;
        let (db, now) = (asked.state.gate.db().await?, asked.state.now());
        let done = db.remove_session(&session.key, now).await?;
        asked.state.events.running.removed(&session.key);
        Ok(Json(Done { session: session.key.to_string(), done }))
    }
}

/// Stops what an agent does in a session, and waits a moment until it has left in order.
async fn stopped(asked: &Asked, key: &SessionKey) -> Result<(), NoSession> {
    let db = asked.state.gate.db().await?;
    let begin = Instant::now();
    while begin.elapsed() < LEAVING {
        // Each time: another one may have waited for its turn.
        let runs = asked.state.agents.stop(key);
        let found = db.session(key).await?;
        if !runs && found.is_none_or(|session| session.state != SessionState::Running) {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    tracing::warn!(session = %key, "a session is removed in which an agent still works");
    Ok(())
}

/// `POST /v1/sessions/{key}/stop`.
pub(crate) struct Stop;

impl Endpoint for Stop {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/sessions/{key}/stop";
    const SUMMARY: &'static str = "Stop what an agent does in a conversation.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = String;
    type Query = Empty;
    type Body = ();
    type Answer = Json<Done>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Done>, NoSession> {
        stop(&asked, &given.path).await.map(Json)
    }
}

/// Stops what an agent does in the session with this key.
pub(crate) async fn stop(asked: &Asked, key: &str) -> Result<Done, NoSession> {
    let session = find(asked, key).await?;
    let done = asked.state.agents.stop(&session.key);
    Ok(Done { session: session.key.to_string(), done })
}

/// Which messages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    /// At most so many of the last ones; 50 unless told otherwise.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// Calls of tools and what they returned, too.
    #[serde(default)]
    tools: bool,
}

/// What was said.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Said {
    /// Oldest first.
    messages: Vec<MessageInfo>,
}

/// `GET /v1/sessions/{key}/messages`.
pub(crate) struct Read;

impl Endpoint for Read {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/v1/sessions/{key}/messages";
    const SUMMARY: &'static str = "The last messages of a conversation, oldest first.";
    type Path = String;
    type Query = Which;
    type Body = ();
    type Answer = Json<Said>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Said>, NoSession> {
        let Which { limit, tools } = given.query;
        messages(&asked, &given.path, (limit, tools)).await.map(Json)
    }
}

/// The last messages of the session with this key.
pub(crate) async fn messages(
    asked: &Asked,
    key: &str,
    (limit, tools): (Option<u32>, bool),
) -> Result<Said, NoSession> {
    let session = find(asked, key).await?;
    let limit = limit.unwrap_or(50).clamp(1, MOST) as usize;
    let tools = if tools { WithTools::Yes } else { WithTools::No };
    let messages = asked.state.agents.messages(&session, limit, tools).await;
    Ok(Said { messages: messages.map_err(shown(asked))? })
}

/// What is said.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saying {
    pub(crate) message: String,
    /// Another model than usual: `provider/model`.
    pub(crate) model: Option<String>,
}

/// What the agent answered.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answered {
    session: String,
    run: String,
    model: String,
    text: String,
    tool_calls: Value,
}

impl Answered {
    pub(crate) fn new(answer: agent::Answer) -> Self {
        Self {
            session: answer.session.to_string(),
            run: answer.run,
            model: answer.model,
            text: answer.text,
            tool_calls: serde_json::json!(answer.tool_calls),
        }
    }
}

/// `POST /v1/sessions/{key}/messages`.
pub(crate) struct Say;

impl Endpoint for Say {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/sessions/{key}/messages";
    const SUMMARY: &'static str =
        "Say something in a conversation, which begins if there is none, and wait for the answer.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = String;
    type Query = Empty;
    type Body = JsonBody<Saying>;
    type Answer = Json<Answered>;
    type Refusal = NoSession;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Answered>, NoSession> {
        let Saying { message, model } = given.body.0;
        let caller = speaker(&asked, &given.path)?;
        let input = speaking::said(message, model)?;
        let speaking = speaking::begin(&asked.state, &asked.signed, caller).await?;
        let answer = speaking.run(input, Sink::default()).await;
        Ok(Json(Answered::new(answer.map_err(shown(&asked))?)))
    }
}

/// Who speaks in the session with this key.
fn speaker(asked: &Asked, key: &str) -> Result<Caller, NoSession> {
    let key = SessionKey::parse(asked.signed.user(), key).map_err(NoSession::Invalid)?;
    let config = asked.state.gate.config();
    let (agent, session) = (Some(key.agent.as_str()), Some(key.name.as_str()));
    let names = CallerNames { agent, session, ..auth::names(&asked.headers)? };
    Ok(auth::in_conversation(asked.signed.speaker(&config, names)?))
}
