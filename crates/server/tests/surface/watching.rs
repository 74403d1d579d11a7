//! What happens is told to whoever may see it, once and in order.

use serde_json::{Value, json};
use tokio::net::TcpSocket;

use crate::{
    client::send,
    helper::{Site, Who, until},
    socket::Socket,
};

impl Site {
    /// A socket that is told what happens.
    async fn watching(&self, token: &str) -> Socket {
        let mut socket = self.socket(token).await;
        socket.get("events.subscribe", json!({})).await;
        socket
    }

    /// A call that is over at once.
    async fn look_at_the_clock(&self, token: &str) {
        let request = self.request_as(token, "POST", "/v1/tools/get_current_time");
        assert_eq!(send(request.json(&json!({}))).await.status, 200);
    }
}

/// Kinds and users of what was told.
fn kinds(told: &[Value]) -> Vec<String> {
    let user = |one: &'_ Value| one["params"]["user"].as_str().unwrap_or_default().to_owned();
    told.iter().map(|one| format!("{} {}", one["method"].as_str().unwrap(), user(one))).collect()
}

/// The ids of what was told.
fn ids(told: &[Value]) -> Vec<u64> {
    told.iter().map(|one| one["params"]["event_id"].as_u64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_questions_are_told_from_beginning_to_end() {
    let site = Site::new().await;
    let bo = site.token(Who::member("bo")).await;
    let mut socket = site.watching(&site.owner).await;
    let request = site.request_as(&bo, "POST", "/v1/tools/ring").header("toolgate-session", "s1");
    let call = tokio::spawn(send(request.json(&json!({"shout": "hey"}))));
    let started = socket.told("call.started").await;
    let expected = ("ring", "bo", "main", "s1", "http");
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let said = ["tool", "user", "agent", "session", "channel"].map(|name| text(&started, name));
    assert_eq!(said, [expected.0, expected.1, expected.2, expected.3, expected.4]);
    let asked = socket.told("approval.requested").await;
    assert_eq!((&asked["call"], &asked["input"]["shout"]), (&started["call_id"], &json!("hey")));
    let answer = json!({"id": asked["id"], "decision": "deny", "message": "quiet"});
    socket.get("approvals.resolve", answer).await;
    let resolved = socket.told("approval.resolved").await;
    assert_eq!((&resolved["id"], &resolved["status"]), (&asked["id"], &json!("denied")));
    assert_eq!(resolved["message"], "quiet");
    let outcome = call.await.unwrap().json();
    let finished = loop {
        let finished = socket.told("call.finished").await;
        if finished["tool"] == "ring" {
            break finished;
        }
    };
    assert_eq!(finished["call_id"], outcome["meta"]["call_id"]);
    assert_eq!(
        (&finished["status"], &finished["error_type"]),
        (&json!("error"), &json!("permission_denied"))
    );
    // A question whose call is gone is over, too.
    let (call, question) = site.start_asking(&bo).await;
    call.abort();
    loop {
        let resolved = socket.told("approval.resolved").await;
        if resolved["id"] == question["id"] {
            assert_eq!(resolved["status"], "withdrawn");
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_told_of_their_own_and_of_what_they_may_answer() {
    let site =
        Site::with("tools.approvers = ['ann']\n[agents.helper]\ndescription = 'helps'").await;
    let [ann, bo, cy] = [
        site.token(Who::member("ann")).await,
        site.token(Who::member("bo")).await,
        site.token(Who::member("cy")).await,
    ];
    let helper = site.token(Who { agents: Some(&["helper"]), ..Who::OWNER }).await;
    let mut owner = site.watching(&site.owner).await;
    let mut watchers = Vec::new();
    for token in [&ann, &bo, &cy, &helper] {
        watchers.push(site.watching(token).await);
    }
    let (call, question) = site.start_asking(&bo).await;
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let approver = site.token(Who::OWNER).await;
    let yes = site.request_as(&approver, "POST", &path).json(&json!({"decision": "allow_once"}));
    assert_eq!(send(yes).await.status, 200);
    assert_eq!(call.await.unwrap().status, 200);
    site.look_at_the_clock(&site.owner).await;
    let request = site.request_as(&helper, "POST", "/v1/tools/get_current_time");
    let request = request.header("toolgate-agent", "helper").json(&json!({}));
    assert_eq!(send(request).await.status, 200);
    owner.told("approval.resolved").await;
    let mut told = Vec::new();
    for watcher in &mut watchers {
        let mut all = watcher.all().await;
        all.retain(|one| one["params"]["tool"] != "answer");
        let mut kinds = kinds(&all);
        kinds.sort();
        told.push(kinds);
    }
    let asked = ["approval.requested bo", "approval.resolved bo"].map(str::to_owned);
    let called = ["call.finished bo", "call.started bo"].map(str::to_owned);
    let own = ["call.finished owner", "call.started owner"].map(str::to_owned);
    assert_eq!(told[0], asked, "who may answer");
    assert_eq!(told[1], [asked, called].concat(), "whose it is");
    assert_eq!(told[2], Vec::<String>::new(), "somebody else");
    assert_eq!(
        told[3], own,
        "an agent's token: its own agent's, and not what the owner's main one does"
    );
    let all = owner.all().await;
    let started = kinds(&all).iter().filter(|kind| kind.starts_with("call.started")).count();
    assert_eq!(started, 4, "the owner: all, and the answer itself: {all:?}");
}

/// Questions that are over are seen by those they were of, and by the owner.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_answer_is_told_later_only_of_questions_that_are_open() {
    let site = Site::new().await;
    let [ann, bo] = [site.token(Who::member("ann")).await, site.token(Who::member("bo")).await];
    let mut owner = site.watching(&site.owner).await;
    let (call, over) = site.start_asking(&bo).await;
    let answer = json!({"id": over["id"], "decision": "deny", "message": "quiet"});
    owner.get("approvals.resolve", answer).await;
    assert_eq!(call.await.unwrap().status, 403);
    let resolved = owner.told("approval.resolved").await["event_id"].as_u64().unwrap();
    let (call, open) = site.start_asking(&bo).await;
    let config = config::parse("tools.approvers = ['ann']", "t.toml").unwrap();
    site.gate.reload(config).unwrap();
    let replayed = async |token: &str, since: u64| {
        let mut socket = site.socket(token).await;
        socket.get("events.subscribe", json!({"since": since})).await;
        let mut all = socket.all().await;
        all.retain(|one| one["method"].as_str().unwrap().starts_with("approval."));
        let one = |one: &Value| (one["method"].clone(), one["params"]["id"].clone());
        all.iter().map(one).collect::<Vec<_>>()
    };
    let event = |kind: &str, question: &Value| (json!(kind), question["id"].clone());
    let asked = event("approval.requested", &open);
    assert_eq!(replayed(&ann, 0).await, std::slice::from_ref(&asked));
    // Who knew of it hears what became of it.
    let ended = event("approval.resolved", &over);
    assert_eq!(replayed(&ann, resolved - 1).await, [ended.clone(), asked.clone()]);
    let all = [event("approval.requested", &over), ended, asked];
    for token in [&bo, &site.owner] {
        assert_eq!(replayed(token, 0).await, all);
    }
    call.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_kinds_that_are_wanted_are_told() {
    let site = Site::new().await;
    let mut some = site.socket(&site.owner).await;
    some.get("events.subscribe", json!({"kinds": ["call.finished"]})).await;
    let mut none = site.socket(&site.owner).await;
    none.get("events.subscribe", json!({"kinds": []})).await;
    let mut silent = site.socket(&site.owner).await;
    for _ in 0..3 {
        site.look_at_the_clock(&site.owner).await;
    }
    assert_eq!(kinds(&some.all().await), ["call.finished owner"; 3]);
    assert_eq!(none.all().await.len(), 0);
    assert_eq!(silent.all().await.len(), 0, "who does not subscribe is told nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_misses_nothing_and_hears_nothing_twice() {
    let site = Site::new().await;
    let mut whole = site.socket(&site.owner).await;
    let first = whole.get("events.subscribe", json!({})).await["event_id"].as_u64().unwrap();
    let (address, owner) = (site.address, site.owner.clone());
    let busy = tokio::spawn(async move {
        for _ in 0..60 {
            let request =
                crate::client::Request::new(address, "POST", "/v1/tools/get_current_time");
            let request = request.header("authorization", &format!("Bearer {owner}"));
            assert_eq!(send(request.json(&json!({}))).await.status, 200);
        }
    });
    let (mut seen, mut since, mut visits) = (Vec::new(), first, 0);
    while !busy.is_finished() || visits < 3 {
        let mut socket = site.socket(&site.owner).await;
        let subscribed = socket.get("events.subscribe", json!({"since": since})).await;
        assert_eq!(subscribed["lost"], false);
        // What was missed comes before anything new; some of it is read, and then it goes away.
        seen.extend(ids(&socket.all().await));
        since = seen.last().copied().unwrap_or(first);
        visits += 1;
    }
    busy.await.unwrap();
    let mut socket = site.socket(&site.owner).await;
    socket.get("events.subscribe", json!({"since": since})).await;
    seen.extend(ids(&socket.all().await));
    assert_eq!(seen, ids(&whole.all().await));
    assert_eq!(seen.len(), 120);
}

/// Also on one connection, on which events wait to be sent while it subscribes anew.
#[tokio::test(flavor = "multi_thread")]
async fn who_subscribes_anew_hears_nothing_twice() {
    let site = Site::new().await;
    let mut socket = site.socket(&site.owner).await;
    let first = socket.get("events.subscribe", json!({})).await["event_id"].as_u64().unwrap();
    let mut seen = Vec::new();
    for round in 0..20 {
        let since = seen.last().copied().unwrap_or(first);
        // Nothing is read meanwhile.
        let call =
            json!({"method": "tools.call", "params": {"name": "get_current_time"}}).to_string();
        for _ in 0..10 {
            socket.say(&call).await;
        }
        let subscribed = socket.get("events.subscribe", json!({"since": since})).await;
        assert_eq!(subscribed["lost"], false);
        // What had been sent before comes once more, because it is not said to be known.
        socket.forget();
        until("all calls are told", async || {
            seen.extend(ids(&socket.all().await));
            seen.len() >= (round + 1) * 20
        })
        .await;
    }
    assert_eq!(seen, (first + 1..=first + 400).collect::<Vec<_>>(), "in order, and each once");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_too_late_is_told_that_something_is_lost() {
    let site = Site::new().await;
    site.look_at_the_clock(&site.owner).await;
    let mut socket = site.socket(&site.owner).await;
    let subscribed = socket.get("events.subscribe", json!({"since": 1})).await;
    assert_eq!((&subscribed["lost"], &subscribed["missed"]), (&json!(true), &json!(0)));
    site.look_at_the_clock(&site.owner).await;
    let mut socket = site.socket(&site.owner).await;
    let last = socket.get("events.subscribe", json!({})).await["event_id"].as_u64().unwrap();
    for (since, lost, missed) in
        [(1, true, 2), (last + 1_000_000, true, 2), (last, false, 0), (last - 1, false, 1)]
    {
        let mut socket = site.socket(&site.owner).await;
        let subscribed = socket.get("events.subscribe", json!({"since": since})).await;
        assert_eq!(
            subscribed,
            json!({"event_id": last, "missed": missed, "lost": lost}),
            "{since}"
        );
        let all = socket.all().await;
        let expected = ["events.lost ", "call.started owner", "call.finished owner"];
        let expected = if lost { &expected[..] } else { &expected[3 - missed..] };
        assert_eq!(kinds(&all), expected, "{since}");
        if lost {
            assert_eq!(all[0]["params"], json!({"since": since, "event_id": last}));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_is_cut_off_and_holds_up_nobody() {
    let site = Site::new().await;
    let tcp = TcpSocket::new_v4().unwrap();
    tcp.set_recv_buffer_size(4_096).unwrap();
    let bearer = format!("Bearer {}", site.owner);
    let mut slow = site.open_through(tcp, &[("authorization", &bearer)]).await.unwrap();
    slow.get("events.subscribe", json!({})).await;
    // More than sockets hold, and then more events than wait for anybody.
    let talk = json!({"pieces": 400, "bytes": 50_000, "rest_ms": 600_000});
    slow.begin("tools.call", json!({"name": "talk", "arguments": talk})).await;
    until("it talks", async || site.gate.stats().running == 1).await;
    let mut quick = site.watching(&site.owner).await;
    let owner = toolgate::Caller::owner("main");
    for _ in 0..700 {
        site.gate.call(&owner, "get_current_time", json!({})).await;
    }
    assert!(quick.all().await.len() >= 1_400, "others are told all of it");
    // Not before: who begins to read in time is not cut off.
    let slow_readers = async || site.metric("toolgate_ws_slow_readers_total").await;
    until("it is cut off", async || slow_readers().await == 1).await;
    // What had been sent is read; then comes the reason, if it still got through.
    let code = slow.closed().await;
    assert!(code.is_none() || code == Some(1008), "{code:?}");
    until("it is gone", async || site.sockets().await == 1).await;
    until("its call is stopped", async || site.gate.stats().running == 0).await;
    assert_eq!(slow_readers().await, 1);
    let talks = site
        .gate
        .journal()
        .entries(&store::Filter { tool: Some("talk".to_owned()), ..store::Filter::default() });
    let ends: Vec<_> = talks.unwrap().into_iter().map(|entry| entry.error_type).collect();
    assert_eq!(ends, [Some("cancelled".to_owned())], "once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_told_nothing_more() {
    let site = Site::new().await;
    let other = site.token(Who::member("bo")).await;
    let made = site.post("/v1/tokens", json!({"name": "watches", "user": "bo"})).await.json();
    let mut watching = site.watching(made["token"].as_str().unwrap()).await;
    site.look_at_the_clock(&other).await;
    watching.told("call.finished").await;
    let path = format!("/v1/tokens/{}", made["id"].as_str().unwrap());
    assert_eq!(send(site.request("DELETE", &path)).await.status, 200);
    // Long before anybody looks whether it is still there.
    site.look_at_the_clock(&other).await;
    assert_eq!(watching.told_or_closed().await, Err(Some(4401)));
}
