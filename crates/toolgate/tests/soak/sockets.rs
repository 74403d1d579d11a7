//! Clients of the WebSocket.

use serde_json::{Value, json};

use crate::{
    helper::{SHARED, SLEEPS},
    script,
    socket::Socket,
    turn::Turn,
};

async fn open(turn: &Turn, token: &str) -> Socket {
    turn.site.sent(turn.kind);
    turn.site.socket(token).await
}

/// The next partial result of a call; it is not over before.
pub(crate) async fn updated(socket: &mut Socket) -> Value {
    loop {
        let mut message = socket.message().await;
        assert!(message.get("method").is_some(), "it ended: {message}");
        if message["method"] == "call.updated" {
            return message["params"].take();
        }
    }
}

pub(crate) async fn call(turn: &mut Turn) {
    let caller = turn.caller();
    let mut socket = open(turn, &caller.token).await;
    let mut expected = Vec::new();
    for _ in 0..=turn.random.below(4) {
        let (tool, args, status) = match turn.random.below(3) {
            0 => ("read", json!({"path": SHARED}), ""),
            1 => ("read", json!({"path": "none.txt"}), "file_not_found"),
            _ => ("add_task", json!({"titel": "x"}), "validation_error"),
        };
        turn.site.made(tool);
        turn.site.sent(turn.kind);
        let params = json!({"name": tool, "arguments": args, "session": turn.name()});
        expected.push((socket.begin("tools.call", params).await, status));
    }
    for (id, status) in expected {
        let outcome = socket.answer(id).await.unwrap();
        assert_eq!(outcome["error_type"].as_str().unwrap_or_default(), status, "{outcome}");
    }
    let lists = ["tools.list", "sessions.list", "approvals.list", "agents.list", "ping"];
    let list = *turn.random.of(&lists);
    turn.site.sent(turn.kind);
    socket.get(list, json!({})).await;
    if turn.random.tossed() {
        // The other half just goes.
        socket.stream.close(None).await.unwrap();
    }
}

/// Is told of its own call from beginning to end.
pub(crate) async fn watch(turn: &mut Turn) {
    let caller = turn.caller();
    let mut socket = open(turn, &caller.token).await;
    socket.get("events.subscribe", json!({"kinds": ["call.started", "call.finished"]})).await;
    let outcome = turn.call(&caller, ("read", json!({"path": SHARED})), (200, "")).await;
    for kind in ["call.started", "call.finished"] {
        while socket.told(kind).await["call_id"] != outcome["meta"]["call_id"] {}
    }
    if turn.random.tossed() {
        turn.keep(socket);
    }
}

pub(crate) async fn speak(turn: &mut Turn) {
    let caller = turn.caller();
    let mut socket = open(turn, &caller.token).await;
    turn.site.made("read");
    let message = script::calls(&[("read", json!({"path": SHARED}))]);
    let name = format!("spoken-{}", turn.name());
    turn.site.sent(turn.kind);
    let said = socket.get("sessions.send", json!({"message": message, "session": name})).await;
    assert!(said.to_string().contains(script::END), "{said}");
}

pub(crate) async fn cancel(turn: &mut Turn) {
    let caller = turn.caller();
    let mut socket = open(turn, &caller.token).await;
    turn.site.made("exec");
    let args = json!({"command": SLEEPS});
    turn.site.sent(turn.kind);
    let id = socket.begin("tools.call", json!({"name": "exec", "arguments": args})).await;
    updated(&mut socket).await;
    if turn.random.tossed() {
        turn.site.sent(turn.kind);
        socket.get("calls.cancel", json!({"request": id})).await;
        let outcome = socket.answer(id).await.unwrap();
        assert_eq!(outcome["error_type"], "cancelled", "{outcome}");
    }
}
