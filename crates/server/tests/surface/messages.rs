//! What is asked over a WebSocket, and what is answered.

use std::time::{Duration, Instant};

use futures_util::SinkExt as _;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    client::{Request, send},
    helper::{PATIENCE, Site, Who, until},
};

/// Closes a socket whose token does not work, or no longer.
const UNAUTHENTICATED: Option<u16> = Some(4401);

/// Says something at once, and then nothing for long. What is said is more than what is held back of a
/// stream in which a secret could begin.
fn talks() -> Value {
    json!({"pieces": 2, "bytes": 10_000, "rest_ms": 600_000})
}

/// gateway-002: a page of another site cannot open a WebSocket, whatever it sends along.
#[tokio::test(flavor = "multi_thread")]
async fn a_socket_is_opened_from_our_page_or_from_no_page() {
    let site = Site::with("server.origins = ['https://app.example.org']").await;
    let (own, bearer) = (format!("http://{}", site.address), format!("Bearer {}", site.owner));
    let (cookie, port) = (site.cookie().await, site.address.port());
    let other = format!("rebound.example:{port}");
    let token = ("authorization", bearer.as_str());
    let cookie = ("cookie", cookie.as_str());
    for (headers, expected) in [
        (vec![], 101),
        (vec![token], 101),
        (vec![token, ("origin", own.as_str())], 101),
        (vec![token, ("origin", "https://app.example.org")], 101),
        (vec![cookie, ("origin", own.as_str())], 101),
        (vec![("origin", "https://evil")], 403),
        (vec![token, ("origin", "https://evil")], 403),
        (vec![token, ("origin", "null")], 403),
        (vec![cookie, ("origin", "https://evil")], 403),
        (vec![cookie], 403),
        (vec![cookie, ("origin", "https://app.example.org")], 403),
        (vec![token, ("host", other.as_str())], 421),
        (vec![("authorization", "Bearer tg_wrong")], 401),
        (vec![token, ("toolgate-session", "a b")], 400),
    ] {
        let status = site.open(&headers).await.map_or_else(|status| status, |_| 101);
        assert_eq!(status, expected, "{headers:?}");
    }
    // Before any frame: what is answered is an error, and then nothing.
    let evil = site.request("GET", "/ws").header("origin", "https://evil");
    let evil = evil.header("upgrade", "websocket").header("connection", "upgrade");
    let evil = evil.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let evil = send(evil.header("sec-websocket-version", "13")).await;
    assert_eq!(evil.error(), (403, "permission_denied".to_owned()));
    // A request that is none for a WebSocket is told so.
    assert_eq!(site.get("/ws").await.error(), (400, "validation_error".to_owned()));
    until("no socket stays", async || site.sockets().await == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_cannot_be_read_open_no_socket() {
    let site = Site::new().await;
    for name in ["toolgate-agent", "toolgate-session"] {
        for values in [&["main", "main"][..], &["\u{e9}"]] {
            for begin in [site.request("GET", "/ws"), site.anonymous("GET", "/ws")] {
                let begin =
                    begin.header("connection", "upgrade, close").header("upgrade", "websocket");
                let begin = begin.header("sec-websocket-version", "13");
                let begin = begin.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
                let add = |request: Request, value: &&str| request.header(name, value);
                let answer = send(values.iter().fold(begin.clone(), add)).await;
                let error = (400, "validation_error".to_owned());
                assert_eq!(answer.error(), error, "{name}: {values:?}");
            }
        }
    }
    assert_eq!(site.sockets().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_message_says_who_is_there() {
    let site = Site::new().await;
    let bo = site.token(Who::member("bo")).await;
    let mut socket = site.open(&[]).await.unwrap();
    let said = socket.get("authenticate", json!({"token": bo})).await;
    assert_eq!(said, json!({"user": "bo", "role": "member"}));
    assert_eq!(socket.get("ping", json!({})).await, json!({"pong": true}));
    let (code, message) = socket.error("authenticate", json!({"token": site.owner})).await;
    assert_eq!(code, -32602, "{message}");
    let long = format!("{}{}", "x".repeat(7_000), "y");
    for first in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned(),
        json!({"id": 1, "method": "tools.list", "params": {"token": site.owner}}).to_string(),
        json!({"id": 1, "method": "authenticate", "params": {"token": "tg_wrong"}}).to_string(),
        json!({"id": 1, "method": "authenticate", "params": {"token": ""}}).to_string(),
        json!({"id": 1, "method": "authenticate", "params": {}}).to_string(),
        json!({"id": 1, "method": "authenticate", "params": {"token": long}}).to_string(),
        json!({"method": "authenticate", "params": {"token": "tg_wrong"}}).to_string(),
        "{".to_owned(),
        "[]".to_owned(),
        String::new(),
    ] {
        let mut socket = site.open(&[]).await.unwrap();
        socket.say(&first).await;
        assert_eq!(socket.closed().await, UNAUTHENTICATED, "{first}");
    }
    assert_eq!(site.entries().len(), 0, "nothing was called");
    until("only one is left", async || site.sockets().await == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_or_too_much_before_that_is_not_waited_for() {
    let site = Site::new().await;
    let began = Instant::now();
    let mut silent = site.open(&[]).await.unwrap();
    let mut endless = site.open(&[]).await.unwrap();
    let mut binary = site.open(&[]).await.unwrap();
    // No more of this is read than fits into the first few kilobytes.
    endless.say(&format!("{{\"id\": 1, \"x\": \"{}\"", "x".repeat(500_000))).await;
    binary.stream.send(Message::binary(b"authenticate".to_vec())).await.unwrap();
    assert_eq!(binary.closed().await, Some(1003));
    let code = endless.closed().await;
    assert!(code.is_none() || code == UNAUTHENTICATED, "{code:?}");
    assert!(began.elapsed() > Duration::from_secs(4), "it was not even read to its end");
    assert_eq!(silent.closed().await, UNAUTHENTICATED);
    until("nobody is left", async || site.sockets().await == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_makes_no_sense_is_answered_and_the_connection_goes_on() {
    let site = Site::new().await;
    let mut socket = site.socket(&site.owner).await;
    for (text, code, id, words) in [
        ("{", -32700, Value::Null, ""),
        ("", -32700, Value::Null, ""),
        (r#"{"id":1,"id":2,"method":"ping"}"#, -32700, Value::Null, "id"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, Value::Null, "several at once"),
        ("[]", -32600, Value::Null, "one JSON object"),
        ("1", -32600, Value::Null, "one JSON object"),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, json!(7), "2.0"),
        (r#"{"id":"a"}"#, -32600, json!("a"), "method"),
        (r#"{"id":3,"method":5}"#, -32600, json!(3), "method"),
        (r#"{"id":null,"method":"ping"}"#, -32600, Value::Null, "id"),
        (r#"{"id":{},"method":"ping"}"#, -32600, Value::Null, "id"),
        (r#"{"id":4,"method":"ping","params":[1]}"#, -32602, json!(4), "object"),
        (r#"{"id":5,"method":"tools.lst"}"#, -32601, json!(5), "`tools.list`"),
        (r#"{"id":6,"method":"rpc.discover"}"#, -32601, json!(6), "no method"),
        (r#"{"id":8,"method":"ping","params":{"x":1}}"#, -32602, json!(8), "x"),
        (r#"{"id":9,"method":"tools.call","params":{}}"#, -32602, json!(9), "name"),
        (r#"{"id":9,"method":"tools.call","params":{"nam":"read"}}"#, -32602, json!(9), "`name`"),
        (r#"{"id":9,"method":"calls.cancel","params":{}}"#, -32602, json!(9), "either"),
        (r#"{"id":9,"method":"calls.cancel","params":{"call_id":"x"}}"#, -32602, json!(9), ""),
        (
            r#"{"id":9,"method":"events.subscribe","params":{"kinds":["call.start"]}}"#,
            -32602,
            json!(9),
            "call.started",
        ),
        (r#"{"id":9,"method":"events.subscribe","params":{"since":"x"}}"#, -32602, json!(9), ""),
        (
            r#"{"id":9,"method":"approvals.resolve","params":{"decision":"deny"}}"#,
            -32602,
            json!(9),
            "id",
        ),
        (
            r#"{"id":9,"method":"approvals.list","params":{"limit":0}}"#,
            -32602,
            json!(9),
            "1 to 500",
        ),
        (
            r#"{"id":9,"method":"sessions.history","params":{"session":"agent:main:none"}}"#,
            -32004,
            json!(9),
            "no session",
        ),
        (
            r#"{"id":9,"method":"sessions.send","params":{"message":"hello","agent":"nobody"}}"#,
            -32004,
            json!(9),
            "no agent",
        ),
    ] {
        socket.say(text).await;
        let answer = socket.message().await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{text}: {answer}"
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{text}: {message}");
    }
    assert_eq!(socket.get("ping", json!({})).await, json!({"pong": true}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_is_not_answered_whatever_comes_of_it() {
    let site = Site::new().await;
    let mut socket = site.socket(&site.owner).await;
    for text in [
        r#"{"jsonrpc":"2.0","method":"ping"}"#,
        r#"{"method":"no.such.method"}"#,
        r#"{"method":"ping","params":[1]}"#,
        r#"{"method":"authenticate","params":{"token":"x"}}"#,
        r#"{"method":"events.subscribe","params":{"kinds":["nothing"]}}"#,
        r#"{"method":"tools.call","params":{"name":"get_current_time"}}"#,
    ] {
        socket.say(text).await;
    }
    until("the call is made all the same", async || {
        site.entries().iter().any(|entry| entry.tool_name == "get_current_time")
    })
    .await;
    let id = socket.begin("ping", json!({})).await;
    assert_eq!(
        socket.message().await,
        json!({"jsonrpc": "2.0", "id": id, "result": {"pong": true}})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_and_called_with_updates_before_the_outcome() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let bo = site.token(Who::member("bo")).await;
    let mut socket = site.socket(&bo).await;
    let listed = socket.get("tools.list", json!({})).await;
    let names: Vec<_> =
        listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    let expected =
        ["add_task", "get_current_time", "list_tasks", "ring", "save_note", "search_notes", "talk"];
    assert_eq!(names, expected);
    let id = socket.begin("tools.call", json!({"name": "talk", "arguments": {"pieces": 30}})).await;
    let mut said = String::new();
    let outcome = loop {
        let message = socket.message().await;
        if message["id"] == id {
            break message["result"].clone();
        }
        assert_eq!(
            (&message["method"], &message["params"]["request"]),
            (&json!("call.updated"), &json!(id))
        );
        said += message["params"]["text"].as_str().unwrap();
    };
    let expected: Vec<_> = (0..30).map(|piece| format!("piece {piece} \n")).collect();
    assert_eq!(said, expected.concat());
    assert_eq!((&outcome["status"], &outcome["result"]), (&json!("success"), &json!("said")));
    // What a tool refuses is an outcome, not an error of the protocol.
    let refused =
        socket.get("tools.call", json!({"name": "read", "arguments": {"path": "a"}})).await;
    assert_eq!(refused["error_type"], "tool_not_available");
    let invalid = socket.get("tools.call", json!({"name": "talk", "arguments": {}})).await;
    assert_eq!(invalid["error_type"], "validation_error");
    let named = json!({"name": "get_current_time", "agent": "scout", "session": "s1"});
    assert_eq!(socket.get("tools.call", named).await["status"], "success");
    let last = site.entries().pop().unwrap();
    let who = (last.user_id.as_str(), last.agent.as_str(), last.session.as_str());
    assert_eq!((who, last.channel.as_deref()), (("bo", "scout", "s1"), Some("http")));
    let (code, _) = socket.error("tools.call", json!({"name": "talk", "session": "a b"})).await;
    assert_eq!(code, -32602);
    let agent = site.token(Who { agents: Some(&["helper"]), ..Who::OWNER }).await;
    let mut socket = site.socket(&agent).await;
    let (code, _) = socket.error("tools.call", json!({"name": "get_current_time"})).await;
    assert_eq!(code, -32003, "that is not its agent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_stopped_by_its_id_or_by_its_request() {
    let site = Site::new().await;
    let [bo, cy] = [site.token(Who::member("bo")).await, site.token(Who::member("cy")).await];
    let (mut socket, mut stranger) = (site.socket(&bo).await, site.socket(&cy).await);
    let rest = json!({"name": "talk", "arguments": talks()});
    for by_request in [true, false] {
        let id = socket.begin("tools.call", rest.clone()).await;
        let call = loop {
            let update = socket.told("call.updated").await;
            if update["request"] == id {
                break update["call_id"].clone();
            }
        };
        assert_eq!(stranger.error("calls.cancel", json!({"call_id": call})).await.0, -32004);
        assert_eq!(stranger.error("calls.cancel", json!({"request": id})).await.0, -32004);
        let which = if by_request { json!({"request": id}) } else { json!({"call_id": call}) };
        let stopped = socket.get("calls.cancel", which.clone()).await;
        assert_eq!(stopped, json!({"call_id": call, "cancelled": true}));
        assert_eq!(socket.answer(id).await.unwrap()["error_type"], "cancelled");
        assert_eq!(socket.error("calls.cancel", which).await.0, -32004, "it is over");
    }
    let cancelled =
        site.entries().iter().filter(|e| e.error_type.as_deref() == Some("cancelled")).count();
    assert_eq!((cancelled, site.entries().len()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_has_so_many_requests_at_once() {
    let site = Site::with("server.ws_requests = 3").await;
    let mut socket = site.socket(&site.owner).await;
    let rest = json!({"name": "talk", "arguments": {"pieces": 0, "rest_ms": 600_000}});
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(socket.begin("tools.call", rest.clone()).await);
    }
    until("they run", async || site.gate.stats().running == 3).await;
    let (code, message) = socket.error("ping", json!({})).await;
    assert_eq!(code, -32029, "{message}");
    // Also the one that would make room, so another connection has to.
    let mut other = site.socket(&site.owner).await;
    let call = site.get("/v1/calls?status=running").await.json()["calls"][0]["id"].clone();
    other.get("calls.cancel", json!({"call_id": call})).await;
    until("there is room again", async || socket.ask("ping", json!({})).await.is_ok()).await;
    drop(socket);
    until("what it began has ended", async || site.gate.stats().running == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_sockets_are_open_at_once() {
    let site = Site::with("server.ws_connections = 2").await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(site.socket(&site.owner).await);
    }
    // Also of those whom nobody knows yet.
    assert_eq!(site.open(&[]).await.err(), Some(503));
    assert_eq!(site.get("/v1/stats").await.status, 200, "other connections are counted apart");
    assert_eq!(site.metric("toolgate_connections_refused_total").await, 1);
    held.pop();
    until("there is room again", async || site.open(&[]).await.is_ok()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_vanishes_in_the_middle_of_a_call_stops_it_and_it_is_recorded_once() {
    let site = Site::new().await;
    for _ in 0..3 {
        let mut socket = site.socket(&site.owner).await;
        let rest = json!({"name": "talk", "arguments": talks()});
        socket.begin("tools.call", rest).await;
        socket.told("call.updated").await;
        assert_eq!(site.sockets().await, 1);
        // Without a close frame.
        drop(socket);
        until("nothing runs", async || site.gate.stats().running == 0).await;
        until("nobody is connected", async || site.sockets().await == 0).await;
    }
    until("all is recorded", async || site.entries().iter().all(|entry| entry.finished.is_some()))
        .await;
    let entries = site.entries();
    let ends: Vec<_> = entries.iter().map(|entry| entry.error_type.as_deref()).collect();
    assert_eq!(ends, [Some("cancelled"); 3]);
    // One of the plain connections is the one that asks.
    until("no connection is counted", async || site.metric("toolgate_http_connections").await == 1)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_too_long_or_no_text_ends_the_connection() {
    let site = Site::new().await;
    let mut fits = site.socket(&site.owner).await;
    let text = |bytes: usize| {
        let call =
            json!({"name": "write", "arguments": {"path": "a.txt", "content": "x".repeat(bytes)}});
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools.call", "params": call}).to_string()
    };
    fits.say(&text(900_000)).await;
    assert_eq!(fits.answer(1).await.unwrap()["status"], "success");
    for _ in 0..5 {
        let mut long = site.socket(&site.owner).await;
        // The server hangs up while we still speak.
        let _ = long.stream.send(Message::text(text(3_000_000))).await;
        assert_eq!(long.closed().await, Some(1009));
    }
    let mut binary = site.socket(&site.owner).await;
    binary.stream.send(Message::binary(vec![0; 100])).await.unwrap();
    assert_eq!(binary.closed().await, Some(1003));
    assert_eq!(site.entries().len(), 1);
    drop(fits);
    until("nobody is connected", async || site.sockets().await == 0).await;
}

/// Bytes that are no frames, and frames that no client may send.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_websocket_ends_the_connection_and_nothing_else() {
    let site = Site::new().await;
    let request = site
        .request("GET", "/ws")
        .header("upgrade", "websocket")
        .header("connection", "upgrade")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
        .header("sec-websocket-version", "13");
    for bytes in [
        // Not masked.
        &b"\x81\x05hello"[..],
        // An opcode that does not exist.
        b"\x83\x80\0\0\0\0",
        // A ping longer than pings are.
        &[&b"\x89\xfe\x01\x00\0\0\0\0"[..], &[0; 256]].concat(),
        // A text that is not UTF-8.
        b"\x81\x82\0\0\0\0\xff\xff",
        // A length that fits into no memory.
        b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 101");
        stream.write_all(bytes).await.unwrap();
        let mut rest = Vec::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
        assert!(read.is_ok(), "the server does not hang up on {bytes:?}");
    }
    until("nobody is connected", async || site.sockets().await == 0).await;
    assert_eq!(site.get("/v1/stats").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_answer_a_ping_is_gone() {
    let site = Site::with("server.ws_ping = '100ms'").await;
    let mut listens = site.socket(&site.owner).await;
    // Answers no ping, because it does not read.
    let mut deaf = site.socket(&site.owner).await;
    let rest = json!({"name": "talk", "arguments": {"pieces": 0, "rest_ms": 600_000}});
    deaf.begin("tools.call", rest).await;
    until("only one is left", async || {
        let _ = listens.ask("ping", json!({})).await;
        site.sockets().await == 1
    })
    .await;
    until("its call has ended", async || site.gate.stats().running == 0).await;
    let code = deaf.closed().await;
    assert!(code.is_none() || code == Some(1001), "{code:?}");
    assert_eq!(listens.get("ping", json!({})).await, json!({"pong": true}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_ends_its_sockets() {
    let site = Site::with("server.ws_ping = '100ms'").await;
    let revoke = async |user: &str| {
        let tokens = site.get("/v1/tokens").await.json();
        let tokens = tokens["tokens"].as_array().unwrap().clone();
        let id = tokens.iter().find(|token| token["user"] == user).unwrap()["id"].clone();
        let path = format!("/v1/tokens/{}", id.as_str().unwrap());
        assert_eq!(send(site.request("DELETE", &path)).await.status, 200);
    };
    // One by itself, at the next look.
    let [bo, cy] = [site.token(Who::member("bo")).await, site.token(Who::member("cy")).await];
    let mut silent = site.socket(&bo).await;
    revoke("bo").await;
    assert_eq!(silent.closed().await, UNAUTHENTICATED);
    // One with its next request, which is not answered.
    let mut asks = site.socket(&cy).await;
    asks.get("ping", json!({})).await;
    revoke("cy").await;
    asks.begin("tools.call", json!({"name": "get_current_time"})).await;
    assert_eq!(asks.closed().await, UNAUTHENTICATED);
    // And one whose time is up.
    let hour = Some(Duration::from_hours(1));
    let mut short = site.socket(&site.token(Who { lasts: hour, ..Who::OWNER }).await).await;
    short.get("ping", json!({})).await;
    site.pass(Duration::from_hours(2));
    assert_eq!(short.closed().await, UNAUTHENTICATED);
    assert_eq!(site.entries().len(), 0);
}
