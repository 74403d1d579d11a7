//! Users: who may come, and what ends with them.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use store::Scope;
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpSocket,
    task::JoinHandle,
    time::{MissedTickBehavior, interval, timeout},
};

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

    /// Revokes the newest token, as another process does.
    async fn revoke_last(&self, other: &store::Db) {
        let id = other.tokens(None).await.unwrap().remove(0).id;
        assert!(other.revoke_token(&id, "test", self.now()).await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_adds_changes_and_removes_users() {
    let site = Site::with("tools.approvers = ['zoe']").await;
    let added = site.add_user(json!({"id": "ann", "name": "Ann"})).await;
    assert_eq!(added.status, 201, "{added:?}");
    assert_eq!(added.json()["role"], "member");
    assert_eq!(added.json()["approver"], false);
    assert_eq!(site.get("/v1/users/zoe").await.json()["approver"], true);
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
    assert_eq!(ids, ["owner", "ann", "bo", "zoe"]);
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

/// Somebody who looks at the store five times a second, as the server does: on a machine that does much else
/// both are late.
struct Looks {
    count: Arc<AtomicUsize>,
    looking: JoinHandle<()>,
}

impl Looks {
    /// So many of them are a second.
    const SECOND: usize = 5;

    fn begin(db: &Arc<store::Db>) -> Self {
        let (db, count) = (db.clone(), Arc::<AtomicUsize>::default());
        let counted = count.clone();
        let looking = tokio::spawn(async move {
            let mut look = interval(Duration::from_secs(1) / 5);
            look.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                look.tick().await;
                db.removed_users().await.unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { count, looking }
    }

    /// How often they have looked.
    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Looks {
    fn drop(&mut self) {
        self.looking.abort();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_removed_or_revoked_by_another_process_is_out_within_a_second() {
    let site = Site::new().await;
    let other = Arc::new(site.another_db().await);
    for (by, attempt) in ["remove", "revoke", "expire"].iter().flat_map(|by| [(*by, 0), (*by, 1)]) {
        let lasts = (by == "expire").then_some(Duration::from_mins(1));
        let who = Who { user: format!("{by}{attempt}").leak(), lasts, ..Who::member("") };
        let token = site.token(who).await;
        let mut socket = site.socket(&token).await;
        assert_eq!(socket.get("ping", json!({})).await, json!({"pong": true}));
        match by {
            "remove" => drop(other.remove_user(who.user, "test", site.now()).await.unwrap()),
            "revoke" => {
                let id = other.tokens(Some(who.user)).await.unwrap().remove(0).id;
                assert!(other.revoke_token(&id, "test", site.now()).await.unwrap());
            }
            _ => site.pass(Duration::from_mins(2)),
        }
        let looks = Looks::begin(&other);
        assert_eq!(socket.closed().await, Some(4401), "{by}");
        assert!(looks.count() <= Looks::SECOND, "{by}: {} looks", looks.count());
        let refused = send(site.request_as(&token, "GET", "/v1/tools")).await;
        assert_eq!(refused.status, 401, "{by}");
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
    let other = Arc::new(site.another_db().await);
    for number in 0..long(&site, "").len() {
        let token = site.token(Who::OWNER).await;
        let (what, request) = long(&site, &token).remove(number);
        let going = tokio::spawn(send(request));
        until("it goes on", async || site.gate.stats().running == 1).await;
        site.revoke_last(&other).await;
        let looks = Looks::begin(&other);
        let answer = going.await.unwrap();
        assert!(looks.count() <= Looks::SECOND, "{what}: {} looks", looks.count());
        let streams = answer.header("content-type") == "text/event-stream";
        assert!(streams || answer.status == 401, "{what}: {answer:?}");
        until("the call ends, too", async || site.gate.stats().running == 0).await;
    }
    // Whoever revokes their own is told so.
    for _ in 0..3 {
        let token = site.token(Who::OWNER).await;
        let id = other.tokens(None).await.unwrap().remove(0).id;
        let path = format!("/v1/tokens/{id}");
        assert_eq!(send(site.request_as(&token, "DELETE", &path)).await.status, 200);
    }
}

/// So long the server waits for a WebSocket to take a message.
const PATIENCE_OF_SOCKETS: Duration = Duration::from_secs(10);

/// A connection whose client reads nothing of what a call has to say.
async fn unread(site: &Site, token: &str, by: &str) -> Box<dyn Any> {
    let tcp = TcpSocket::new_v4().unwrap();
    tcp.set_recv_buffer_size(4_096).unwrap();
    // More than connections hold.
    let talk = json!({"pieces": 400, "bytes": 50_000, "rest_ms": 600_000});
    let bearer = format!("Bearer {token}");
    if by == "socket" {
        let mut socket = site.open_through(tcp, &[("authorization", &bearer)]).await.unwrap();
        socket.begin("tools.call", json!({"name": "talk", "arguments": talk})).await;
        return Box::new(socket);
    }
    let request = site.request_as(token, "POST", "/v1/tools/talk").json(&talk);
    let mut stream = tcp.connect(site.address).await.unwrap();
    let request = request.header("accept", "text/event-stream");
    stream.write_all(&request.bytes()).await.unwrap();
    Box::new(stream)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_does_not_outlive_its_token() {
    // Nobody else ends a request.
    let site = Site::with("server.answer_timeout = '1h'").await;
    let other = site.another_db().await;
    for by in ["request", "socket", "socket", "socket"] {
        let slow = site.metric("toolgate_ws_slow_readers_total").await;
        let (token, begin) = (site.token(Who::OWNER).await, Instant::now());
        let kept = unread(&site, &token, by).await;
        until("it talks", async || site.gate.stats().running == 1).await;
        // Until nothing more fits in between.
        tokio::time::sleep(Duration::from_millis(300)).await;
        site.revoke_last(&other).await;
        until("its call is cancelled", async || {
            let last = site.entries().pop().unwrap();
            last.tool_name == "talk" && last.error_type.as_deref() == Some("cancelled")
        })
        .await;
        drop(kept);
        if slow == site.metric("toolgate_ws_slow_readers_total").await {
            continue;
        }
        // On a machine that does much else it may have been cut off before; then it is tried again.
        assert!(begin.elapsed() > PATIENCE_OF_SOCKETS);
        assert_eq!(slow, 0, "{by} is cut off for not reading instead");
    }
}

/// What somebody left is the owner's to deal with.
#[tokio::test(flavor = "multi_thread")]
async fn what_runs_for_somebody_who_was_removed_is_ended_once() {
    let site = Site::new().await;
    let other = site.another_db().await;
    for user in ["ada", "bob"] {
        assert_eq!(site.add_user(json!({"id": user})).await.status, 201);
    }
    let start = |user: &str| {
        let (gate, caller) = (site.gate.clone(), toolgate::Caller::member(user, "main"));
        let talk = json!({"pieces": 0, "rest_ms": 600_000});
        tokio::spawn(async move { gate.call(&caller, "talk", talk).await })
    };
    let first = start("ada");
    until("it runs", async || site.gate.stats().running == 1).await;
    other.remove_user("ada", "test", site.now()).await.unwrap();
    first.await.unwrap();
    let calls = [start("ada"), start("bob")];
    until("both run", async || site.gate.stats().running == 2).await;
    // It is seen that `bob` is gone; of `ada` that is no news.
    other.remove_user("bob", "test", site.now()).await.unwrap();
    let [mut again, second] = calls;
    second.await.unwrap();
    assert!(!again.is_finished());
    // Somebody who came back and goes again is.
    other.restore_user("ada").await.unwrap();
    until("it is seen that she is back", async || {
        other.remove_user("ada", "test", site.now()).await.unwrap();
        let ended = timeout(Duration::from_millis(500), &mut again).await.is_ok();
        if !ended {
            other.restore_user("ada").await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        ended
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_of_a_member_are_bounded_and_those_of_others_are_not_theirs() {
    let config = "server.connections_per_user = 2\n[users.ada.limits]\nconnections = 1";
    let site = Site::with(config).await;
    let [ada, bo] = [site.token(Who::member("ada")).await, site.token(Who::member("bo")).await];
    // Each is counted once it answers.
    let mut first = site.socket(&ada).await;
    first.get("tools.list", json!({})).await;
    for token in [&ada, &site.token(Who::member("ada")).await] {
        let refused = send(site.request_as(token, "GET", "/v1/tools")).await;
        assert_eq!(refused.error(), (429, "rate_limited".to_owned()), "{refused:?}");
        assert_eq!(refused.header("retry-after"), "1");
        assert_eq!(site.socket(token).await.closed().await, Some(1013));
    }
    let mut sockets = [site.socket(&bo).await, site.socket(&bo).await];
    for socket in &mut sockets {
        socket.get("tools.list", json!({})).await;
    }
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

/// Nobody waits for them, and there is no run above that bounds them.
#[tokio::test(flavor = "multi_thread")]
async fn agents_that_single_calls_start_count_as_conversations() {
    let config = "tools.profile = 'full'\n[users.ada.limits]\nruns = 1";
    let site = Site::with(config).await;
    let ada = site.token(Who::member("ada")).await;
    let task = "/talk {\"pieces\": 0, \"rest_ms\": 600000}";
    let spawn = async || {
        let params = json!({"name": "sessions_spawn", "arguments": {"task": task}});
        site.ask_mcp(&ada, "tools/call", params).await.json()["result"].take()
    };
    for round in 1..=2 {
        // The next one begins when the one before is over.
        until("it is accepted", async || {
            spawn().await["structuredContent"]["status"] == "accepted"
        })
        .await;
        until("it goes on", async || site.gate.stats().running == 1).await;
        let refused = spawn().await;
        let said = refused["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("rate_limited: 1 conversations of yours go on already"), "{refused}");
        let path = "/v1/sessions/agent:main:x/messages";
        let other = site.as_user(&ada, "POST", path, json!({"message": "hello"})).await;
        assert_eq!(other.error(), (429, "rate_limited".to_owned()), "{other:?}");
        // What was refused left nothing behind.
        let sessions = site.as_user(&ada, "GET", "/v1/sessions", json!(null)).await.json();
        assert_eq!(sessions["sessions"].as_array().unwrap().len(), round, "{sessions}");
        assert_eq!(site.gate.agents().stop_all_of("ada"), 1);
        until("it is stopped", async || site.gate.stats().running == 0).await;
    }
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
    assert_eq!(
        http,
        ["add_task", "get_current_time", "list_tasks", "ring", "save_note", "search_notes", "talk"]
    );
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
