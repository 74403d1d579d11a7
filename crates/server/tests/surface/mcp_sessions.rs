//! MCP over HTTP, in the revisions that have sessions.

use serde_json::{Value, json};

use crate::{
    client::{Request, send},
    helper::{Site, Who, until},
    mcp::{ASKED, OpenStream, messages, shows_forms},
};

const REVISION: &str = "2025-11-25";

/// A session of a client.
struct Session<'a> {
    site: &'a Site,
    token: String,
    id: String,
}

impl Site {
    async fn begin(&self, token: &str, capabilities: Value) -> Session<'_> {
        let params = json!({"protocolVersion": REVISION, "capabilities": capabilities,
            "clientInfo": {"name": "tester", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = send(self.request_as(token, "POST", "/mcp").json(&body)).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], REVISION, "{answer:?}");
        let session = Session {
            site: self,
            token: token.to_owned(),
            id: answer.header("mcp-session-id").to_owned(),
        };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(send(session.request("POST").json(&initialized)).await.status, 202);
        session
    }
}

impl Session<'_> {
    fn request(&self, method: &str) -> Request {
        self.site
            .request_as(&self.token, method, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-session-id", &self.id)
    }

    fn call(&self, id: u32, method: &str, params: &Value) -> Request {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.request("POST").json(&body)
    }

    /// Sends something that is not answered.
    async fn send(&self, message: Value) {
        assert_eq!(send(self.request("POST").json(&message)).await.status, 202);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_goes_on_and_ends() {
    let site = Site::new().await;
    let session = site.begin(&site.owner, json!({})).await;
    assert_eq!(send(session.call(1, "ping", &json!({}))).await.json()["result"], json!({}));
    let list = send(session.call(2, "tools/list", &json!({}))).await.json();
    assert!(list["result"]["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "read"));
    assert_eq!(list["result"].get("resultType"), None);
    let params = json!({"name": "read", "arguments": {"path": "hello.txt"}});
    let read = send(session.call(3, "tools/call", &params)).await.json();
    assert_eq!(read["result"]["content"][0]["text"], "hello\nworld\n");
    let unknown = send(session.call(4, "prompts/list", &json!({}))).await;
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (200, &json!(-32601)));
    let twice = send(session.call(5, "initialize", &json!({}))).await.json();
    assert_eq!(twice["error"]["code"], -32600);

    assert_eq!(send(session.request("DELETE")).await.status, 204);
    assert_eq!(send(session.call(6, "ping", &json!({}))).await.status, 404);
    assert_eq!(send(session.request("DELETE")).await.status, 404);
    assert_eq!(send(session.request("GET")).await.status, 404);
    // Without a session there is nothing to listen to or to end.
    for method in ["GET", "DELETE"] {
        let answer = send(site.request(method, "/mcp").header("accept", "text/event-stream")).await;
        assert_eq!(answer.status, 405, "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_speaks_what_its_client_asked_for_if_we_do() {
    let site = Site::new().await;
    for (wanted, spoken) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        // It has messages of which several come at once, and whoever speaks it speaks the one before.
        ("2025-03-26", "2024-11-05"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("2030-01-01", "2025-11-25"),
    ] {
        let params = json!({"protocolVersion": wanted, "capabilities": {}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = site.post("/mcp", body).await.json();
        assert_eq!(answer["result"]["protocolVersion"], spoken, "{wanted}");
    }
}

/// Advisory mcp-009.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_of_the_token_that_began_it_alone() {
    let site = Site::new().await;
    let session = site.begin(&site.owner, json!({})).await;
    let stranger = site.token(Who::member("ada")).await;
    let again = site.token(Who::OWNER).await;
    for token in [stranger, again] {
        let other = Session { site: &site, token, id: session.id.clone() };
        assert_eq!(send(other.call(1, "ping", &json!({}))).await.status, 404);
        assert_eq!(send(other.request("GET")).await.status, 404);
        assert_eq!(send(other.request("DELETE")).await.status, 404);
    }
    assert_eq!(send(session.call(1, "ping", &json!({}))).await.status, 200);
    assert_eq!(session.id.len(), 32);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_put_to_the_client_while_it_waits() {
    for (answer, expected) in [
        (json!({"action": "accept", "content": {"decision": "Allow once"}}), "rang"),
        (json!({"action": "decline"}), "denied by owner (through tester)"),
        (json!({"action": "cancel"}), "the question was dismissed"),
    ] {
        let site = Site::new().await;
        let session = site.begin(&site.token(ASKED).await, shows_forms()).await;
        let call = session.call(5, "tools/call", &json!({"name": "ring", "arguments": {}}));
        let mut stream = OpenStream::new(call).await;
        let asked = messages(&stream.until("requestedSchema").await)[0].clone();
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(asked["params"]["message"], "main wants ring");
        // Somebody else's answer is none.
        let other = site.begin(&site.token(ASKED).await, shows_forms()).await;
        let answered = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
        other.send(answered.clone()).await;
        session.send(json!({"jsonrpc": "2.0", "id": 99, "result": answer})).await;
        session.send(answered).await;
        let told = messages(&stream.end().await);
        let text = told[0]["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_answer_leaves_the_question_to_others() {
    let site = Site::new().await;
    let [token, approver] = [site.token(ASKED).await, site.token(Who::OWNER).await];
    let session = site.begin(&token, shows_forms()).await;
    let call = session.call(5, "tools/call", &json!({"name": "ring", "arguments": {}}));
    let mut stream = OpenStream::new(call).await;
    let asked = messages(&stream.until("requestedSchema").await)[0].clone();
    let error = json!({"code": -32601, "message": "no forms here"});
    session.send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).await;
    let question = site.get("/v1/approvals").await.json()["approvals"][0].take();
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let yes = site.request_as(&approver, "POST", &path).json(&json!({"decision": "allow_once"}));
    assert_eq!(send(yes).await.status, 200);
    let told = messages(&stream.end().await);
    assert_eq!(told[0]["result"]["content"][0]["text"], "rang");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_taken_back_when_somebody_else_answers_or_nobody_does() {
    for answered in [true, false] {
        let limit = if answered { "" } else { "[limits]\napproval_timeout = \"1s\"" };
        let site = Site::with(limit).await;
        let [token, approver] = [site.token(ASKED).await, site.token(Who::OWNER).await];
        let session = site.begin(&token, shows_forms()).await;
        let call = session.call(5, "tools/call", &json!({"name": "ring", "arguments": {}}));
        let mut stream = OpenStream::new(call).await;
        let asked = messages(&stream.until("requestedSchema").await)[0].clone();
        if answered {
            let question = site.get("/v1/approvals").await.json()["approvals"][0].take();
            let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
            let yes = json!({"decision": "allow_once"});
            let yes = site.request_as(&approver, "POST", &path).json(&yes);
            assert_eq!(send(yes).await.status, 200);
        }
        let told = messages(&stream.end().await);
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(told[0]["method"], "notifications/cancelled");
        assert_eq!(told[0]["params"]["requestId"], asked["id"]);
        assert_eq!(told[1]["result"]["isError"], !answered);
    }
}

/// A client takes a bare 404 for the end of its session.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_there_ends_no_session() {
    let site = Site::new().await;
    let session = site.begin(&site.owner, json!({})).await;
    let list = session.call(7, "tools/list", &json!({})).header("toolgate-agent", "nobody");
    let answer = send(list).await;
    assert_eq!((answer.status, &answer.json()["id"]), (400, &json!(7)));
    assert_eq!(answer.json()["error"]["code"], -32600);
    let listen = session.request("GET").header("toolgate-agent", "nobody");
    assert_eq!(send(listen).await.status, 400);
    let params = json!({"protocolVersion": REVISION, "capabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begin = site.request("POST", "/mcp").header("toolgate-agent", "nobody").json(&body);
    let answer = send(begin).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32600)));
    assert_eq!(send(session.call(8, "ping", &json!({}))).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_cancelled_by_its_id() {
    let site = Site::new().await;
    let session = site.begin(&site.owner, json!({})).await;
    let params = json!({"name": "talk", "arguments": {"pieces": 2, "bytes": 20_000, "rest_ms": 600_000},
        "_meta": {"progressToken": 1}});
    let mut stream = OpenStream::new(session.call(9, "tools/call", &params)).await;
    stream.until("notifications/progress").await;
    // No other one takes its place under its id.
    let second = send(session.call(9, "tools/list", &json!({}))).await.json();
    assert_eq!(second["error"]["code"], -32600, "{second}");
    for wrong in [json!(8), json!("9"), Value::Null] {
        let params = json!({"requestId": wrong});
        session
            .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
    }
    let params = json!({"requestId": 9});
    session
        .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
        .await;
    let told = messages(&stream.end().await);
    assert_eq!(told.last().unwrap()["result"]["isError"], true, "{told:?}");
    assert_eq!(site.entries()[0].error_type.as_deref(), Some("cancelled"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_told_when_its_tools_change() {
    let site = Site::new().await;
    let session = site.begin(&site.owner, json!({})).await;
    let mut first = OpenStream::new(session.request("GET")).await;
    first.until("text/event-stream").await;
    // A second stream takes the place of the first.
    let mut stream = OpenStream::new(session.request("GET")).await;
    stream.until("text/event-stream").await;
    first.end().await;
    site.gate.reload(config::parse("[tools]\ndeny = [\"ring\"]", "t.toml").unwrap()).unwrap();
    stream.until("notifications/tools/list_changed").await;
    assert_eq!(send(session.request("DELETE")).await.status, 204);
    stream.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_bounded() {
    let site = Site::with("[server]\nmcp_sessions = 3\nmcp_sessions_per_user = 2").await;
    let ada = site.token(Who::member("ada")).await;
    let sessions =
        [site.begin(&site.owner, json!({})).await, site.begin(&site.owner, json!({})).await];
    site.begin(&ada, json!({})).await;
    // The owner's oldest gives way to their newest.
    let newest = site.begin(&site.owner, json!({})).await;
    let mut alive = Vec::new();
    for session in sessions.iter().chain([&newest]) {
        alive.push(send(session.call(1, "ping", &json!({}))).await.status);
    }
    assert_eq!(alive, [404, 200, 200]);
    // Nobody's gives way to somebody else's, while they are used.
    let params = json!({"protocolVersion": REVISION, "capabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let bob = site.token(Who::member("bob")).await;
    let refused = send(site.request_as(&bob, "POST", "/mcp").json(&body)).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    until("it is counted", async || {
        site.get("/metrics").await.text().contains("toolgate_mcp_sessions 3")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_as_long_as_a_message_is_kept_in_short() {
    let site = Site::new().await;
    let session = site.begin(&site.owner, json!({})).await;
    let params = json!({"name": "x".repeat(1_000_000), "arguments": {}});
    let answer = send(session.call(1, "tools/call", &params)).await.json();
    assert_eq!(answer["error"]["data"]["error_type"], "tool_not_available");
    assert_eq!(site.kept_names(), [format!("{}…", "x".repeat(256))]);
}
