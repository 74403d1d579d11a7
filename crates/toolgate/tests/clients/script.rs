//! What the model says: a round through many tools, one step for each result it has seen.

use scripted::{Reply, Request};
use serde_json::{Value, json};

/// What it says last.
pub(crate) const END: &str = "All done.";

/// The tools that run here, in order, and how they end.
pub(crate) const NOTES: [(&str, &str); 13] = [
    ("ls", "success"),
    ("get_current_time", "success"),
    ("read", "file_not_found"),
    ("read", "success"),
    ("write", "success"),
    ("edit", "success"),
    ("exec", "success"),
    ("read", "success"),
    ("exec", "permission_denied"),
    ("add_task", "success"),
    ("save_note", "success"),
    ("grep", "success"),
    ("list_tasks", "success"),
];

/// The next step.
pub(crate) fn next(request: &Request) -> Reply {
    match results(&request.body) {
        0 => Reply::text("Let me look around.").and_calls([
            ("ls", json!({"path": "."})),
            ("get_current_time", json!({"timezone": "UTC"})),
        ]),
        2 => Reply::call("read", json!({"path": "missing.txt"})),
        3 => Reply::call("read", json!({"path": "pixel.png"})),
        4 => Reply::call("write", json!({"path": "out.txt", "content": "one\ntwo\n"})),
        5 => Reply::text("Better:").and_calls([(
            "edit",
            json!({"path": "out.txt", "oldText": "two", "newText": "three"}),
        )]),
        6 => Reply::call("exec", json!({"command": "echo this is fine"})),
        7 => Reply::call("read", json!({"path": ".env"})),
        8 => Reply::call("exec", json!({"command": "echo nope"})),
        9 => Reply::call("add_task", json!({"title": "water the plants"})),
        10 => Reply::call("save_note", json!({"title": "Round", "content": "was done"})),
        11 => Reply::call("grep", json!({"pattern": "three"})),
        12 => Reply::calls([
            ("get_weather", json!({"city": "Rome"})),
            ("list_tasks", json!({"status": "pending"})),
        ]),
        14 => Reply::text(END),
        other => {
            Reply::error(400, "script", &format!("{other} results, which is not in the script"))
        }
    }
}

/// How many results stand in a request, whatever its format.
fn results(body: &Value) -> usize {
    match body {
        Value::Object(fields) => {
            let is = |name: &str, value: &str| {
                fields.get(name).and_then(Value::as_str).is_some_and(|found| found == value)
            };
            let here = is("role", "tool")
                || is("type", "function_call_output")
                || is("type", "tool_result")
                || fields.contains_key("functionResponse");
            usize::from(here) + fields.values().map(results).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(results).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
