//! Tokens and users that come and go.

use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpSocket};

use crate::{
    client::{self, Request},
    helper::Caller,
    turn::Turn,
};

/// Wrong tokens are counted by address, and more are sent here than from one address would be.
async fn status_from_elsewhere(turn: &Turn, request: &Request) -> u16 {
    turn.site.sent(turn.kind);
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((std::net::Ipv4Addr::from(turn.site.new_address()), 0).into()).unwrap();
    let mut stream = socket.connect(request.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    let answer = client::rest(&mut stream).await;
    String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap().parse().unwrap()
}

async fn make(turn: &Turn, body: Value) -> (Caller, String) {
    let made = turn.get(&turn.site.owner, ("POST", "/v1/tokens"), Some(body), 201).await;
    let text = |name: &str| made[name].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    (Caller { token: text("token") }, text("id"))
}

/// A token works, and works no more.
async fn is_worth_nothing(turn: &Turn, caller: &Caller) {
    let request = turn.site.request_as(&caller.token, "POST", "/v1/tools/get_current_time");
    assert_eq!(status_from_elsewhere(turn, &request.json(&json!({}))).await, 401);
}

pub(crate) async fn token(turn: &mut Turn) {
    let user = *turn.random.of(&["owner", "ada", "bob"]);
    let body = if user == "owner" {
        json!({"name": turn.name()})
    } else {
        json!({"name": turn.name(), "user": user})
    };
    let (caller, id) = make(turn, body).await;
    turn.call(&caller, ("get_current_time", json!({})), (200, "")).await;
    let mut socket = turn.site.socket(&caller.token).await;
    let owner = turn.site.owner.clone();
    turn.get(&owner, ("DELETE", &format!("/v1/tokens/{id}")), None, 200).await;
    is_worth_nothing(turn, &caller).await;
    assert_eq!(socket.closed().await, Some(4401));
}

pub(crate) async fn user(turn: &Turn) {
    let (id, owner) = (format!("u-{}", turn.name()), turn.site.owner.clone());
    turn.get(&owner, ("POST", "/v1/users"), Some(json!({"id": id})), 201).await;
    let (caller, _) = make(turn, json!({"name": "theirs", "user": id})).await;
    turn.call(&caller, ("get_current_time", json!({})), (200, "")).await;
    turn.call(&caller, ("add_task", json!({"title": "leave"})), (200, "")).await;
    turn.get(&owner, ("DELETE", &format!("/v1/users/{id}")), None, 200).await;
    is_worth_nothing(turn, &caller).await;
}
