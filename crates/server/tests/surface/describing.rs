//! The description of the API says what there is, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    client::{Answer, send},
    helper::{Site, Who},
};

/// Every operation, as people call it.
const OPERATIONS: &[&str] = &[
    "DELETE /mcp",
    "DELETE /v1/agents/{id}",
    "DELETE /v1/permissions",
    "DELETE /v1/sessions/{key}",
    "DELETE /v1/tokens/{id}",
    "DELETE /v1/users/{id}",
    "GET /",
    "GET /healthz",
    "GET /mcp",
    "GET /metrics",
    "GET /openapi.json",
    "GET /readyz",
    "GET /v1/agents",
    "GET /v1/agents/{id}",
    "GET /v1/approvals",
    "GET /v1/approvals/{id}",
    "GET /v1/artifacts/{id}",
    "GET /v1/calls",
    "GET /v1/calls/{id}",
    "GET /v1/models",
    "GET /v1/models/{call}",
    "GET /v1/permissions",
    "GET /v1/policy/explain",
    "GET /v1/sessions",
    "GET /v1/sessions/{key}",
    "GET /v1/sessions/{key}/messages",
    "GET /v1/stats",
    "GET /v1/tokens",
    "GET /v1/tools",
    "GET /v1/tools/{name}",
    "GET /v1/users",
    "GET /v1/users/{id}",
    "GET /v1beta/models",
    "GET /ws",
    "PATCH /v1/agents/{id}",
    "PATCH /v1/sessions/{key}",
    "PATCH /v1/users/{id}",
    "POST /mcp",
    "POST /v1/agents",
    "POST /v1/approvals/{id}",
    "POST /v1/calls/{id}/cancel",
    "POST /v1/calls/{id}/undo",
    "POST /v1/chat/completions",
    "POST /v1/check/{kind}",
    "POST /v1/files",
    "POST /v1/messages",
    "POST /v1/models/{call}",
    "POST /v1/permissions",
    "POST /v1/responses",
    "POST /v1/sessions/{key}/messages",
    "POST /v1/sessions/{key}/stop",
    "POST /v1/sign-in",
    "POST /v1/sign-out",
    "POST /v1/tokens",
    "POST /v1/tools/{name}",
    "POST /v1/users",
    "POST /v1beta/models/{call}",
];

/// The description, and what it says about one operation.
struct Description(Value);

impl Description {
    async fn of(site: &Site) -> Self {
        let answer = site.get("/openapi.json").await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
        Self(answer.json())
    }

    /// Methods and paths.
    fn operations(&self) -> Vec<(String, String)> {
        let paths = self.0["paths"].as_object().unwrap();
        let methods = paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().keys();
            methods.map(move |method| (method.to_uppercase(), path.clone()))
        });
        methods.collect()
    }

    /// What is said about the operation that a request is for.
    fn operation(&self, method: &str, path: &str) -> &Value {
        let path = path.split('?').next().unwrap_or_default();
        let matches = |described: &&String| {
            let mut parts = described.split('/').zip(path.split('/'));
            let as_long = described.split('/').count() == path.split('/').count();
            as_long && parts.all(|(ours, theirs)| ours == theirs || ours.starts_with('{'))
        };
        let paths = self.0["paths"].as_object().unwrap();
        let exact = paths.keys().find(|described| *described == path);
        let found = exact.or_else(|| paths.keys().find(matches));
        let operation = found.map(|path| &paths[path][method.to_lowercase()]);
        let operation = operation.filter(|operation| operation.is_object());
        operation.unwrap_or_else(|| panic!("{method} {path} is not described"))
    }

    /// Why an answer is not what is described, if it is not.
    fn judge(&self, method: &str, path: &str, answer: &Answer) -> Result<(), String> {
        let status = answer.status.to_string();
        let described = &self.operation(method, path)["responses"][&status];
        if !described.is_object() {
            return Err(format!("the status {status} is not described"));
        }
        let kind = answer.header("content-type").split(';').next().unwrap_or_default();
        if answer.body.is_empty() {
            return Ok(());
        }
        let content = &described["content"][kind];
        if !content.is_object() {
            return Err(format!("`{kind}` is not described for {status}"));
        }
        if kind != "application/json" {
            return Ok(());
        }
        let mut schema = json!({"components": self.0["components"]});
        schema["anyOf"] = json!([content["schema"]]);
        let schema = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
        schema.validate(&answer.json()).map_err(|error| format!("{error} in {}", answer.text()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_is_described_and_no_other() {
    let site = Site::new().await;
    let description = Description::of(&site).await;
    assert_eq!(description.0["openapi"], "3.1.0");
    let operations = description.operations();
    let mut said: Vec<_> =
        operations.iter().map(|(method, path)| format!("{method} {path}")).collect();
    said.sort();
    assert_eq!(said, OPERATIONS);
    // What is described is there, and what is not is not.
    for path in operations.iter().map(|(_, path)| path).collect::<BTreeSet<_>>() {
        let filled = path.replace(['{', '}'], "x");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"] {
            let answer = send(site.request(method, &filled)).await;
            if path == "/mcp" && ["GET", "DELETE"].contains(&method) {
                // These are for sessions, and none is named.
                assert_eq!((answer.status, answer.header("allow")), (405, "POST"), "{method}");
                continue;
            }
            let known = operations.contains(&(method.to_owned(), path.clone()));
            assert_eq!(answer.status != 405, known, "{method} {path}: {answer:?}");
            if !known {
                let of_path = operations.iter().filter(|(_, other)| other == path);
                let methods: BTreeSet<_> = of_path.map(|(method, _)| method.as_str()).collect();
                let allowed: BTreeSet<_> = answer.header("allow").split(", ").collect();
                assert_eq!(allowed, methods, "{path}");
            }
        }
    }
    let nowhere = site.get("/v1/nothing").await;
    assert_eq!(nowhere.error(), (404, "not_found".to_owned()));
}

/// Every value of `$ref`, wherever it stands.
fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_is_whole() {
    let site = Site::new().await;
    let Description(description) = Description::of(&site).await;
    let mut found = Vec::new();
    references(&description, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for reference in &found {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference}"));
        assert!(description.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    let components = description["components"]["schemas"].as_object().unwrap();
    for (name, schema) in components {
        let mut whole = schema.clone();
        whole["components"] = description["components"].clone();
        assert!(jsonschema::validator_for(&whole).is_ok(), "{name}");
    }
    let mut ids = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{method} {path}");
            let open = operation.get("security") == Some(&json!([]));
            let refused = &operation["responses"]["401"];
            assert!(open || refused.is_object(), "{method} {path}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(status.parse::<u16>().is_ok_and(|status| (100..600).contains(&status)));
                assert!(
                    !response["description"].as_str().unwrap().is_empty(),
                    "{method} {path} {status}"
                );
            }
            let named = path.split('{').nth(1).and_then(|rest| rest.split('}').next());
            let parameters = operation["parameters"].as_array();
            let in_path = parameters.into_iter().flatten().filter(|one| one["in"] == "path");
            let in_path: Vec<_> = in_path.map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(in_path, named.into_iter().collect::<Vec<_>>(), "{method} {path}");
        }
    }
}

/// What the owner asks for, and the status that comes; a body of `null` is none.
fn cases(question: &Value) -> Vec<(u16, String, Value)> {
    let (id, call) = (question["id"].as_str().unwrap(), question["call"].as_str().unwrap());
    let none = "00000000-0000-7000-8000-000000000000";
    let says =
        |text: &str| json!({"model": "main", "messages": [{"role": "user", "content": text}]});
    let cases = [
        (200, "GET /", json!(null)),
        (200, "GET /healthz", json!(null)),
        (200, "GET /readyz", json!(null)),
        (200, "GET /metrics", json!(null)),
        (400, "GET /ws", json!(null)),
        (200, "GET /v1/tools", json!(null)),
        (400, "GET /v1/tools?x=1", json!(null)),
        (200, "GET /v1/tools/read", json!(null)),
        (404, "GET /v1/tools/none", json!(null)),
        (200, "POST /v1/tools/read", json!({"path": "hello.txt"})),
        (404, "POST /v1/tools/read", json!({"path": "none"})),
        (403, "POST /v1/tools/read", json!({"path": "../x"})),
        (400, "POST /v1/tools/read", json!({})),
        (200, "POST /v1/tools/get_current_time", json!({})),
        (429, "POST /v1/tools/get_current_time", json!({})),
        (200, "GET /v1/calls", json!(null)),
        (400, "GET /v1/calls?limit=0", json!(null)),
        (200, "GET /v1/calls/CALL", json!(null)),
        (404, "GET /v1/calls/NONE", json!(null)),
        (404, "POST /v1/calls/NONE/cancel", json!(null)),
        (400, "POST /v1/calls/NONE/undo", json!(null)),
        (200, "GET /v1/approvals", json!(null)),
        (200, "GET /v1/approvals/QUESTION", json!(null)),
        (200, "POST /v1/approvals/QUESTION", json!({"decision": "deny"})),
        (409, "POST /v1/approvals/QUESTION", json!({"decision": "deny"})),
        (200, "GET /v1/permissions", json!(null)),
        (403, "POST /v1/permissions", json!({"capability": "exec"})),
        (200, "POST /v1/permissions", json!({"capability": "exec", "state": "denied"})),
        (200, "DELETE /v1/permissions?capability=exec", json!(null)),
        (200, "GET /v1/policy/explain?tool=read", json!(null)),
        (200, "POST /v1/check/command", json!({"value": "ls"})),
        (201, "POST /v1/users", json!({"id": "eve"})),
        (409, "POST /v1/users", json!({"id": "eve"})),
        (400, "POST /v1/users", json!({"id": "a b"})),
        (200, "GET /v1/users", json!(null)),
        (200, "GET /v1/users/eve", json!(null)),
        (404, "GET /v1/users/nobody", json!(null)),
        (200, "PATCH /v1/users/eve", json!({"name": "Eve"})),
        (201, "POST /v1/tokens", json!({"name": "x", "user": "eve", "scopes": ["call"]})),
        (200, "DELETE /v1/users/eve", json!(null)),
        (409, "DELETE /v1/users/eve", json!(null)),
        (400, "POST /v1/tokens", json!({"name": "x", "user": "eve"})),
        (201, "POST /v1/tokens", json!({"name": "x"})),
        (200, "GET /v1/tokens", json!(null)),
        (200, "POST /v1/sessions/agent:main:one/messages", json!({"message": "list files"})),
        (200, "GET /v1/sessions/agent:main:one/messages?tools=true", json!(null)),
        (200, "GET /v1/sessions", json!(null)),
        (200, "GET /v1/sessions/agent:main:one", json!(null)),
        (404, "GET /v1/sessions/agent:main:two", json!(null)),
        (200, "PATCH /v1/sessions/agent:main:one", json!({"label": "first"})),
        (200, "POST /v1/sessions/agent:main:one/stop", json!(null)),
        (200, "DELETE /v1/sessions/agent:main:one", json!(null)),
        (200, "GET /v1/models", json!(null)),
        (200, "GET /v1beta/models", json!(null)),
        (200, "GET /v1/models/main", json!(null)),
        (404, "GET /v1/models/none", json!(null)),
        (200, "POST /v1/chat/completions", says("what time is it")),
        (400, "POST /v1/chat/completions", json!([])),
        (200, "POST /v1/responses", json!({"model": "main", "input": "hello"})),
        (404, "POST /v1/responses", json!({"model": "none", "input": "hello"})),
        (400, "POST /v1/messages", json!({})),
        (400, "POST /v1beta/models/main:generateContent", json!({})),
        (404, "GET /v1/artifacts/none", json!(null)),
        (200, "GET /v1/stats", json!(null)),
        (401, "POST /v1/sign-in", json!({"token": "x"})),
        (200, "POST /v1/sign-out", json!(null)),
    ];
    let named =
        |path: &str| path.replace("QUESTION", id).replace("CALL", call).replace("NONE", none);
    let cases = cases.into_iter().chain(agent_cases());
    cases.map(|(status, path, body)| (status, named(path), body)).collect()
}

fn agent_cases() -> Vec<(u16, &'static str, Value)> {
    vec![
        (201, "POST /v1/agents", json!({"id": "scout"})),
        (400, "POST /v1/agents", json!({"id": "a b"})),
        (409, "POST /v1/agents", json!({"id": "scout"})),
        (200, "GET /v1/agents", json!(null)),
        (200, "GET /v1/agents/scout", json!(null)),
        (404, "GET /v1/agents/nobody", json!(null)),
        (200, "PATCH /v1/agents/scout", json!({"settings": {"description": "looks"}})),
        (409, "PATCH /v1/agents/main", json!({"settings": {}})),
        (404, "PATCH /v1/agents/nobody", json!({"settings": {}})),
        (200, "DELETE /v1/agents/scout", json!(null)),
        (404, "DELETE /v1/agents/scout", json!(null)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_as_described() {
    let site = Site::with("limits.rates.get_current_time = '1/h'").await;
    let bo = site.token(Who::member("bo")).await;
    let (call, question) = site.start_asking(&bo).await;
    let description = Description::of(&site).await;
    let answer = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let image = ("accept", "image/png");
    // Others than the owner, and what is said otherwise than in a body.
    let mut all = vec![
        (403, "GET", "/metrics", site.request_as(&bo, "GET", "/metrics")),
        (401, "GET", "/metrics", site.anonymous("GET", "/metrics")),
        (403, "GET", "/ws", site.request("GET", "/ws").header("origin", "https://evil")),
        (421, "GET", "/healthz", site.anonymous("GET", "/healthz").header("host", "evil")),
        (406, "GET", "/v1/tools", site.request("GET", "/v1/tools").header(image.0, image.1)),
        (415, "POST", "/v1/tools/read", site.request("POST", "/v1/tools/read").body("x")),
        (403, "POST", &answer, {
            site.request_as(&bo, "POST", &answer).json(&json!({"decision": "allow_once"}))
        }),
        (401, "POST", "/v1/messages", site.anonymous("POST", "/v1/messages").json(&json!({}))),
        (415, "POST", "/v1/messages", site.request("POST", "/v1/messages").body("x")),
        (200, "POST", "/v1/permissions", {
            site.request("POST", "/v1/permissions").json(&json!({"capability": "exec"}))
        }),
        (200, "POST", "/v1/files", site.request("POST", "/v1/files?path=a.txt").body("x")),
        (415, "POST", "/v1/sign-in", site.anonymous("POST", "/v1/sign-in").body("x")),
    ];
    let cases = cases(&question);
    all.extend(cases.iter().map(|(status, what, body)| {
        let (method, path) = what.split_once(' ').unwrap();
        let request = site.request(method, path);
        (*status, method, path, if body.is_null() { request } else { request.json(body) })
    }));
    let mut wrong = Vec::new();
    for (expected, method, path, request) in all {
        let answer = send(request).await;
        let (status, text) = (answer.status, answer.text());
        if status != expected {
            wrong.push(format!("{method} {path}: {status} instead of {expected}: {text}"));
        }
        let judged = description.judge(method, path, &answer);
        wrong.extend(judged.err().map(|why| format!("{method} {path} {expected}: {why}")));
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(call.await.unwrap().status, 403);
}
