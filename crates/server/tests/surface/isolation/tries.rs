//! What is tried: every operation and every method, as data.

use serde_json::{Map, Value, json};

use super::{ada::Ada, chance::Chance, chance::twin};

/// Operations that are not tried here, because they are about nobody's things or have tests of their own.
/// What MCP clients speak is tried with every tool; its sessions are tried beside its other tests.
pub(super) const ELSEWHERE: [&str; 5] =
    ["DELETE /mcp", "GET /mcp", "GET /ws", "POST /mcp", "POST /v1/sign-in"];

/// What stands where the name of something is expected.
#[derive(Debug, Clone, Copy)]
pub(super) enum Names {
    Artifacts,
    Asked,
    Calls,
    Responses,
    /// Names of sessions, as headers have them,
    Sessions,
    /// and as paths have them.
    Keys,
    Tokens,
    Users,
    Whatever,
}

impl Names {
    fn of(self, ada: &Ada<'_>) -> Vec<String> {
        match self {
            Self::Artifacts => ada.artifacts.clone(),
            Self::Asked => ada.questions(),
            Self::Calls => {
                let last = ada.calls.iter().rev().take(2).cloned();
                ada.calls.iter().take(5).cloned().chain(last).chain([ada.asking()]).collect()
            }
            Self::Responses => ada.responses.clone(),
            Self::Sessions => ada.sessions.iter().take(2).cloned().collect(),
            Self::Keys => {
                ada.sessions.iter().take(2).map(|name| format!("agent:main:{name}")).collect()
            }
            Self::Tokens => {
                let short = |id: &String| id.chars().take(8).collect();
                ada.tokens.iter().cloned().chain(ada.tokens.iter().map(short)).collect()
            }
            Self::Users => vec!["ada".to_owned()],
            Self::Whatever => Vec::new(),
        }
    }
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Try {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<Value>,
    /// What it names.
    pub(super) named: String,
}

/// An operation, and how it is tried; `NAME` stands for what names something.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    names: Names,
    /// Behind the path.
    queries: &'static [&'static str],
    body: &'static str,
}

impl Operation {
    /// Each with what names something of Ada's, and with what names nothing.
    pub(super) fn tries(&self, ada: &Ada<'_>, chance: &mut Chance) -> Vec<[Try; 2]> {
        let mut names = self.names.of(ada);
        names.push(ada.any(chance));
        let pairs = names.iter().flat_map(|name| {
            self.queries
                .iter()
                .map(|query| [name.clone(), twin(name)].map(|it| self.with(&it, query)))
        });
        pairs.collect()
    }

    fn with(&self, name: &str, query: &str) -> Try {
        let (method, path) = self.name.split_once(' ').unwrap();
        let path = match (path.split_once('{'), path.split_once('}')) {
            (Some((before, _)), Some((_, after))) => format!("{before}{name}{after}"),
            _ => path.to_owned(),
        };
        let session = name.rsplit(':').next().unwrap_or_default().to_owned();
        let body = self.body.replace("NAME", name);
        Try {
            method: method.to_owned(),
            path: format!("{path}{}", query.replace("NAME", name)),
            headers: vec![("toolgate-session", session)],
            body: (!body.is_empty()).then(|| serde_json::from_str(&body).unwrap()),
            named: name.to_owned(),
        }
    }
}

const fn operation(name: &'static str, names: Names, body: &'static str) -> Operation {
    Operation { name, names, queries: &[""], body }
}

const fn list(name: &'static str, names: Names, queries: &'static [&'static str]) -> Operation {
    Operation { name, names, queries, body: "" }
}

impl Operation {
    /// The path of one that looks at something without naming it.
    pub(super) fn looks(&self) -> Option<&'static str> {
        self.name.strip_prefix("GET ").filter(|path| !path.contains('{'))
    }
}

/// Every operation, in the order of the table.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("GET /", Names::Whatever, ""),
    operation("GET /healthz", Names::Whatever, ""),
    operation("GET /readyz", Names::Whatever, ""),
    operation("POST /v1/sign-out", Names::Whatever, ""),
    operation("GET /v1/tools", Names::Sessions, ""),
    operation("GET /v1/tools/{name}", Names::Whatever, ""),
    operation("POST /v1/tools/{name}", Names::Whatever, r#"{"id": "NAME"}"#),
    operation("POST /v1/check/{kind}", Names::Whatever, r#"{"value": "NAME"}"#),
    list("GET /v1/policy/explain", Names::Whatever, &["?tool=NAME"]),
    list("GET /v1/calls", Names::Calls, &["", "?cursor=NAME", "?user=ada", "?session=NAME"]),
    operation("GET /v1/calls/{id}", Names::Calls, ""),
    operation("POST /v1/calls/{id}/undo", Names::Calls, ""),
    operation("POST /v1/calls/{id}/cancel", Names::Calls, ""),
    list(
        "GET /v1/approvals",
        Names::Asked,
        &["", "?status=all", "?status=all&cursor=NAME", "?cursor=NAME"],
    ),
    operation("GET /v1/approvals/{id}", Names::Asked, ""),
    operation("POST /v1/approvals/{id}", Names::Asked, r#"{"decision": "deny"}"#),
    list("GET /v1/permissions", Names::Whatever, &["", "?cursor=NAME"]),
    operation("POST /v1/permissions", Names::Users, r#"{"capability": "exec", "user": "NAME"}"#),
    list("DELETE /v1/permissions", Names::Users, &["?capability=files&user=NAME"]),
    list("GET /v1/users", Names::Users, &["", "?cursor=NAME"]),
    operation("POST /v1/users", Names::Users, r#"{"id": "NAME"}"#),
    operation("GET /v1/users/{id}", Names::Users, ""),
    operation("PATCH /v1/users/{id}", Names::Users, r#"{"name": "mine"}"#),
    operation("DELETE /v1/users/{id}", Names::Users, ""),
    list("GET /v1/tokens", Names::Tokens, &["", "?cursor=NAME"]),
    operation("POST /v1/tokens", Names::Users, r#"{"name": "mine", "user": "NAME"}"#),
    operation("DELETE /v1/tokens/{id}", Names::Tokens, ""),
    operation("GET /v1/agents", Names::Whatever, ""),
    operation("POST /v1/agents", Names::Whatever, r#"{"id": "NAME"}"#),
    operation("GET /v1/agents/{id}", Names::Whatever, ""),
    operation("PATCH /v1/agents/{id}", Names::Whatever, r#"{"settings": {}}"#),
    operation("DELETE /v1/agents/{id}", Names::Whatever, ""),
    list("GET /v1/sessions", Names::Keys, &["", "?cursor=NAME", "?search=NAME"]),
    operation("GET /v1/sessions/{key}", Names::Keys, ""),
    operation("PATCH /v1/sessions/{key}", Names::Keys, r#"{"label": "mine"}"#),
    operation("GET /v1/sessions/{key}/messages", Names::Keys, ""),
    operation("POST /v1/sessions/{key}/stop", Names::Keys, ""),
    operation("POST /v1/sessions/{key}/messages", Names::Keys, r#"{"message": "hello"}"#),
    operation("DELETE /v1/sessions/{key}", Names::Keys, ""),
    operation("GET /v1/models", Names::Whatever, ""),
    operation("GET /v1/models/{call}", Names::Whatever, ""),
    operation("GET /v1beta/models", Names::Whatever, ""),
    operation(
        "POST /v1/chat/completions",
        Names::Sessions,
        r#"{"model": "main", "user": "NAME", "messages": [{"role": "user", "content": "hello"}]}"#,
    ),
    operation(
        "POST /v1/responses",
        Names::Responses,
        r#"{"model": "main", "previous_response_id": "NAME", "input": "hello"}"#,
    ),
    operation(
        "POST /v1/messages",
        Names::Sessions,
        r#"{"model": "main", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]}"#,
    ),
    operation("POST /v1beta/models/{call}", Names::Whatever, "{}"),
    operation("POST /v1/models/{call}", Names::Whatever, "{}"),
    list("POST /v1/files", Names::Artifacts, &["?path=NAME"]),
    operation("GET /v1/artifacts/{id}", Names::Artifacts, ""),
    operation("GET /v1/stats", Names::Whatever, ""),
    operation("GET /metrics", Names::Whatever, ""),
    operation("GET /openapi.json", Names::Whatever, ""),
];

/// A method, and how it is tried.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    names: Names,
    params: &'static str,
}

impl Method {
    /// Each with what names something of Ada's, and with what names nothing; and the name.
    pub(super) fn tries(&self, ada: &Ada<'_>, chance: &mut Chance) -> Vec<(String, [Value; 2])> {
        let mut names = self.names.of(ada);
        names.push(ada.any(chance));
        let with =
            |name: String| serde_json::from_str(&self.params.replace("NAME", &name)).unwrap();
        let both = |name: String| [name.clone(), twin(&name)].map(with);
        names.into_iter().map(|name| (name.clone(), both(name))).collect()
    }
}

const fn method(name: &'static str, names: Names, params: &'static str) -> Method {
    Method { name, names, params }
}

/// Every method.
pub(super) const METHODS: &[Method] = &[
    method("authenticate", Names::Tokens, r#"{"token": "NAME"}"#),
    method("agents.list", Names::Whatever, "{}"),
    method("approvals.list", Names::Asked, r#"{"status": "all", "cursor": "NAME"}"#),
    method("approvals.resolve", Names::Asked, r#"{"id": "NAME", "decision": "deny"}"#),
    method("calls.cancel", Names::Calls, r#"{"call_id": "NAME"}"#),
    method("permissions.list", Names::Whatever, r#"{"cursor": "NAME"}"#),
    method("permissions.resolve", Names::Asked, r#"{"id": "NAME", "decision": "deny"}"#),
    method("ping", Names::Whatever, "{}"),
    method("sessions.history", Names::Keys, r#"{"session": "NAME", "tools": true}"#),
    method("sessions.list", Names::Keys, r#"{"search": "NAME"}"#),
    method("sessions.send", Names::Sessions, r#"{"session": "NAME", "message": "hello"}"#),
    method("sessions.stop", Names::Keys, r#"{"session": "NAME"}"#),
    method(
        "tools.call",
        Names::Artifacts,
        r#"{"name": "read", "arguments": {"path": "artifact:NAME"}}"#,
    ),
    method("tools.list", Names::Sessions, r#"{"session": "NAME"}"#),
    // Everything that is still known.
    method("events.subscribe", Names::Whatever, r#"{"since": 1}"#),
];

/// Arguments for a tool, with `name` wherever a text can be; which of the optional ones there are
/// depends on `at`.
pub(super) fn arguments(schema: &Value, name: &str, at: u64) -> Value {
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    let fields = schema["properties"].as_object().into_iter().flatten().enumerate();
    let wanted = fields.filter(|(number, (field, _))| {
        required.contains(&&json!(field)) || at >> (number % 64) & 1 == 1
    });
    let filled = wanted.map(|(_, (field, schema))| (field.clone(), value(schema, name, at)));
    Value::Object(filled.collect::<Map<_, _>>())
}

fn value(schema: &Value, name: &str, at: u64) -> Value {
    if let Some(all) = schema["enum"].as_array().filter(|all| !all.is_empty()) {
        return all[usize::try_from(at).unwrap_or_default() % all.len()].clone();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([value(&schema["items"], name, at)]),
        Some("object") => arguments(schema, name, at),
        _ => json!(name),
    }
}
