//! What is to be done with the client once the gate has let a call run. A tool of the gate speaks to nobody, so
//! it gives this as its result, and the fixture plays it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A result that is made together with the client.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Step>,
    /// What the client gets in the end, besides its own answers: also kinds that no tool of ours returns.
    pub(crate) content: Vec<Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Step {
    /// Goes on only with a client that has declared this.
    Needs(String),
    /// Tells the client, if it wants to be told.
    Log(String),
    /// Asks the client, for what it has declared.
    Ask(Map<String, Value>),
    /// Adds a tool, or takes it away again.
    ChangeTools,
    /// The same with a prompt.
    ChangePrompts,
}

impl Script {
    pub(crate) fn content(content: Vec<Value>) -> Self {
        Self { steps: Vec::new(), content }
    }

    pub(crate) fn steps(steps: impl IntoIterator<Item = Step>, text: &str) -> Self {
        Self { steps: steps.into_iter().collect(), content: vec![text_block(text)] }
    }
}

/// Requests by name.
pub(crate) fn ask<const N: usize>(requests: [(&str, Value); N]) -> Step {
    Step::Ask(requests.into_iter().map(|(name, request)| (name.to_owned(), request)).collect())
}

/// A form with these fields, all of which are required.
pub(crate) fn form(message: &str, fields: &Value) -> Value {
    let required: Vec<_> = fields.as_object().into_iter().flat_map(Map::keys).collect();
    json!({"method": "elicitation/create", "params": {
        "message": message,
        "requestedSchema": {"type": "object", "properties": fields, "required": required},
    }})
}

/// Something for the client's model.
pub(crate) fn sample(prompt: &str) -> Value {
    json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": text_block(prompt)}],
        "maxTokens": 100,
    }})
}

pub(crate) fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// The capability that a client must have declared to be sent a request.
pub(crate) fn capability(request: &Value) -> &str {
    let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
    method.split('/').next().unwrap_or_default()
}

pub(crate) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
