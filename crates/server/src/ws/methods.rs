//! What can be asked for over a WebSocket.

use std::{future::ready, sync::Arc};

use gate::Request;
use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use store::{ApprovalId, Scope};
use tool::{BoxFuture, CallId, UpdateSink, Updates};

use super::{
    connection::{InFlight, Names},
    rpc::{RpcError, refused, result},
    sessions,
};
use crate::{
    api::{self, Answering, Empty, Fields, Listing, Paging},
    auth::{CallerNames, Signed},
    calling,
    events::{Events, Queue, fields, is_permission, kind},
    problem::{Kind, Problem},
    state::State,
};

/// What a method works with.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) state: State,
    pub(super) signed: Signed,
    pub(super) names: Arc<Names>,
    /// Where notifications of this connection go.
    pub(super) queue: Queue,
    /// The id of the request.
    pub(super) id: Option<Value>,
    /// The calls this connection has made and waits for.
    pub(super) in_flight: Arc<InFlight>,
}

pub(super) type Answered = Result<Value, RpcError>;
type Run = fn(Context, Value) -> BoxFuture<'static, Answered>;

/// What can be asked for.
struct Method {
    name: &'static str,
    /// What the token must be for.
    needs: Option<Scope>,
    run: Run,
}

const fn method(name: &'static str, needs: Option<Scope>, run: Run) -> Method {
    Method { name, needs, run }
}

/// Methods that are the connection's own business.
const OWN: [&str; 2] = ["authenticate", "events.subscribe"];

/// Every other method. What answers questions checks the scope where a refusal is recorded.
const METHODS: &[Method] = &[
    method("agents.list", None, |context, params| Box::pin(sessions::list_agents(context, params))),
    method("approvals.list", None, |context, params| Box::pin(list_approvals(context, params))),
    method("approvals.resolve", None, |context, params| {
        Box::pin(resolve(context, params, Asking::AboutCalls))
    }),
    method("calls.cancel", Some(Scope::Call), |context, params| {
        Box::pin(ready(cancel(&context, params)))
    }),
    method("permissions.list", None, |context, params| Box::pin(list_permissions(context, params))),
    method("permissions.resolve", None, |context, params| {
        Box::pin(resolve(context, params, Asking::ForPermissions))
    }),
    method("ping", None, |_, params| Box::pin(ready(ping(params)))),
    method("sessions.history", None, |context, params| {
        Box::pin(sessions::history(context, params))
    }),
    method("sessions.list", None, |context, params| Box::pin(sessions::list(context, params))),
    method("sessions.send", Some(Scope::Call), |context, params| {
        Box::pin(sessions::send(context, params))
    }),
    method("sessions.stop", Some(Scope::Call), |context, params| {
        Box::pin(sessions::stop(context, params))
    }),
    method("tools.call", Some(Scope::Call), |context, params| Box::pin(call(context, params))),
    method("tools.list", None, |context, params| Box::pin(ready(list_tools(&context, params)))),
];

/// The names of all methods, and the scope each needs.
pub(super) fn all() -> Vec<(&'static str, Option<Scope>)> {
    let own = OWN.map(|name| (name, None));
    METHODS.iter().map(|method| (method.name, method.needs)).chain(own).collect()
}

/// Does what `name` says.
pub(super) async fn handle(context: Context, name: &str, params: Value) -> Answered {
    let Some(method) = METHODS.iter().find(|method| method.name == name) else {
        let names: Vec<_> = all().into_iter().map(|(name, _)| name).collect();
        return Err(RpcError::unknown_method(name, &names));
    };
    context.signed.check_scope(method.needs)?;
    (method.run)(context, params).await
}

/// Reads params; what is not expected is refused with the nearest name.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(params: Value) -> Result<T, RpcError> {
    let names: Vec<_> =
        params.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    serde_json::from_value(params).map_err(|error| {
        let known = Fields::of::<T>();
        let unknown = names.iter().find_map(|name| known.check(name).err());
        RpcError::invalid_params(unknown.unwrap_or_else(|| error.to_string()))
    })
}

fn ping(params: Value) -> Answered {
    read::<Empty>(params)?;
    Ok(json!({"pong": true}))
}

fn list_tools(context: &Context, params: Value) -> Answered {
    let whom: Whom = read(params)?;
    let gate = &context.state.gate;
    let names = context.names.or(whom.names());
    let caller = context.signed.caller(&gate.config(), names)?;
    result(&api::list_tools(&gate.view(&caller), &context.signed))
}

/// On whose behalf.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Whom {
    agent: Option<String>,
    session: Option<String>,
    /// Who wrote the message behind it, for tokens that may name senders.
    sender: Option<String>,
    /// The chat service it came by, for tokens that may name senders.
    channel: Option<String>,
}

impl Whom {
    fn names(&self) -> CallerNames<'_> {
        CallerNames {
            agent: self.agent.as_deref(),
            session: self.session.as_deref(),
            sender: self.sender.as_deref(),
            channel: self.channel.as_deref(),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolCall {
    name: String,
    #[serde(default)]
    arguments: Value,
    agent: Option<String>,
    session: Option<String>,
    /// Who wrote the message behind it, for tokens that may name senders.
    sender: Option<String>,
    /// The chat service it came by, for tokens that may name senders.
    channel: Option<String>,
}

async fn call(context: Context, params: Value) -> Answered {
    let ToolCall { name, arguments, agent, session, sender, channel } = read(params)?;
    let whom = Whom { agent, session, sender, channel };
    let Context { state, signed, names, queue, id, in_flight } = context;
    let names = names.or(whom.names());
    let caller = signed.caller(&state.gate.config(), names)?;
    let mut request = Request::new(&name, arguments);
    let call = state.gate.next_id();
    request.id = Some(call);
    let sink = ToConnection { events: state.events.clone(), queue, call, id: id.clone() };
    request.updates = Updates::to(Arc::new(sink));
    let _known = in_flight.note(id, call);
    result(&calling::call(&state, &signed, &caller, request).await)
}

/// Partial results go to whoever made the call.
#[derive(Debug)]
struct ToConnection {
    events: Arc<Events>,
    queue: Queue,
    call: CallId,
    id: Option<Value>,
}

impl UpdateSink for ToConnection {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        let params = json!({"call_id": self.call, "request": self.id, "text": text});
        Box::pin(self.events.tell_one(&self.queue, kind::CALL_UPDATED, fields(params)))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Cancelling {
    /// The call,
    #[schemars(with = "Option<String>")]
    call_id: Option<CallId>,
    /// or the request of this connection that made it.
    request: Option<Value>,
}

fn cancel(context: &Context, params: Value) -> Answered {
    let Cancelling { call_id, request } = read(params)?;
    let call = match (call_id, request) {
        (Some(call), None) => Some(call),
        (None, Some(request)) => context.in_flight.call(&request),
        _ => return Err(RpcError::invalid_params("either `call_id` or `request` is expected")),
    };
    let (running, sees) = (&context.state.events.running, context.signed.sees());
    match call.filter(|call| running.cancel(*call, &sees)) {
        Some(call) => Ok(json!({"call_id": call, "cancelled": true})),
        None => Err(Problem::new(Kind::NotFound, "no such call runs here").into()),
    }
}

async fn list_approvals(context: Context, params: Value) -> Answered {
    let wanted: Listing = read(params)?;
    let listed = api::list_approvals(&context.state, &context.signed, wanted).await;
    result(&listed.map_err(refused)?)
}

async fn list_permissions(context: Context, params: Value) -> Answered {
    let wanted: Paging = read(params)?;
    let listed = api::list_permissions(&context.state, &context.signed, wanted).await;
    result(&listed.map_err(refused)?)
}

/// What a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asking {
    AboutCalls,
    ForPermissions,
}

/// The question, and the answer beside it.
async fn resolve(context: Context, mut params: Value, asking: Asking) -> Answered {
    let id = params.as_object_mut().and_then(|fields| fields.remove("id"));
    let id = id.as_ref().and_then(Value::as_str);
    let id = id.ok_or_else(|| RpcError::invalid_params("`id` must name the question"))?;
    let id: ApprovalId = id.parse().map_err(|error: String| RpcError::invalid_params(error))?;
    let answering: Answering = read(params)?;
    let Context { state, signed, .. } = context;
    let db = state.gate.db().await.map_err(Problem::internal)?;
    let found = db.approval(&id, state.now()).await.map_err(Problem::internal)?;
    let kind = |rule: &str| {
        if is_permission(rule) { Asking::ForPermissions } else { Asking::AboutCalls }
    };
    let found = found.filter(|found| api::is_seen(&state, &signed, found));
    if found.is_some_and(|found| kind(&found.request.rule) != asking) {
        let (other, method) = match asking {
            Asking::AboutCalls => ("asks for a permission", "permissions.resolve"),
            Asking::ForPermissions => ("is about a call", "approvals.resolve"),
        };
        let message = format!("the question {other}; answer it with `{method}`");
        return Err(RpcError::invalid_params(message));
    }
    result(&api::answer(&state, &signed, &id, answering).await.map_err(refused)?)
}
