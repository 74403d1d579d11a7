//! What Toolgate offers: the tools a caller has, through the gate.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use agent::has_agent;
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

/// So many lists are kept by the view they are of.
const MOST_LISTS: usize = 256;

/// The tools of the gate.
#[derive(Debug)]
pub struct Tools {
    gate: Gate,
    events: Arc<Events>,
    lists: Arc<Lists>,
}

impl Tools {
    /// All tools that `gate` has.
    pub fn new(gate: Gate, events: Arc<Events>) -> Arc<Self> {
        Arc::new(Self { gate, events, lists: Arc::default() })
    }

    /// An agent that was removed has no rules any more. Whoever comes with a token was looked at before.
    fn check_agent(&self, context: &Context) -> Result<(), RpcError> {
        let agent = &*context.caller.agent;
        if context.signed.is_some() || has_agent(&self.gate.config(), agent) {
            return Ok(());
        }
        let agent = agent.escape_debug();
        Err(RpcError::wrong_params(format!(
            "agent `{agent}` was removed, or cannot work any more; `toolgate agents list` shows those there are"
        )))
    }

    fn list(&self, context: &Context, params: &Map<String, Value>) -> Answered {
        if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
            return Err(RpcError::wrong_params("`cursor` is none that was given here"));
        }
        let list = self.lists.of(&self.gate.view(&context.caller));
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
        let Some(Value::String(name)) = params.remove("name") else {
            return Err(RpcError::wrong_params("`name` must name a tool"));
        };
        let tool = match &context.tool {
            Some(tool) => Some(tool.clone()),
            None => self.tool(&context.caller, &name),
        };
        // Names that not every client takes go out in another form.
        let name = tool.as_ref().map_or(&*name, |tool| &tool.name);
        let request = Request::new(name, params.remove("arguments").unwrap_or_default());
        let outcome = self.outcome(context, request).await;
        if let Outcome::Error { error_type: kind @ "tool_not_available", message, .. } = &outcome {
            let error = RpcError::wrong_params(message.clone());
            return Err(error.with_data(json!({"error_type": kind})));
        }
        let meta = json!({CALL_ID: outcome.meta().call_id});
        let most = self.gate.config().limits.model_output_bytes.value;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut result = provider::mcp_result(outcome, tool.as_deref(), most);
        result.insert("_meta".to_owned(), meta);
        Ok(result)
    }

    /// What became of a call.
    async fn outcome(&self, context: &Context, mut request: Request) -> Outcome {
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
        calling::call_as(&self.gate, made_with, &context.caller, request).await
    }

    /// Who may answer for the owner about a call of their own: the owner's clients, if the owner said so
    /// of the token, and programs that the owner starts themselves.
    fn note_client(&self, context: &Context, call: tool::CallId) -> Option<Noted> {
        if !context.client.info.shows_forms() {
            return None;
        }
        let trusted = context.signed.as_ref().is_none_or(|signed| signed.may(Scope::Elicit));
        let owner = context.caller.role == Role::Owner;
        (trusted && owner).then(|| self.events.asking().note(call, context.client.clone()))
    }
}

/// The definitions of what each caller has.
#[derive(Debug, Default)]
struct Lists {
    definitions: Definitions,
    by_view: Mutex<ByView>,
}

/// By the address of the view, which shares it with no other while it is kept here.
type ByView = HashMap<usize, (Arc<View>, Arc<DefinitionList>)>;

impl Lists {
    /// The definitions of the tools in a view, put together once.
    fn of(&self, view: &Arc<View>) -> Arc<DefinitionList> {
        let key = Arc::as_ptr(view).addr();
        let by_view = || self.by_view.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, list)) = by_view().get(&key) {
            return list.clone();
        }
        let tools: Vec<_> = view.tools().map(|entry| entry.info().clone()).collect();
        let list = self.definitions.list(Format::Mcp, &tools);
        let mut known = by_view();
        // What held before the last change nobody asks for any more.
        known.retain(|_, (other, _)| other.generation() == view.generation());
        if known.len() >= MOST_LISTS {
            known.clear();
        }
        known.insert(key, (view.clone(), list.clone()));
        list
    }
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
            self.check_agent(context)?;
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
        let lists = self.lists.clone();
        // There are many who listen, so none of them keeps a list.
        let known = lists.of(&gate.view(&caller)).digest();
        let state = (gate, caller, changes, lists, known);
        let told = stream::unfold(state, |(gate, caller, mut changes, lists, known)| async move {
            loop {
                changes.changed().await.ok()?;
                let now = lists.of(&gate.view(&caller)).digest();
                if now != known {
                    return Some((Change::Tools, (gate, caller, changes, lists, now)));
                }
            }
        });
        told.boxed()
    }

    fn tool(&self, caller: &Caller, name: &str) -> Option<Arc<ToolInfo>> {
        let view = self.gate.view(caller);
        let found = match view.find(name) {
            // Nearly no names go out in another form.
            Found::Unknown => view.find(&self.lists.of(&view).names.inward(name)),
            found @ (Found::Tool(_) | Found::Withheld(..) | Found::Unavailable(..)) => found,
        };
        match found {
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

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[tokio::test]
    async fn a_list_is_put_together_once_for_all_who_want_it_and_kept_while_it_holds() {
        let folder = TempDir::new().unwrap();
        let gate = toolgate::Gate::builder()
            .data(folder.path().join("data"))
            .workspace(folder.path())
            .tools(toolgate::builtin())
            .build()
            .unwrap();
        let lists = Lists::default();
        let [one, other] = [Caller::owner("main"), Caller::member("ada", "main")];
        let of = |caller: &Caller| lists.of(&gate.inner().view(caller));
        let first = of(&one);
        assert!(Arc::ptr_eq(&first, &of(&one)));
        assert_ne!(first.digest(), of(&other).digest());
        assert_eq!(lists.by_view.lock().unwrap().len(), 2);
        let config = config::parse("[tools]\ndeny = [\"read\"]", "t.toml").unwrap();
        gate.reload(config).unwrap();
        assert_ne!(first.digest(), of(&one).digest());
        assert_eq!(lists.by_view.lock().unwrap().len(), 1, "what held before is not kept");
    }
}
