//! Questions about calls, answered or not.

use serde_json::{Value, json};

use crate::{
    chat,
    client::{Answer, Request},
    helper::{Caller, SECRET_TEXT, until},
    script,
    turn::Turn,
};

/// The question about the file of this worker.
pub(crate) async fn question(turn: &Turn, path: &str) -> Value {
    let approver = turn.site.approvers[0].clone();
    let mut found = Value::Null;
    until("it asks", async || {
        let list = turn.get(&approver, ("GET", "/v1/approvals?limit=500"), None, 200).await;
        let all = list["approvals"].as_array().unwrap();
        let mine = all.iter().find(|question| question["input"]["path"] == path);
        found = mine.cloned().unwrap_or_default();
        !found.is_null()
    })
    .await;
    found
}

/// How a question ends, which is one of these.
pub(crate) async fn ends(turn: &Turn, question: &Value, status: &str) {
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let owner = turn.site.owner.clone();
    let mut last = Value::Null;
    until("it is over", async || {
        last = turn.get(&owner, ("GET", &path), None, 200).await["status"].take();
        last != "pending"
    })
    .await;
    assert_eq!(last, status, "{question}");
}

/// An answer that counts.
pub(crate) async fn answer(turn: &mut Turn, question: &Value, decision: &str) {
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let approver = turn.random.of(&turn.site.approvers).clone();
    turn.site.made("answer");
    turn.get(&approver, ("POST", &path), Some(json!({"decision": decision})), 200).await;
}

/// A call that asks, in a session of its own.
fn asks(turn: &Turn, caller: &Caller) -> Request {
    turn.site.made("read");
    let request = turn.site.request_as(&caller.token, "POST", "/v1/tools/read");
    let session = format!("ask-{}", turn.name());
    request.header("toolgate-session", &session).json(&json!({"path": turn.secret()}))
}

/// What a call comes to after such an answer.
fn is_as_decided(answer: &Answer, decision: &str) {
    let outcome = answer.json();
    if decision == "deny" {
        assert_eq!(answer.error(), (403, "permission_denied".to_owned()), "{outcome}");
    } else {
        assert_eq!(answer.status, 200, "{outcome}");
        assert!(outcome.to_string().contains(SECRET_TEXT.trim()), "{outcome}");
    }
}

pub(crate) async fn answered(turn: &mut Turn) {
    let (caller, secret) = (turn.caller(), turn.secret());
    let decision = *turn.random.of(&["allow_once", "allow_session", "deny"]);
    let call = turn.begin(asks(turn, &caller));
    let question = question(turn, &secret).await;
    answer(turn, &question, decision).await;
    is_as_decided(&call.await.unwrap(), decision);
    if decision == "allow_session" {
        is_as_decided(&turn.send(asks(turn, &caller)).await, decision);
    }
    // A second answer is none.
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let approver = turn.site.approvers[0].clone();
    turn.site.made("answer");
    turn.get(&approver, ("POST", &path), Some(json!({"decision": "deny"})), 409).await;
}

pub(crate) async fn answered_by_socket(turn: &mut Turn) {
    let (caller, secret) = (turn.caller(), turn.secret());
    let approver = turn.random.of(&turn.site.approvers).clone();
    let mut socket = turn.site.socket(&approver).await;
    let kinds = json!({"kinds": ["approval.requested", "approval.resolved"]});
    socket.get("events.subscribe", kinds).await;
    turn.site.sent(turn.kind);
    let call = turn.begin(asks(turn, &caller));
    let asked = loop {
        let asked = socket.told("approval.requested").await;
        if asked["input"]["path"] == secret.as_str() {
            break asked;
        }
    };
    let decision = *turn.random.of(&["allow_once", "deny"]);
    turn.site.made("answer");
    turn.site.sent(turn.kind);
    socket.get("approvals.resolve", json!({"id": asked["id"], "decision": decision})).await;
    is_as_decided(&call.await.unwrap(), decision);
    while socket.told("approval.resolved").await["id"] != asked["id"] {}
}

pub(crate) async fn answered_in_chat(turn: &mut Turn) {
    let (caller, secret) = (turn.caller(), turn.secret());
    let message = script::calls(&[("read", json!({"path": secret}))]);
    turn.site.made("read");
    let request = chat::says(turn, &caller, (None, &message), &json!(false));
    let call = turn.begin(request);
    let question = question(turn, &secret).await;
    let decision = *turn.random.of(&["allow_once", "deny"]);
    answer(turn, &question, decision).await;
    let said = call.await.unwrap();
    assert_eq!(said.status, 200, "{}", said.text());
    let status = if decision == "deny" { "permission_denied" } else { "success" };
    let said = said.json();
    assert_eq!(said["tool_calls"][0]["status"], status, "{said}");
}

/// Nobody answers: whoever asks takes it back.
pub(crate) async fn cancelled(turn: &mut Turn) {
    let (caller, secret) = (turn.caller(), turn.secret());
    let call = turn.begin(asks(turn, &caller));
    let question = question(turn, &secret).await;
    let path = format!("/v1/calls/{}/cancel", question["call"].as_str().unwrap());
    turn.get(&caller.token, ("POST", &path), None, 200).await;
    assert_eq!(call.await.unwrap().error(), (499, "cancelled".to_owned()));
    ends(turn, &question, "withdrawn").await;
}
