//! The description of the API says what there is, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    client::{Answer, Request, send},
    helper::{Site, Who},
};

/// Every operation, as people call it.
const OPERATIONS: &[&str] = &[
    "DELETE /v1/agents/{id}",
    "DELETE /v1/permissions",
    "DELETE /v1/sessions/{key}",
    "DELETE /v1/tokens/{id}",
    "GET /",
    "GET /healthz",
    "GET /metrics",
    "GET /openapi.json",
    "GET /readyz",
    "GET /v1/agents",
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
    "GET /v1beta/models",
    "GET /ws",
    "PATCH /v1/sessions/{key}",
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

    fn operation(&self, method: &str, path: &str) -> &Value {
        let operation = &self.0["paths"][path][method.to_lowercase()];
        assert!(operation.is_object(), "{method} {path} is not described");
        operation
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

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_as_described() {
    let site = Site::with("limits.rates.get_current_time = '1/h'").await;
    let bo = site.token(Who::member("bo")).await;
    let (call, question) = site.start_asking(&bo).await;
    let description = Description::of(&site).await;
    let id = question["id"].as_str().unwrap();
    let call_id = question["call"].as_str().unwrap();
    let with = |method: &str, path: &str, body: Value| site.request(method, path).json(&body);
    let says =
        json!({"model": "main", "messages": [{"role": "user", "content": "what time is it"}]});
    let none = "00000000-0000-7000-8000-000000000000";
    let cases: Vec<(&str, &str, u16, Request)> = vec![
        ("GET", "/", 200, site.anonymous("GET", "/")),
        ("GET", "/healthz", 200, site.anonymous("GET", "/healthz")),
        ("GET", "/readyz", 200, site.anonymous("GET", "/readyz")),
        ("GET", "/metrics", 200, site.request("GET", "/metrics")),
        ("GET", "/metrics", 403, site.request_as(&bo, "GET", "/metrics")),
        ("GET", "/metrics", 401, site.anonymous("GET", "/metrics")),
        ("GET", "/ws", 400, site.request("GET", "/ws")),
        ("GET", "/ws", 403, site.request("GET", "/ws").header("origin", "https://evil")),
        ("GET", "/healthz", 421, site.anonymous("GET", "/healthz").header("host", "evil")),
        ("GET", "/v1/tools", 200, site.request("GET", "/v1/tools")),
        ("GET", "/v1/tools", 400, site.request("GET", "/v1/tools?x=1")),
        ("GET", "/v1/tools", 406, site.request("GET", "/v1/tools").header("accept", "image/png")),
        ("GET", "/v1/tools/{name}", 200, site.request("GET", "/v1/tools/read")),
        ("GET", "/v1/tools/{name}", 404, site.request("GET", "/v1/tools/none")),
        (
            "POST",
            "/v1/tools/{name}",
            200,
            with("POST", "/v1/tools/read", json!({"path": "hello.txt"})),
        ),
        ("POST", "/v1/tools/{name}", 404, with("POST", "/v1/tools/read", json!({"path": "none"}))),
        ("POST", "/v1/tools/{name}", 403, with("POST", "/v1/tools/read", json!({"path": "../x"}))),
        ("POST", "/v1/tools/{name}", 400, with("POST", "/v1/tools/read", json!({}))),
        ("POST", "/v1/tools/{name}", 200, with("POST", "/v1/tools/get_current_time", json!({}))),
        ("POST", "/v1/tools/{name}", 429, with("POST", "/v1/tools/get_current_time", json!({}))),
        ("POST", "/v1/tools/{name}", 415, site.request("POST", "/v1/tools/read").body("x")),
        ("GET", "/v1/calls", 200, site.request("GET", "/v1/calls")),
        ("GET", "/v1/calls", 400, site.request("GET", "/v1/calls?limit=0")),
        ("GET", "/v1/calls/{id}", 200, site.request("GET", &format!("/v1/calls/{call_id}"))),
        ("GET", "/v1/calls/{id}", 404, site.request("GET", &format!("/v1/calls/{none}"))),
        (
            "POST",
            "/v1/calls/{id}/cancel",
            404,
            site.request("POST", &format!("/v1/calls/{none}/cancel")),
        ),
        (
            "POST",
            "/v1/calls/{id}/undo",
            400,
            site.request("POST", &format!("/v1/calls/{none}/undo")),
        ),
        ("GET", "/v1/approvals", 200, site.request("GET", "/v1/approvals")),
        ("GET", "/v1/approvals/{id}", 200, site.request("GET", &format!("/v1/approvals/{id}"))),
        ("POST", "/v1/approvals/{id}", 403, {
            let answer = site.request_as(&bo, "POST", &format!("/v1/approvals/{id}"));
            answer.json(&json!({"decision": "allow_once"}))
        }),
        (
            "POST",
            "/v1/approvals/{id}",
            200,
            with("POST", &format!("/v1/approvals/{id}"), json!({"decision": "deny"})),
        ),
        (
            "POST",
            "/v1/approvals/{id}",
            409,
            with("POST", &format!("/v1/approvals/{id}"), json!({"decision": "deny"})),
        ),
        ("GET", "/v1/permissions", 200, site.request("GET", "/v1/permissions")),
        (
            "POST",
            "/v1/permissions",
            200,
            with("POST", "/v1/permissions", json!({"capability": "exec"})),
        ),
        (
            "DELETE",
            "/v1/permissions",
            200,
            site.request("DELETE", "/v1/permissions?capability=exec"),
        ),
        ("GET", "/v1/policy/explain", 200, site.request("GET", "/v1/policy/explain?tool=read")),
        (
            "POST",
            "/v1/check/{kind}",
            200,
            with("POST", "/v1/check/command", json!({"value": "ls"})),
        ),
        ("POST", "/v1/tokens", 201, with("POST", "/v1/tokens", json!({"name": "x"}))),
        ("GET", "/v1/tokens", 200, site.request("GET", "/v1/tokens")),
        ("POST", "/v1/agents", 201, with("POST", "/v1/agents", json!({"id": "scout"}))),
        ("POST", "/v1/agents", 400, with("POST", "/v1/agents", json!({"id": "a b"}))),
        ("GET", "/v1/agents", 200, site.request("GET", "/v1/agents")),
        ("DELETE", "/v1/agents/{id}", 200, site.request("DELETE", "/v1/agents/scout")),
        ("DELETE", "/v1/agents/{id}", 404, site.request("DELETE", "/v1/agents/scout")),
        ("POST", "/v1/sessions/{key}/messages", 200, {
            with("POST", "/v1/sessions/agent:main:one/messages", json!({"message": "list files"}))
        }),
        ("GET", "/v1/sessions/{key}/messages", 200, {
            site.request("GET", "/v1/sessions/agent:main:one/messages?tools=true")
        }),
        ("GET", "/v1/sessions", 200, site.request("GET", "/v1/sessions")),
        ("GET", "/v1/sessions/{key}", 200, site.request("GET", "/v1/sessions/agent:main:one")),
        ("GET", "/v1/sessions/{key}", 404, site.request("GET", "/v1/sessions/agent:main:two")),
        (
            "POST",
            "/v1/sessions/{key}/stop",
            200,
            site.request("POST", "/v1/sessions/agent:main:one/stop"),
        ),
        (
            "DELETE",
            "/v1/sessions/{key}",
            200,
            site.request("DELETE", "/v1/sessions/agent:main:one"),
        ),
        ("GET", "/v1/models", 200, site.request("GET", "/v1/models")),
        ("GET", "/v1beta/models", 200, site.request("GET", "/v1beta/models")),
        ("GET", "/v1/models/{call}", 200, site.request("GET", "/v1/models/main")),
        ("GET", "/v1/models/{call}", 404, site.request("GET", "/v1/models/none")),
        ("POST", "/v1/chat/completions", 200, with("POST", "/v1/chat/completions", says.clone())),
        ("POST", "/v1/chat/completions", 400, with("POST", "/v1/chat/completions", json!([]))),
        (
            "POST",
            "/v1/chat/completions",
            401,
            site.anonymous("POST", "/v1/chat/completions").json(&says),
        ),
        (
            "POST",
            "/v1/chat/completions",
            415,
            site.request("POST", "/v1/chat/completions").body("x"),
        ),
        ("POST", "/v1/files", 200, site.request("POST", "/v1/files?path=a.txt").body("x")),
        ("GET", "/v1/artifacts/{id}", 404, site.request("GET", "/v1/artifacts/none")),
        ("GET", "/v1/stats", 200, site.request("GET", "/v1/stats")),
        ("POST", "/v1/sign-in", 415, site.anonymous("POST", "/v1/sign-in").body("x")),
        (
            "POST",
            "/v1/sign-in",
            401,
            site.anonymous("POST", "/v1/sign-in").json(&json!({"token": "x"})),
        ),
        ("POST", "/v1/sign-out", 200, site.request("POST", "/v1/sign-out")),
    ];
    let mut wrong = Vec::new();
    for (method, path, expected, request) in cases {
        let answer = send(request).await;
        let judged = description.judge(method, path, &answer);
        if answer.status != expected {
            wrong.push(format!(
                "{method} {path}: {} instead of {expected}: {}",
                answer.status,
                answer.text()
            ));
        }
        wrong.extend(judged.err().map(|why| format!("{method} {path} {expected}: {why}")));
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(call.await.unwrap().status, 403);
}
