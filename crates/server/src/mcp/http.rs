//! The protocol over HTTP.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Map, Value};
use store::Scope;
use tokio_util::sync::CancellationToken;
use tool::{Caller, Digest, ToolInfo};

use super::{
    client::{Client, ProgressToken},
    desk::{self, Back, CHANNEL, Described as Said, over_mcp},
    driven::Driven,
    errors,
    exchange::{Exchange, Way},
    headers, listen,
    offer::Context,
    request::RequestMeta,
    revision::Revision,
    sessions::{Most, Session},
    stream::{self, Takes},
    waiting::{Bound, Resumed, Taken},
};
use crate::{
    api::{Answer, Asked, Described, Empty, Endpoint, Given, RawJson, accepts},
    auth::{self, CallerNames},
    events::fields,
    parsing::parse_for,
    problem::{Kind, Problem, Refusal as _, refusals},
    rpc::{self, Call, Message, RpcError},
};

/// Not a JSON-RPC message that can be taken here and now.
const INVALID_REQUEST: i64 = -32600;

refusals! {
    /// Why a message is not taken.
    NotTaken { Unavailable, MethodNotAllowed }
}

/// `POST /mcp`.
pub(crate) struct Post;

impl Endpoint for Post {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/mcp";
    const SUMMARY: &'static str = "A message of the Model Context Protocol, in revision 2026-07-28 or, after `initialize`, an earlier one.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = ();
    type Query = Empty;
    type Body = RawJson;
    type Answer = Sent;
    type Refusal = NotTaken;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Sent, NotTaken> {
        let RawJson(text) = given.body;
        post(asked, text).await.map(Sent)
    }
}

/// `GET /mcp`.
pub(crate) struct Listen;

impl Endpoint for Listen {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/mcp";
    const SUMMARY: &'static str =
        "What a session is told of, in revisions of the Model Context Protocol that have sessions.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Sent;
    type Refusal = NotTaken;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Sent, NotTaken> {
        let session = match session(&asked) {
            Ok(Some(session)) => session,
            Ok(None) => return Ok(no_session()),
            Err(refusal) => return Ok(Sent(refusal.response(None))),
        };
        let caller = match caller(&asked) {
            Ok(caller) => caller,
            Err(refusal) => return Ok(Sent(refusal.response(None))),
        };
        let told = listen::in_session(&asked.state.mcp.desk, &caller);
        let over = session.stream();
        Ok(Sent(stream::told(&asked.state, told, (over, None))))
    }
}

/// `DELETE /mcp`.
pub(crate) struct End;

impl Endpoint for End {
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/mcp";
    const SUMMARY: &'static str =
        "Ends a session, in revisions of the Model Context Protocol that have sessions.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Sent;
    type Refusal = NotTaken;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Sent, NotTaken> {
        match session(&asked) {
            Ok(Some(session)) => {
                asked.state.mcp.sessions.end(&session.id, &asked.signed.hash);
                Ok(Sent(bare(StatusCode::NO_CONTENT)))
            }
            Ok(None) => Ok(no_session()),
            Err(refusal) => Ok(Sent(refusal.response(None))),
        }
    }
}

/// In the stateless revision there is nothing but POST.
fn no_session() -> Sent {
    let session = headers::SESSION;
    let message =
        format!("this is for sessions; name one in `{session}`, or send a message with POST");
    let mut response = NotTaken::MethodNotAllowed(message).problem().into_response();
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    Sent(response)
}

/// An answer that is made elsewhere.
#[derive(Debug)]
pub(crate) struct Sent(Response);

impl Answer for Sent {
    fn describe(described: &mut Described<'_>) {
        described.json::<Map<String, Value>>(200, "The answer to a request.");
        described.text(200, "text/event-stream", "What is told meanwhile, and the answer.");
        described.empty(202, "A notification or an answer was taken.");
        described.empty(204, "The session is over.");
        for status in [400, 403, 404, 429, 500] {
            described.json::<Map<String, Value>>(status, "An error of the protocol.");
        }
    }

    fn respond(self) -> Response {
        self.0
    }
}

/// Takes one message.
async fn post(asked: Asked, text: String) -> Result<Response, NotTaken> {
    let read = parse_for(asked.signed.user(), text.len(), move || rpc::try_read(&text)).await;
    let message = match read.unwrap_or(Err(None)) {
        Ok(message) => message,
        Err(Some((id, error))) => {
            return Ok(Refused(StatusCode::BAD_REQUEST, error).response(id.as_ref()));
        }
        Err(None) => return Ok(bare(StatusCode::ACCEPTED)),
    };
    let session = match session(&asked) {
        Ok(session) => session,
        Err(refusal) => return Ok(refusal.response(id(&message))),
    };
    let call = match (message, session) {
        (message, Some(session)) => {
            let id = id(&message).cloned();
            let sent = in_session(asked, &session, message).await;
            return Ok(sent.unwrap_or_else(|refusal| refusal.response(id.as_ref())));
        }
        // Nobody waits for it.
        (Message::Answer(_) | Message::Call(Call { id: None, .. }), None) => {
            return Ok(bare(StatusCode::ACCEPTED));
        }
        (Message::Call(call), None) => call,
    };
    if begins_session(&asked.headers, &call) {
        return begin_session(&asked, call);
    }
    let id = call.id.clone().unwrap_or_default();
    let sent = stateless(asked, call).await;
    Ok(sent.unwrap_or_else(|refusal| refusal.response(Some(&id))))
}

/// Why a request is not carried out, in the form of the protocol: whoever speaks it takes a bare 404 for the end of
/// their session.
struct Refused(StatusCode, RpcError);

impl Refused {
    fn response(self, id: Option<&Value>) -> Response {
        let Self(status, error) = self;
        json(status, rpc::answer_without_null(id, Err(error)))
    }
}

impl From<RpcError> for Refused {
    fn from(error: RpcError) -> Self {
        Self(errors::status(&error), error)
    }
}

/// What is wrong with who they say they are, or for whom.
impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        let forbidden = matches!(problem.kind(), Kind::Forbidden);
        let status = if forbidden { StatusCode::FORBIDDEN } else { StatusCode::BAD_REQUEST };
        let error = RpcError::new(INVALID_REQUEST, problem.message());
        Self(status, error.with_data(serde_json::json!(problem.body())))
    }
}

/// A request that stands for itself.
async fn stateless(asked: Asked, call: Call) -> Result<Response, Refused> {
    let Call { id, method, params } = call;
    let (id, mut params) = (id.unwrap_or_default(), fields(params));
    let meta = RequestMeta::take(&mut params);
    check_version(&asked.headers, meta.as_ref())?;
    let revision = desk::stateless(meta.as_ref())?;
    headers::check(&asked.headers, &method, &params)?;
    let said = Said::read(&meta.unwrap_or_default(), &method, &mut params)?;
    if desk::is_gone(&method) {
        return Err(RpcError::method_not_found(&method).into());
    }
    let caller = caller(&asked)?;
    let desk = &asked.state.mcp.desk;
    let bound = bound(&said, &caller, asked.signed.hash);
    let tool = match method.as_str() {
        "server/discover" => return Ok(whole(&id, desk.discover())),
        "subscriptions/listen" => return Ok(subscribe(&asked, &caller, (&id, &params))?),
        "tools/call" => check_arguments(&asked, &caller, &params)?,
        _ => None,
    };
    let new = if said.is_silent() { Client::silent } else { Client::new };
    let most = || asked.state.gate.config().limits.open_questions.value;
    let waited = desk.waiting.find(&said, bound, asked.state.now(), most).await?;
    let exchange = Exchange {
        state: asked.state.clone(),
        signed: asked.signed.clone(),
        id,
        way: Way::Stateless(bound),
    };
    let takes = takes(&asked.headers);
    if let Some(taken) = waited {
        let back = said.back.unwrap_or_else(|| Back::empty(said.progress_token));
        return Ok(go_on(exchange, (taken, back), takes).await);
    }
    let (client, outs) = new(Arc::new(said.client));
    let context = Context {
        caller,
        revision,
        client,
        given: said.given,
        log_level: said.log_level,
        cancel: CancellationToken::new(),
        progress_token: ProgressToken::new(said.progress_token),
        tool,
        signed: Some(asked.signed),
    };
    let driven = desk.begin(context, (method, params), outs);
    Ok(stream::respond(exchange, driven, takes).await)
}

/// What the client listens to, until it hangs up.
fn subscribe(
    asked: &Asked,
    caller: &Caller,
    (id, params): (&Value, &Map<String, Value>),
) -> Result<Response, RpcError> {
    let told = listen::subscribed(&asked.state.mcp.desk, caller, (id, params))?;
    let last = desk::complete(Ok(listen::ended(id)));
    let last = rpc::answer(Some(id), last.map(Value::Object));
    Ok(stream::told(&asked.state, told, (CancellationToken::new(), Some(last))))
}

/// What must be the same when the client comes back, headers included: something between may look at them.
fn bound(said: &Said, caller: &Caller, who: Digest) -> Bound {
    let what = said.what;
    // It never does.
    if said.is_silent() && said.back.is_none() {
        return Bound { who, place: what, what };
    }
    let place = Digest::of_parts([caller.agent.as_bytes(), caller.session.as_bytes()]);
    Bound { who, place, what }
}

/// Goes on with a request whose client comes back, with answers or without.
async fn go_on(exchange: Exchange, (taken, back): (Taken, Back), takes: Takes) -> Response {
    let driven = match taken.resume(back) {
        Resumed::Done(answered) => return exchange.whole(answered),
        Resumed::GoesOn(driven) => driven,
        Resumed::Again(driven, ask) => match exchange.park(driven, ask) {
            Ok(told) => return exchange.whole(Ok(told)),
            Err(driven) => driven,
        },
    };
    stream::respond(exchange, driven, takes).await
}

fn check_version(headers: &HeaderMap, meta: Option<&RequestMeta>) -> Result<(), RpcError> {
    let header = headers::only(headers, headers::VERSION)?;
    let said = meta.and_then(RequestMeta::version);
    match (said, header) {
        (None, Some(header)) if is_earlier(header) => Err(RpcError::new(
            INVALID_REQUEST,
            format!("revision {header} has sessions; begin one with `initialize`"),
        )),
        (Some(said), Some(header)) if said != header => Err(RpcError::header_mismatch(format!(
            "`{}` names another revision than the message",
            headers::VERSION
        ))),
        (Some(_), None) => {
            Err(RpcError::header_mismatch(format!("the header `{}` is missing", headers::VERSION)))
        }
        (None, _) | (Some(_), Some(_)) => Ok(()),
    }
}

fn is_earlier(version: &str) -> bool {
    Revision::find(version).is_some_and(|revision| !revision.is_stateless())
}

/// The tool that is called, if the headers repeat what its arguments say.
fn check_arguments(
    asked: &Asked,
    caller: &Caller,
    params: &Map<String, Value>,
) -> Result<Option<Arc<ToolInfo>>, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let Some(tool) = asked.state.mcp.desk.offer.tool(caller, name) else { return Ok(None) };
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    headers::check_arguments(&asked.headers, &tool.parameters, arguments)?;
    Ok(Some(tool))
}

fn begins_session(headers: &HeaderMap, call: &Call) -> bool {
    let header = headers::only(headers, headers::VERSION);
    call.method == "initialize"
        && !RequestMeta::names_version(call.params.get("_meta"))
        && header.is_ok_and(|header| header.is_none_or(is_earlier))
}

/// `initialize`.
fn begin_session(asked: &Asked, call: Call) -> Result<Response, NotTaken> {
    let id = call.id.unwrap_or_default();
    let (revision, client) = match desk::begun(&fields(call.params)) {
        Ok(begun) => begun,
        Err(error) => return Ok(Refused::from(error).response(Some(&id))),
    };
    // Said now, and not with every call of the session.
    if let Err(refusal) = caller(asked) {
        return Ok(refusal.response(Some(&id)));
    }
    let (state, signed) = (&asked.state, &asked.signed);
    let config = state.gate.config();
    let server = &config.server;
    let most = Most {
        all: server.mcp_sessions.value,
        per_user: server.mcp_sessions_per_user.value,
        idle: server.mcp_session_idle.value,
    };
    let session = state.mcp.sessions.begin((signed.hash, signed.user()), (revision, client), most);
    let session = session.ok_or_else(|| {
        NotTaken::Unavailable(
            "too many sessions of MCP clients are open; try again later".to_owned(),
        )
    })?;
    let result = state.mcp.desk.initialize(revision);
    let mut response = answered(&id, Ok(result));
    let name = HeaderValue::from_str(&session.id);
    response
        .headers_mut()
        .extend(name.map(|name| (header::HeaderName::from_static(headers::SESSION), name)));
    Ok(response)
}

/// A message of a session.
async fn in_session(
    asked: Asked,
    session: &Arc<Session>,
    message: Message,
) -> Result<Response, Refused> {
    match headers::only(&asked.headers, headers::VERSION)? {
        Some(version) if !is_earlier(version) => {
            return Err(RpcError::unsupported_version(version).into());
        }
        _ => {}
    }
    let Call { id, method, params } = match message {
        Message::Answer(answer) => {
            session.pending.answered(&answer.id, answer.result);
            return Ok(bare(StatusCode::ACCEPTED));
        }
        Message::Call(call) => call,
    };
    let Some(id) = id else {
        if method == "notifications/cancelled" {
            session.cancel(params.get("requestId").unwrap_or(&Value::Null));
        }
        return Ok(bare(StatusCode::ACCEPTED));
    };
    let params = fields(params);
    let desk = &asked.state.mcp.desk;
    match method.as_str() {
        "ping" => Ok(answered(&id, Ok(Map::new()))),
        "initialize" => {
            let error = RpcError::new(INVALID_REQUEST, "this session has begun already");
            Ok(answered(&id, Err(error)))
        }
        "logging/setLevel" if desk.logs() => {
            let level = desk::level(&params).map(|level| session.set_log_level(level));
            Ok(answered(&id, level.map(|()| Map::new())))
        }
        _ => work_in_session(asked, session, id, (method, params)).await,
    }
}

/// A request of a session that takes a while, or may.
async fn work_in_session(
    asked: Asked,
    session: &Arc<Session>,
    id: Value,
    (method, mut params): (String, Map<String, Value>),
) -> Result<Response, Refused> {
    let meta = RequestMeta::take(&mut params).unwrap_or_default();
    let (client, outs) = Client::new(session.client.clone());
    let cancel = session.over.child_token();
    let context = Context {
        caller: caller(&asked)?,
        revision: session.revision,
        client,
        given: Map::new(),
        log_level: session.log_level(),
        cancel: cancel.clone(),
        progress_token: ProgressToken::new(meta.progress_token().cloned()),
        tool: None,
        signed: Some(asked.signed.clone()),
    };
    let Some(noted) = session.note(&id, &cancel) else {
        return Ok(answered(&id, Err(RpcError::under_way())));
    };
    let driven: Driven = asked.state.mcp.desk.begin(context, (method, params), outs);
    let (state, signed) = (asked.state, asked.signed);
    let way = Way::Session(session.clone(), noted);
    let exchange = Exchange { state, signed, id, way };
    Ok(stream::respond(exchange, driven, takes(&asked.headers)).await)
}

/// Who makes calls: as for every call over HTTP, in a session of the token's own if none is named.
fn caller(asked: &Asked) -> Result<Caller, Refused> {
    let names = auth::names(&asked.headers)?;
    let token = &asked.signed.token;
    let own = match token.new.agents.as_deref() {
        Some([only]) => Some(only.as_str()),
        _ => None,
    };
    let usual = format!("{CHANNEL}:{}", token.id.short());
    let names = CallerNames {
        agent: names.agent.or(own),
        session: names.session.or(Some(&usual)),
        ..names
    };
    let caller = asked.signed.caller(&asked.state.gate.config(), names)?;
    Ok(over_mcp(caller))
}

/// The session a request names, which must be there.
fn session(asked: &Asked) -> Result<Option<Arc<Session>>, Refused> {
    let Some(id) = headers::only(&asked.headers, headers::SESSION)? else { return Ok(None) };
    let found = asked.state.mcp.sessions.find(id, &asked.signed.hash);
    let gone = "there is no such session; begin one with `initialize`";
    let gone = || Refused(StatusCode::NOT_FOUND, RpcError::new(INVALID_REQUEST, gone));
    found.map(Some).ok_or_else(gone)
}

fn id(message: &Message) -> Option<&Value> {
    match message {
        Message::Call(call) => call.id.as_ref(),
        Message::Answer(_) => None,
    }
}

fn takes(headers: &HeaderMap) -> Takes {
    let events = accepts(headers, &["text/event-stream", "*/*"]);
    if events { Takes::Pieces } else { Takes::Whole }
}

/// A result of the stateless revision.
fn whole(id: &Value, result: Map<String, Value>) -> Response {
    answered(id, desk::complete(Ok(result)))
}

fn answered(id: &Value, answered: super::offer::Answered) -> Response {
    json(StatusCode::OK, rpc::answer(Some(id), answered.map(Value::Object)))
}

pub(super) fn json(status: StatusCode, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn bare(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
