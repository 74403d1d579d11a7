//! What Toolgate offers: the tools a caller has, through the gate.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use gate::{Found, Gate, Request, View};
use provider::{DefinitionList, Definitions, Format};
use serde_json::{Map, Value, json};
use store::Scope;
use tool::{BoxFuture, Caller, Outcome, Role, ToolInfo, UpdateSink, Updates};

use super::{
    asking::Noted,
    client::{Client, ProgressToken},
    offer::{Answered, Change, Context, Offer},
};
use crate::{calling, events::Events, rpc::RpcError};

/// So long clients may take a list for true, in milliseconds.
const FRESH: u32 = 10_000;
/// Where a result names the call, for people who want to look it up or take it back.
const CALL_ID: &str = "toolgate/call_id";

/// The tools of the gate.
#[derive(Debug)]
pub struct Tools {
    gate: Gate,
    events: Arc<Events>,
    definitions: Definitions,
}

impl Tools {
    /// All tools that `gate` has.
    pub fn new(gate: Gate, events: Arc<Events>) -> Arc<Self> {
        Arc::new(Self { gate, events, definitions: Definitions::default() })
    }

    fn list(&self, context: &Context, params: &Map<String, Value>) -> Answered {
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(RpcError::wrong_params("`cursor` is none that was given here"));
        }
        let list = listed(&self.definitions, &self.gate.view(&context.caller));
        let mut result = Map::new();
        result.insert("tools".to_owned(), list.value.clone());
        if context.revision.is_stateless() {
            result.insert("ttlMs".to_owned(), json!(FRESH));
            result.insert("cacheScope".to_owned(), json!("private"));
        }
        Ok(result)
    }

    /// Calls a tool. Unknown ones are an error of the protocol, everything else is a result.
    pub async fn call(&self, context: &Context, mut params: Map<String, Value>) -> Answered {
        let outcome = self.outcome(context, &mut params).await?;
        if let Outcome::Error { error_type: kind @ "tool_not_available", message, .. } = &outcome {
            let error = RpcError::wrong_params(message.clone());
            return Err(error.with_data(json!({"error_type": kind})));
        }
        let meta = json!({CALL_ID: outcome.meta().call_id});
        let mut result = provider::mcp_result(outcome);
        result.insert("_meta".to_owned(), meta);
        Ok(result)
    }

    /// What became of a call.
    async fn outcome(
        &self,
        context: &Context,
        params: &mut Map<String, Value>,
    ) -> Result<Outcome, RpcError> {
        let Some(Value::String(name)) = params.remove("name") else {
            return Err(RpcError::wrong_params("`name` must name a tool"));
        };
        let name = self.own_name(&context.caller, name);
        let mut request = Request::new(&name, params.remove("arguments").unwrap_or_default());
        let id = self.gate.next_id();
        request.id = Some(id);
        request.cancel = context.cancel.clone();
        if context.progress_token.is_some() {
            let (client, token) = (context.client.clone(), context.progress_token.clone());
            let progress = Progress { client, token, sent: AtomicU64::new(0) };
            request.updates = Updates::to(Arc::new(progress));
        }
        let _asked = self.note_client(context, id);
        let made_with = (&*self.events, context.signed.as_ref());
        Ok(calling::call_as(&self.gate, made_with, &context.caller, request).await)
    }

    /// Who may answer for the owner about a call of their own: the owner's clients, if the owner said so
    /// of the token, and programs that the owner starts themselves.
    fn note_client(&self, context: &Context, call: tool::CallId) -> Option<Noted> {
        let trusted = context.signed.as_ref().is_none_or(|signed| signed.may(Scope::Elicit));
        let owner = context.caller.role == Role::Owner;
        (trusted && owner).then(|| self.events.asking().note(call, context.client.clone()))
    }

    /// What we call a tool. Names that not every client takes go out in another form, and nearly all do
    /// not.
    fn own_name(&self, caller: &Caller, name: String) -> String {
        let view = self.gate.view(caller);
        match view.find(&name) {
            Found::Unknown => listed(&self.definitions, &view).names.inward(&name).into_owned(),
            Found::Tool(_) | Found::Withheld(..) | Found::Unavailable(..) => name,
        }
    }
}

fn listed(definitions: &Definitions, view: &View) -> Arc<DefinitionList> {
    let tools: Vec<_> = view.tools().map(|entry| entry.info().clone()).collect();
    definitions.list(Format::Mcp, &tools)
}

impl Offer for Tools {
    fn capabilities(&self) -> Value {
        json!({"tools": {"listChanged": true}})
    }

    fn handle<'a>(
        &'a self,
        context: &'a Context,
        method: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Answered> {
        Box::pin(async move {
            match method {
                "tools/list" => self.list(context, &params),
                "tools/call" => self.call(context, params).await,
                _ => Err(RpcError::method_not_found(method)),
            }
        })
    }

    /// Told when the tools are others for this caller, whatever else changed.
    fn changes(&self, caller: &Caller) -> BoxStream<'static, Change> {
        let (gate, caller, changes) = (self.gate.clone(), caller.clone(), self.gate.changes());
        let definitions = Definitions::default();
        let known = listed(&definitions, &gate.view(&caller)).json.clone();
        let state = (gate, caller, changes, definitions, known);
        let told =
            stream::unfold(state, |(gate, caller, mut changes, definitions, known)| async move {
                loop {
                    changes.changed().await.ok()?;
                    let now = listed(&definitions, &gate.view(&caller)).json.clone();
                    if now != known {
                        return Some((Change::Tools, (gate, caller, changes, definitions, now)));
                    }
                }
            });
        told.boxed()
    }

    fn tool(&self, caller: &Caller, name: &str) -> Option<Arc<ToolInfo>> {
        // By the name it is called by, or what is asked of its headers would not be looked at.
        match self.gate.view(caller).find(&self.own_name(caller, name.to_owned())) {
            Found::Tool(entry) => Some(entry.info().clone()),
            Found::Withheld(..) | Found::Unavailable(..) | Found::Unknown => None,
        }
    }
}

/// Partial results, as progress of the request.
#[derive(Debug)]
struct Progress {
    client: Client,
    token: ProgressToken,
    sent: AtomicU64,
}

impl UpdateSink for Progress {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let Some(token) = self.token.now() else { return };
            let progress = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
            let params = json!({"progressToken": token, "progress": progress, "message": text});
            self.client.tell("notifications/progress", params).await;
        })
    }
}
