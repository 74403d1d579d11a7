//! Clients that speak MCP, in the revision without sessions and in one with them.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::{
    asking,
    client::Request,
    helper::{Caller, LEFT, SECRET_TEXT, SHARED, SHARED_TEXT, SLEEPS},
    turn::Turn,
};

const STATELESS: &str = "2026-07-28";
const SESSIONS: &str = "2025-11-25";
/// So many questions are left open for good; more of one client do not wait.
const MOST_LEFT: u32 = 20;

/// A request as clients of the stateless revision send it.
fn stateless(turn: &Turn, token: &str, method: &str, mut params: Value) -> Request {
    let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
    meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "soak", "version": "1"});
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let name = params["name"].as_str().unwrap_or("-").to_owned();
    let body = json!({"jsonrpc": "2.0", "id": turn.number, "method": method, "params": params});
    turn.site
        .request_as(token, "POST", "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", STATELESS)
        .header("mcp-method", method)
        .header("mcp-name", &name)
        .json(&body)
}

/// A call of a tool.
fn calling(turn: &Turn, token: &str, tool: &str, args: &Value) -> Request {
    turn.site.made(tool);
    stateless(turn, token, "tools/call", json!({"name": tool, "arguments": args}))
}

/// The messages in a stream of events.
fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

pub(crate) async fn call(turn: &mut Turn) {
    let caller = turn.caller();
    let request = calling(turn, &caller.token, "read", &json!({"path": SHARED}));
    let read = turn.send(request).await.json();
    assert_eq!(text(&read["result"]), SHARED_TEXT, "{read}");
    match turn.random.below(4) {
        0 => {
            let list = turn.send(stateless(turn, &caller.token, "tools/list", json!({}))).await;
            assert!(list.json()["result"]["tools"].as_array().unwrap().len() > 5);
        }
        1 => {
            let found =
                turn.send(stateless(turn, &caller.token, "server/discover", json!({}))).await;
            assert_eq!(found.status, 200, "{found:?}");
        }
        2 => {
            let tool = format!("unknown_{}", turn.name().replace('-', "_"));
            let unknown = turn.send(calling(turn, &caller.token, &tool, &json!({}))).await.json();
            assert_eq!(unknown["error"]["data"]["error_type"], "tool_not_available", "{unknown}");
        }
        _ => {
            let wrong = calling(turn, &caller.token, "read", &json!({"path": "none.txt"}));
            let wrong = turn.send(wrong).await.json();
            assert!(text(&wrong["result"]).starts_with("file_not_found"), "{wrong}");
        }
    }
}

pub(crate) async fn progress(turn: &mut Turn) {
    let caller = turn.caller();
    turn.site.made("exec");
    let args = json!({"command": "for i in 1 2 3; do echo $i; sleep 0.05; done"});
    let params =
        json!({"name": "exec", "arguments": args, "_meta": {"progressToken": turn.number}});
    let answer = turn.send(stateless(turn, &caller.token, "tools/call", params)).await;
    let told = messages(&answer.text());
    let (last, before) = told.split_last().unwrap();
    assert!(text(&last["result"]).contains("1\n2\n3\n"), "{told:?}");
    assert!(before.iter().all(|one| one["method"] == "notifications/progress"), "{told:?}");
    assert!(!before.is_empty(), "{told:?}");
}

/// A form is sent to the client: the result that asks for it.
async fn asked(turn: &Turn, token: &str, path: &str) -> Value {
    let request = calling(turn, token, "read", &json!({"path": path}));
    let asked = turn.send(request).await.json();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    asked["result"].clone()
}

/// The client comes back with an answer.
async fn back(turn: &Turn, token: &str, state: &Value, answer: Value) -> Value {
    let params = json!({"name": "read", "arguments": {"path": turn.secret()},
        "requestState": state, "inputResponses": {"approval": answer}});
    turn.send(stateless(turn, token, "tools/call", params)).await.json()
}

/// What a person may do with a form, and how the result of the call begins.
fn choice(turn: &mut Turn) -> (Value, &'static str) {
    match turn.random.below(3) {
        0 => (json!({"action": "accept", "content": {"decision": "Allow once"}}), SECRET_TEXT),
        1 => (json!({"action": "accept", "content": {"decision": "Deny"}}), "permission_denied"),
        _ => (json!({"action": "decline"}), "permission_denied"),
    }
}

fn elicits(turn: &mut Turn) -> Caller {
    turn.random.of(&turn.site.elicit).clone()
}

pub(crate) async fn comes_back(turn: &mut Turn) {
    let (caller, (answer, expected)) = (elicits(turn), choice(turn));
    let asked = asked(turn, &caller.token, &turn.secret()).await;
    let done = back(turn, &caller.token, &asked["requestState"], answer.clone()).await;
    assert!(text(&done["result"]).starts_with(expected), "{done}");
    // The answer counts once.
    let again = back(turn, &caller.token, &asked["requestState"], answer).await;
    assert_eq!(again["error"]["code"], -32602, "{again}");
}

/// Somebody else has answered meanwhile.
pub(crate) async fn comes_back_late(turn: &mut Turn) {
    let caller = elicits(turn);
    let asked = asked(turn, &caller.token, &turn.secret()).await;
    let question = asking::question(turn, &turn.secret()).await;
    asking::answer(turn, &question, "allow_once").await;
    let answer = json!({"action": "decline"});
    let done = back(turn, &caller.token, &asked["requestState"], answer).await;
    assert!(text(&done["result"]).starts_with(SECRET_TEXT), "{done}");
}

pub(crate) async fn never_comes_back(turn: &Turn) {
    if turn.site.left.fetch_add(1, Ordering::SeqCst) < MOST_LEFT {
        asked(turn, &turn.site.leaver.token, LEFT).await;
    }
}

/// A session of a client.
struct Session {
    token: String,
    id: String,
}

impl Session {
    async fn begin(turn: &Turn, caller: &Caller, capabilities: &Value) -> Self {
        let params = json!({"protocolVersion": SESSIONS, "capabilities": capabilities,
            "clientInfo": {"name": "soak", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let request = turn.site.request_as(&caller.token, "POST", "/mcp").json(&body);
        let answer = turn.send(request).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], SESSIONS, "{answer:?}");
        let id = answer.header("mcp-session-id").to_owned();
        let session = Self { token: caller.token.clone(), id };
        session.tells(turn, json!({"method": "notifications/initialized"})).await;
        session
    }

    fn request(&self, turn: &Turn, method: &str) -> Request {
        turn.site
            .request_as(&self.token, method, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", SESSIONS)
            .header("mcp-session-id", &self.id)
    }

    fn asks(&self, turn: &Turn, id: u32, method: &str, params: &Value) -> Request {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.request(turn, "POST").json(&body)
    }

    /// Sends something that is not answered.
    async fn tells(&self, turn: &Turn, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let answer = turn.send(self.request(turn, "POST").json(&message)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
    }
}

pub(crate) async fn session(turn: &mut Turn) {
    let caller = turn.caller();
    let session = Session::begin(turn, &caller, &json!({})).await;
    let pong = turn.send(session.asks(turn, 1, "ping", &json!({}))).await;
    assert_eq!(pong.json()["result"], json!({}));
    for id in 2..3 + u32::try_from(turn.random.below(3)).unwrap() {
        turn.site.made("read");
        let params = json!({"name": "read", "arguments": {"path": SHARED}});
        let read = turn.send(session.asks(turn, id, "tools/call", &params)).await.json();
        assert_eq!(text(&read["result"]), SHARED_TEXT, "{read}");
    }
    let ended = turn.send(session.request(turn, "DELETE")).await;
    assert_eq!(ended.status, 204);
    assert_eq!(turn.send(session.asks(turn, 9, "ping", &json!({}))).await.status, 404);
}

/// A question is put to the person of a session, while the call waits.
pub(crate) async fn elicited(turn: &mut Turn) {
    let (caller, (answer, expected)) = (elicits(turn), choice(turn));
    let session = Session::begin(turn, &caller, &json!({"elicitation": {}})).await;
    turn.site.made("read");
    let params = json!({"name": "read", "arguments": {"path": turn.secret()}});
    let mut stream = turn.open(&session.asks(turn, 5, "tools/call", &params)).await;
    let asked = messages(&stream.until("requestedSchema").await)[0].clone();
    session.tells(turn, json!({"id": asked["id"], "result": answer})).await;
    let told = messages(&stream.end().await);
    assert!(text(&told.last().unwrap()["result"]).starts_with(expected), "{told:?}");
    let ended = turn.send(session.request(turn, "DELETE")).await;
    assert_eq!(ended.status, 204);
}

/// Nobody says goodbye, sometimes with a stream that is open, sometimes in the middle of a call.
pub(crate) async fn abandoned(turn: &mut Turn) {
    let caller = turn.caller();
    let session = Session::begin(turn, &caller, &json!({})).await;
    match turn.random.below(3) {
        0 => {
            let mut stream = turn.open(&session.request(turn, "GET")).await;
            stream.until("text/event-stream").await;
            turn.keep(stream);
        }
        1 => {
            turn.site.made("exec");
            let args = json!({"command": SLEEPS});
            let params = json!({"name": "exec", "arguments": args, "_meta": {"progressToken": 1}});
            let mut stream = turn.open(&session.asks(turn, 1, "tools/call", &params)).await;
            stream.until("notifications/progress").await;
        }
        _ => {}
    }
}

pub(crate) async fn listens(turn: &mut Turn) {
    let caller = turn.caller();
    let params = json!({"notifications": {"toolsListChanged": true}});
    let request = stateless(turn, &caller.token, "subscriptions/listen", params);
    let mut stream = turn.open(&request).await;
    stream.until("notifications/subscriptions/acknowledged").await;
    if turn.random.tossed() {
        turn.keep(stream);
    }
}
