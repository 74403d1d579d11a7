//! Users: who may come, and what ends with them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use store::Scope;

use crate::{
    client::{Answer, Request, send},
    helper::{Site, Who, until},
};

impl Site {
    async fn add_user(&self, body: Value) -> Answer {
        self.post("/v1/users", body).await
    }

    async fn as_user(&self, token: &str, method: &str, path: &str, body: Value) -> Answer {
        let request = self.request_as(token, method, path);
        send(if body.is_null() { request } else { request.json(&body) }).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_adds_changes_and_removes_users() {
    let site = Site::with("tools.approvers = ['ann']").await;
    let added = site.add_user(json!({"id": "ann", "name": "Ann"})).await;
    assert_eq!(added.status, 201, "{added:?}");
    assert_eq!(added.json()["role"], "member");
    assert_eq!(added.json()["approver"], true);
    assert_eq!(site.add_user(json!({"id": "bo"})).await.json()["name"], "bo");
    for (body, status, words) in [
        (json!({"id": "ann"}), 409, "there is a user `ann` already"),
        (json!({"id": "Ann"}), 409, "there is a user `ann` already"),
        (json!({"id": "owner"}), 409, "there is a user `owner` already"),
        (json!({"id": "a b"}), 400, "is no name of a user"),
        (json!({"id": "x", "name": "a\nb"}), 400, "`name` must be"),
    ] {
        let answer = site.add_user(body.clone()).await;
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        assert!(answer.text().contains(words), "{body}: {answer:?}");
    }
    let listed = site.get("/v1/users").await.json();
    let ids: Vec<_> = listed["users"].as_array().unwrap().iter().map(|user| &user["id"]).collect();
    assert_eq!(ids, ["owner", "ann", "bo"]);
    let page = site.get("/v1/users?limit=1").await.json();
    assert_eq!((&page["users"][0]["id"], &page["next"]), (&json!("owner"), &json!("owner")));
    let page = site.get("/v1/users?limit=1&cursor=owner").await.json();
    assert_eq!(page["users"][0]["id"], "ann");
    assert_eq!(site.get("/v1/users?cursor=nobody").await.status, 400);
    let owner = &site.owner;
    let change =
        async |id: &str, body| site.as_user(owner, "PATCH", &format!("/v1/users/{id}"), body).await;
    assert_eq!(change("bo", json!({"name": "Bo"})).await.json()["name"], "Bo");
    assert_eq!(change("bo", json!({})).await.status, 400);
    assert_eq!(change("bo", json!({"removed": true})).await.status, 400);
    assert_eq!(change("bob", json!({"name": "Bo"})).await.status, 404);
    let removed = site.as_user(owner, "DELETE", "/v1/users/bo", json!(null)).await;
    assert_eq!(removed.json(), json!({"id": "bo", "tokens": 0, "questions": 0, "calls": 0}));
    assert_eq!(site.as_user(owner, "DELETE", "/v1/users/bo", json!(null)).await.status, 409);
    assert_eq!(site.as_user(owner, "DELETE", "/v1/users/owner", json!(null)).await.status, 409);
    assert_eq!(site.add_user(json!({"id": "bo"})).await.status, 409);
    let shown = site.get("/v1/users/bo").await.json();
    assert_eq!(shown["removed_by"], "owner");
    assert_eq!(change("bo", json!({"removed": false})).await.json()["removed_at"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_for_a_user_there_is() {
    let site = Site::new().await;
    site.add_user(json!({"id": "ada"})).await;
    for (user, status, words) in [
        ("ada", 201, "tg_"),
        ("adah", 400, "there is no user `adah`; did you mean `ada`?"),
        ("zoe", 400, "`toolgate users add` adds one"),
    ] {
        let answer = site.post("/v1/tokens", json!({"name": "x", "user": user})).await;
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(answer.text().contains(words), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_sees_themselves_and_learns_of_nobody_else() {
    let site = Site::new().await;
    let ada = site.token(Who::member("ada")).await;
    site.add_user(json!({"id": "bob", "name": "Bob"})).await;
    let own = site.as_user(&ada, "GET", "/v1/users/ada", json!(null)).await;
    assert_eq!((own.status, &own.json()["id"]), (200, &json!("ada")));
    let [there, not] = ["bob", "zoe"].map(|id| format!("/v1/users/{id}"));
    let [there, not] = [
        site.as_user(&ada, "GET", &there, json!(null)).await,
        site.as_user(&ada, "GET", &not, json!(null)).await,
    ];
    assert_eq!((there.status, not.status), (404, 404));
    assert_eq!(there.text().replace("bob", "zoe"), not.text());
    for (method, path) in [
        ("GET", "/v1/users"),
        ("POST", "/v1/users"),
        ("PATCH", "/v1/users/ada"),
        ("DELETE", "/v1/users/ada"),
        ("DELETE", "/v1/users/bob"),
    ] {
        assert_eq!(site.as_user(&ada, method, path, json!({})).await.status, 403, "{method}");
    }
    let unable = site.token(Who { scopes: Some(&[Scope::Call]), ..Who::OWNER }).await;
    assert_eq!(site.as_user(&unable, "DELETE", "/v1/users/ada", json!(null)).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_user_their_sockets_calls_and_questions_end_at_once() {
    let site = Site::with("[tools.by_channel.http]\nprofile = 'full'").await;
    let db = site.gate.db().await.unwrap();
    let (ada, bob) = (site.token(Who::member("ada")).await, site.token(Who::member("bob")).await);
    let (mut socket, mut others) = (site.socket(&ada).await, site.socket(&bob).await);
    let (call, question) = site.start_asking(&ada).await;
    assert_eq!(question["user"], "ada");
    let removed = site.as_user(&site.owner, "DELETE", "/v1/users/ada", json!(null)).await.json();
    assert_eq!((&removed["tokens"], &removed["questions"]), (&json!(1), &json!(1)), "{removed}");
    assert_eq!(socket.closed().await, Some(4401));
    let answer = call.await.unwrap();
    assert!(answer.status == 401 || answer.error().1 == "cancelled", "{answer:?}");
    assert_eq!(site.as_user(&ada, "GET", "/v1/tools", json!(null)).await.status, 401);
    let id = question["id"].as_str().unwrap().parse().unwrap();
    let question = db.approval(&id, site.now()).await.unwrap().unwrap();
    assert_eq!(question.status.name(), "withdrawn");
    // The journal stays, and others go on.
    until("the call has its outcome", async || {
        site.entries().iter().any(|entry| entry.user_id == "ada" && entry.finished.is_some())
    })
    .await;
    assert_eq!(others.get("ping", json!({})).await, json!({"pong": true}));
}

/// A second: so long it may take at most. On a machine that does much else it is tried a few times.
const SOON: Duration = Duration::from_secs(1);
const ATTEMPTS: usize = 5;

#[tokio::test(flavor = "multi_thread")]
async fn who_is_removed_or_revoked_by_another_process_is_out_within_a_second() {
    let site = Site::new().await;
    let other = site.another_db().await;
    for by in ["remove", "revoke", "expire"] {
        let mut took = Duration::MAX;
        for attempt in 0..ATTEMPTS {
            let lasts = (by == "expire").then_some(Duration::from_mins(1));
            let who = Who { user: format!("{by}{attempt}").leak(), lasts, ..Who::member("") };
            let token = site.token(who).await;
            let mut socket = site.socket(&token).await;
            assert_eq!(socket.get("ping", json!({})).await, json!({"pong": true}));
            let begin = Instant::now();
            match by {
                "remove" => drop(other.remove_user(who.user, "test", site.now()).await.unwrap()),
                "revoke" => {
                    let id = other.tokens(Some(who.user)).await.unwrap().remove(0).id;
                    assert!(other.revoke_token(&id, "test", site.now()).await.unwrap());
                }
                _ => site.pass(Duration::from_mins(2)),
            }
            assert_eq!(socket.closed().await, Some(4401), "{by}");
            took = took.min(begin.elapsed());
            let refused = send(site.request_as(&token, "GET", "/v1/tools")).await;
            assert_eq!(refused.status, 401, "{by}");
            if took < SOON {
                break;
            }
        }
        assert!(took < SOON, "{by}: {took:?}");
    }
}

/// What goes on for long with a token: a call, one whose pieces are streamed, a conversation, one that is
/// streamed, each over HTTP.
fn long(site: &Site, token: &str) -> Vec<(&'static str, Request)> {
    let (talk, rest) =
        ("/talk {\"pieces\": 0, \"rest_ms\": 600000}", json!({"pieces": 0, "rest_ms": 600_000}));
    let says = |stream: bool| {
        json!({"model": "main", "stream": stream, "messages": [
            {"role": "user", "content": talk}
        ]})
    };
    let post = |path: &str, body: &Value| site.request_as(token, "POST", path).json(body);
    vec![
        ("a call", post("/v1/tools/talk", &rest)),
        ("pieces", post("/v1/tools/talk", &rest).header("accept", "text/event-stream")),
        ("a conversation", post("/v1/chat/completions", &says(false))),
        ("a stream", post("/v1/chat/completions", &says(true))),
        ("a session", post("/v1/sessions/agent:main:x/messages", &json!({"message": talk}))),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_on_with_a_token_ends_within_a_second_of_it() {
    let site = Site::new().await;
    let other = site.another_db().await;
    for number in 0..long(&site, "").len() {
        let mut took = Duration::MAX;
        for _ in 0..ATTEMPTS {
            let token = site.token(Who::OWNER).await;
            let (what, request) = long(&site, &token).remove(number);
            let going = tokio::spawn(send(request));
            until("it goes on", async || site.gate.stats().running == 1).await;
            let id = other.tokens(None).await.unwrap().remove(0).id;
            let begin = Instant::now();
            assert!(other.revoke_token(&id, "test", site.now()).await.unwrap());
            let answer = going.await.unwrap();
            took = took.min(begin.elapsed());
            let streams = answer.header("content-type") == "text/event-stream";
            assert!(streams || answer.status == 401, "{what}: {answer:?}");
            until("the call ends, too", async || site.gate.stats().running == 0).await;
            if took < SOON {
                break;
            }
        }
        assert!(took < SOON, "{}: {took:?}", long(&site, "")[number].0);
    }
    // Whoever revokes their own is told so.
    for _ in 0..3 {
        let token = site.token(Who::OWNER).await;
        let id = other.tokens(None).await.unwrap().remove(0).id;
        let path = format!("/v1/tokens/{id}");
        assert_eq!(send(site.request_as(&token, "DELETE", &path)).await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_of_a_member_are_bounded_and_those_of_others_are_not_theirs() {
    let config = "server.connections_per_user = 2\n[users.ada.limits]\nconnections = 1";
    let site = Site::with(config).await;
    let [ada, bo] = [site.token(Who::member("ada")).await, site.token(Who::member("bo")).await];
    let first = site.socket(&ada).await;
    for token in [&ada, &site.token(Who::member("ada")).await] {
        let refused = send(site.request_as(token, "GET", "/v1/tools")).await;
        assert_eq!(refused.error(), (429, "rate_limited".to_owned()), "{refused:?}");
        assert_eq!(refused.header("retry-after"), "1");
        assert_eq!(site.socket(token).await.closed().await, Some(1013));
    }
    let sockets = [site.socket(&bo).await, site.socket(&bo).await];
    assert_eq!(send(site.request_as(&bo, "GET", "/v1/tools")).await.status, 429);
    for _ in 0..5 {
        assert_eq!(site.get("/v1/tools").await.status, 200, "the owner has no limit");
    }
    drop((first, sockets));
    until("there is room again", async || {
        let [ada, bo] = [&ada, &bo].map(|token| send(site.request_as(token, "GET", "/v1/tools")));
        ada.await.status == 200 && bo.await.status == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_of_one_user_are_bounded_by_what_is_said_about_them() {
    let site = Site::with("[users.ada.limits]\nruns = 1").await;
    let ada = site.token(Who::member("ada")).await;
    let say = |session: &str, text: &str| {
        let path = format!("/v1/sessions/agent:main:{session}/messages");
        site.request_as(&ada, "POST", &path).json(&json!({"message": text}))
    };
    let long = say("one", "/talk {\"pieces\": 0, \"rest_ms\": 600000}");
    let going = tokio::spawn(send(long));
    until("it goes on", async || site.gate.stats().running == 1).await;
    let refused = send(say("two", "hello")).await;
    assert_eq!(refused.error(), (429, "rate_limited".to_owned()), "{refused:?}");
    let others = site.token(Who::member("bo")).await;
    let other = site.request_as(&others, "POST", "/v1/sessions/agent:main:x/messages");
    assert_eq!(send(other.json(&json!({"message": "hello"}))).await.status, 200);
    going.abort();
}

/// Members start with the profile `gateway`, however they come.
#[tokio::test(flavor = "multi_thread")]
async fn a_member_has_the_tools_of_the_profile_gateway_everywhere() {
    let site = Site::new().await;
    let ada = site.token(Who::member("ada")).await;
    let listed = send(site.request_as(&ada, "GET", "/v1/tools")).await.json();
    let names = |tools: &Value| -> Vec<String> {
        let tools = tools.as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let http = names(&listed["tools"]);
    // `ring` and `talk` are of these tests.
    assert_eq!(http, ["add_task", "get_current_time", "list_tasks", "ring", "save_note", "talk"]);
    let mut socket = site.socket(&ada).await;
    assert_eq!(names(&socket.get("tools.list", json!({})).await["tools"]), http);
    for (tool, body) in [("read", json!({"path": "hello.txt"})), ("exec", json!({"command": "id"}))]
    {
        let path = format!("/v1/tools/{tool}");
        let answer = send(site.request_as(&ada, "POST", &path).json(&body)).await;
        assert_eq!(answer.error(), (404, "tool_not_available".to_owned()), "{answer:?}");
        let params = json!({"name": tool, "arguments": body});
        let outcome = socket.get("tools.call", params).await;
        assert_eq!(outcome["error_type"], "tool_not_available", "{outcome}");
        let text = format!("/{tool} {body}");
        let says = json!({"model": "main", "messages": [{"role": "user", "content": text}]});
        let request = site.request_as(&ada, "POST", "/v1/chat/completions").json(&says);
        let answer = send(request).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(!answer.text().contains("world"), "{answer:?}");
    }
    let ran = site.entries().into_iter().filter(|entry| entry.status == store::Status::Success);
    assert_eq!(ran.map(|entry| entry.tool_name).collect::<Vec<_>>(), Vec::<String>::new());
}
