//! Where every request of the protocol is taken in, whatever transport it came by.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;
use tool::{Caller, Digest};

use super::{
    client::Out,
    driven::{Driven, Reins},
    offer::{Answered, Change, Context, Offer},
    request::{ClientInfo, RequestMeta},
    revision::Revision,
    waiting::Waiting,
};
use crate::{ServerError, events::fields, rpc::RpcError};

/// The channel of calls that come this way, for policy.
pub(super) const CHANNEL: &str = "mcp";

/// A caller whose calls come over MCP. A channel that it names stays, with MCP as the surface before it.
pub(super) fn over_mcp(caller: Caller) -> Caller {
    match &caller.surface {
        Some(_) => Caller { surface: Some(CHANNEL.into()), ..caller },
        None => Caller { channel: Some(CHANNEL.into()), ..caller },
    }
}
/// Methods of earlier revisions that the stateless one has no more.
const GONE: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// How much something that is logged matters, from the least on.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// What clients may want to tell their models.
const INSTRUCTIONS: &str = "Every call passes Toolgate's gate: it is checked against policy, may be put to a person, \
     runs in isolation and is recorded. A result that says `permission_denied` was refused on purpose: \
     do not try to get around it.";

/// Where requests are taken in.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(super) offer: Arc<dyn Offer>,
    pub(super) waiting: Arc<Waiting>,
    /// Nobody comes back to a desk that is gone.
    _over: DropGuard,
}

impl Desk {
    pub(crate) fn new(offer: Arc<dyn Offer>) -> Result<Self, ServerError> {
        let waiting = Arc::new(Waiting::new()?);
        Ok(Self { offer, _over: waiting.until_dropped(), waiting })
    }

    /// Begins what a request wants.
    pub(super) fn begin(
        &self,
        context: Context,
        (method, params): (String, Map<String, Value>),
        outs: Option<mpsc::Receiver<Out>>,
    ) -> Driven {
        let offer = self.offer.clone();
        let (cancel, progress_token) = (context.cancel.clone(), context.progress_token.clone());
        let work = async move { offer.handle(&context, &method, params).await };
        Driven::new(work, outs, Reins { cancel, progress_token })
    }

    /// What `initialize` answers: the revision, and what is offered.
    pub(super) fn initialize(&self, revision: Revision) -> Map<String, Value> {
        fields(json!({
            "protocolVersion": revision.name(),
            "capabilities": self.offer.capabilities(),
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        }))
    }

    /// What `server/discover` answers.
    pub(super) fn discover(&self) -> Map<String, Value> {
        fields(json!({
            "supportedVersions": Revision::ALL.map(Revision::name),
            "capabilities": self.offer.capabilities(),
            "instructions": INSTRUCTIONS,
            "ttlMs": 60_000,
            "cacheScope": "private",
        }))
    }

    /// Which changes a client is told of: those it wants and that are told here.
    pub(super) fn told(&self, wanted: &Value) -> Vec<Change> {
        let capabilities = self.offer.capabilities();
        let tells = |change: &Change| {
            let declared = capabilities.get(change.capability());
            declared.and_then(|declared| declared.get("listChanged")) == Some(&Value::Bool(true))
        };
        let wants = |change: &Change| wanted.get(change.wanted()) == Some(&Value::Bool(true));
        Change::ALL.into_iter().filter(|change| tells(change) && wants(change)).collect()
    }

    pub(super) fn logs(&self) -> bool {
        self.offer.capabilities().get("logging").is_some()
    }
}

/// From which level on a client wants to be told what is logged.
pub(super) fn level(params: &Map<String, Value>) -> Result<&str, RpcError> {
    let level = params.get("level").and_then(Value::as_str);
    level.filter(|level| LEVELS.contains(level)).ok_or_else(|| {
        RpcError::wrong_params(format!("`level` must be one of {}", LEVELS.join(", ")))
    })
}

/// What `initialize` says: what its client speaks, and who it is.
pub(super) fn begun(params: &Map<String, Value>) -> Result<(Revision, ClientInfo), RpcError> {
    let wanted = params.get("protocolVersion").and_then(Value::as_str);
    let wanted =
        wanted.ok_or_else(|| RpcError::wrong_params("`protocolVersion` must name a revision"))?;
    let client = ClientInfo::new(params.get("clientInfo"), params.get("capabilities"));
    Ok((Revision::agreed(wanted), client))
}

/// Whether the stateless revision has a method no more.
pub(super) fn is_gone(method: &str) -> bool {
    GONE.contains(&method)
}

fn server_info() -> Value {
    json!({"name": "toolgate", "title": "Toolgate", "version": env!("CARGO_PKG_VERSION")})
}

/// What a result of the stateless revision says besides.
pub(super) fn complete(answered: Answered) -> Answered {
    let mut result = answered?;
    result.entry("resultType").or_insert_with(|| json!("complete"));
    let meta = result.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(SERVER.to_owned(), server_info());
    }
    Ok(result)
}

/// A request of the stateless revision, taken apart.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) client: ClientInfo,
    pub(super) progress_token: Option<Value>,
    pub(super) log_level: Option<String>,
    /// What the client brings back, if it comes back.
    pub(super) back: Option<Back>,
    /// Answers without a name of what waits for them.
    pub(super) given: Map<String, Value>,
    /// What is wanted, for comparing when the client comes back.
    pub(super) what: Digest,
}

/// What a client comes back with.
#[derive(Debug)]
pub(super) struct Back {
    pub(super) state: String,
    pub(super) answers: Map<String, Value>,
    pub(super) progress_token: Option<Value>,
}

impl Back {
    /// With nothing but the wish to be asked again.
    pub(super) fn empty(progress_token: Option<Value>) -> Self {
        Self { state: String::new(), answers: Map::new(), progress_token }
    }
}

impl Described {
    /// Whether anything can be told or asked while the request is under way.
    pub(super) fn is_silent(&self) -> bool {
        self.progress_token.is_none() && self.log_level.is_none() && !self.client.answers()
    }

    /// Whether an earlier request that is the same can stand for this one: it brings nothing of its own.
    pub(super) fn may_be_asked_again(&self) -> bool {
        self.client.shows_forms() && self.given.is_empty()
    }

    /// Reads what a request says about itself; `meta` is its `_meta`.
    pub(super) fn read(
        meta: &RequestMeta,
        method: &str,
        params: &mut Map<String, Value>,
    ) -> Result<Self, RpcError> {
        let progress_token = meta.progress_token().cloned();
        let log_level = meta.log_level().map(str::to_owned);
        let client = meta.client()?;
        let answers = match params.remove("inputResponses") {
            None => None,
            Some(Value::Object(answers)) => Some(answers),
            Some(_) => return Err(RpcError::wrong_params("`inputResponses` must be an object")),
        };
        let state = match params.remove("requestState") {
            None => None,
            Some(Value::String(state)) => Some(state),
            Some(_) => return Err(RpcError::wrong_params("`requestState` must be a string")),
        };
        // Only of what may wait; the rest never comes back.
        let what = if client.answers() || state.is_some() {
            Digest::of(json!([method, params]).to_string())
        } else {
            Digest::of("")
        };
        let (back, given) = match (state, answers) {
            (Some(state), answers) => {
                let (answers, progress_token) =
                    (answers.unwrap_or_default(), progress_token.clone());
                (Some(Back { state, answers, progress_token }), Map::new())
            }
            (None, given) => (None, given.unwrap_or_default()),
        };
        Ok(Self { client, progress_token, log_level, back, given, what })
    }
}

/// The revision that a request of the stateless kind names.
pub(super) fn stateless(meta: Option<&RequestMeta>) -> Result<Revision, RpcError> {
    let version = meta.and_then(RequestMeta::version).ok_or_else(super::request::no_meta)?;
    let known = Revision::find(version).filter(|revision| revision.is_stateless());
    known.ok_or_else(|| RpcError::unsupported_version(version))
}
