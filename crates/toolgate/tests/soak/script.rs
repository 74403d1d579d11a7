//! What the model says: what its user told it to.

use std::time::Duration;

use scripted::{Reply, Request};
use serde_json::{Value, json};

/// What it says last.
pub(crate) const END: &str = "All is done, as far as it could be done, and nothing is left to do.";

/// A message that lets the model make these calls, one after the other, and then end.
pub(crate) fn calls(calls: &[(&str, Value)]) -> String {
    json!({"calls": calls}).to_string()
}

/// One that lets it speak more slowly than anybody takes to stop it.
pub(crate) fn slowly() -> String {
    json!({"calls": [], "pause_ms": 500}).to_string()
}

/// One at which it fails.
pub(crate) fn failing() -> String {
    json!({"fails": true}).to_string()
}

/// The next step: one for each result since its user spoke.
pub(crate) fn next(request: &Request) -> Reply {
    let messages = request.body["messages"].as_array().cloned().unwrap_or_default();
    let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap_or(0);
    let results = messages[asked..].iter().filter(|message| message["role"] == "tool").count();
    let Some(wanted) = messages.get(asked).map(|message| read(&message["content"])) else {
        return Reply::error(400, "script", "nobody said anything");
    };
    if wanted["fails"] == true {
        return Reply::error(500, "script", "as you wish");
    }
    if let Some(call) = wanted["calls"].get(results) {
        return Reply::call(call[0].as_str().unwrap_or_default(), call[1].clone());
    }
    Reply::text(END).pausing(Duration::from_millis(wanted["pause_ms"].as_u64().unwrap_or(0)))
}

fn read(content: &Value) -> Value {
    let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}
