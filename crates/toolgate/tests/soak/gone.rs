//! Clients that vanish in the middle of something, or do not read.

use std::time::Duration;

use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::{
    asking, chat,
    helper::{SHARED, SLEEPS},
    script,
    sockets::updated,
    turn::Turn,
};

/// Half a request: no call comes of it.
pub(crate) async fn in_a_request(turn: &mut Turn) {
    let caller = turn.caller();
    let request = turn.site.request_as(&caller.token, "POST", "/v1/tools/write");
    let bytes = request.json(&json!({"path": "half.txt", "content": "x".repeat(500)})).bytes();
    let most = turn.random.below(bytes.len() as u64);
    turn.site.sent(turn.kind);
    let mut stream = TcpStream::connect(turn.site.address).await.unwrap();
    stream.write_all(&bytes[..usize::try_from(most).unwrap()]).await.unwrap();
    if turn.random.tossed() {
        turn.keep(stream);
    }
}

pub(crate) async fn in_a_call(turn: &mut Turn) {
    let caller = turn.caller();
    let args = json!({"command": SLEEPS});
    let request = turn.calling(&caller, "exec", &args).header("accept", "text/event-stream");
    turn.open(&request).await.until("it has started").await;
}

pub(crate) async fn in_a_stream(turn: &mut Turn) {
    let caller = turn.caller();
    let request = chat::says(turn, &caller, (None, &script::slowly()), &json!(true));
    turn.open(&request).await.until("All ").await;
}

pub(crate) async fn in_a_question(turn: &mut Turn) {
    let (caller, secret) = (turn.caller(), turn.secret());
    let question = if turn.random.tossed() {
        let request = turn.calling(&caller, "read", &json!({"path": secret}));
        let stream = turn.open(&request).await;
        let question = asking::question(turn, &secret).await;
        drop(stream);
        question
    } else {
        turn.site.made("read");
        let message = script::calls(&[("read", json!({"path": secret}))]);
        let request = chat::says(turn, &caller, (None, &message), &json!(true));
        let stream = turn.open(&request).await;
        let question = asking::question(turn, &secret).await;
        drop(stream);
        question
    };
    asking::ends(turn, &question, "withdrawn").await;
}

/// A socket that goes while its calls run.
pub(crate) async fn in_a_socket(turn: &mut Turn) {
    let caller = turn.caller();
    turn.site.sent(turn.kind);
    let mut socket = turn.site.socket(&caller.token).await;
    for _ in 0..2 {
        turn.site.made("exec");
        let args = json!({"command": SLEEPS});
        socket.begin("tools.call", json!({"name": "exec", "arguments": args})).await;
    }
    let first = updated(&mut socket).await["call_id"].take();
    while updated(&mut socket).await["call_id"] == first {}
}

/// Nobody knows whether a call comes of it; no other action uses this tool.
pub(crate) async fn at_once(turn: &mut Turn) {
    let caller = turn.caller();
    let request = turn.calling(&caller, "grep", &json!({"pattern": "so on"}));
    let stream = turn.open(&request).await;
    tokio::time::sleep(Duration::from_millis(turn.random.below(20))).await;
    drop(stream);
}

/// Reads a little at a time; or subscribes, and reads nothing.
pub(crate) async fn slow_reader(turn: &mut Turn) {
    if turn.random.tossed() {
        let token = turn.site.owner.clone();
        turn.site.sent(turn.kind);
        let mut socket = turn.site.socket(&token).await;
        socket.begin("events.subscribe", json!({"since": 0})).await;
        return turn.keep(socket);
    }
    let caller = turn.caller();
    let args = json!({"command": "for i in $(seq 2000); do echo a line of some length $i; done"});
    let request = turn.calling(&caller, "exec", &args).header("accept", "text/event-stream");
    let mut stream = turn.open(&request).await;
    for _ in 0..20 {
        stream.piece(64).await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let outcome = crate::rest::outcome(&stream.end().await);
    assert_eq!(outcome["status"], "success", "{outcome}");
    turn.call(&caller, ("read", json!({"path": SHARED})), (200, "")).await;
}
