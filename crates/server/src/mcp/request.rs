//! What a request says about itself and its client.

use serde_json::{Map, Value};

use super::revision::Revision;
use crate::rpc::{RpcError, is_id};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A client is called by no more letters than this.
const MOST_NAME: usize = 64;

/// What may be asked of a client.
const ASKABLE: [&str; 3] = ["elicitation", "sampling", "roots"];

/// Who a client says it is, and what it says it can do. Nothing is allowed because of it.
#[derive(Debug, Clone, Default)]
pub struct ClientInfo {
    /// What it calls itself.
    pub name: String,
    /// Of [`ASKABLE`], in that order.
    declared: [bool; 3],
    forms: bool,
}

impl ClientInfo {
    pub(super) fn new(info: Option<&Value>, capabilities: Option<&Value>) -> Self {
        let name = info.and_then(|info| info.get("name")).and_then(Value::as_str);
        let name = name.unwrap_or("a client").chars().filter(|c| !c.is_control());
        let capability =
            |name| capabilities.and_then(|all| all.get(name)).and_then(Value::as_object);
        let modes = capability("elicitation");
        Self {
            name: name.take(MOST_NAME).collect(),
            // Only what is looked at: a client may declare as much as it likes.
            declared: ASKABLE.map(|name| capability(name).is_some()),
            // An empty declaration means that, too.
            forms: modes.is_some_and(|modes| modes.is_empty() || modes.contains_key("form")),
        }
    }

    /// Whether it has declared that it can be asked for something: `elicitation`, `sampling` or `roots`.
    pub fn has(&self, capability: &str) -> bool {
        ASKABLE.iter().zip(self.declared).any(|(name, declared)| declared && *name == capability)
    }

    /// Whether it shows forms to its person.
    pub(super) const fn shows_forms(&self) -> bool {
        self.forms
    }

    /// Whether anything can be asked of it.
    pub(super) fn answers(&self) -> bool {
        self.declared.contains(&true)
    }
}

/// `_meta` of a request.
#[derive(Debug, Default)]
pub(super) struct RequestMeta(Map<String, Value>);

impl RequestMeta {
    /// Takes it out of the parameters.
    pub(super) fn take(params: &mut Map<String, Value>) -> Option<Self> {
        match params.remove("_meta") {
            Some(Value::Object(meta)) => Some(Self(meta)),
            _ => None,
        }
    }

    /// Whether `_meta` of a request names a revision.
    pub(super) fn names_version(meta: Option<&Value>) -> bool {
        meta.is_some_and(|meta| meta.get(VERSION).is_some())
    }

    /// The revision it names, if it names one.
    pub(super) fn version(&self) -> Option<&str> {
        self.0.get(VERSION).and_then(Value::as_str)
    }

    /// Names the request in notifications about its progress.
    pub(super) fn progress_token(&self) -> Option<&Value> {
        self.0.get("progressToken").filter(|token| is_id(token))
    }

    pub(super) fn log_level(&self) -> Option<&str> {
        self.0.get(LOG_LEVEL).and_then(Value::as_str)
    }

    /// The client, as every request of the stateless revision describes it.
    pub(super) fn client(&self) -> Result<ClientInfo, RpcError> {
        let capabilities = self.0.get(CAPABILITIES).filter(|declared| declared.is_object());
        let capabilities = capabilities.ok_or_else(|| missing(CAPABILITIES))?;
        Ok(ClientInfo::new(self.0.get(CLIENT), Some(capabilities)))
    }
}

/// What is said of a request that does not describe itself.
pub(super) fn no_meta() -> RpcError {
    missing(VERSION)
}

fn missing(key: &str) -> RpcError {
    let newest = Revision::V2026_07_28.name();
    RpcError::wrong_params(format!("a request of revision {newest} needs `{key}` in `_meta`"))
}
