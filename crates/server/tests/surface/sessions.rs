//! Conversations, as people look at them: their own.

use serde_json::{Value, json};

use crate::{
    client::{Answer, send},
    helper::{Site, Who, until},
};

impl Site {
    /// Says something in a session of `main`.
    async fn say_in(&self, token: &str, session: &str, text: &str) -> Answer {
        let path = format!("/v1/sessions/agent:main:{session}/messages");
        send(self.request_as(token, "POST", &path).json(&json!({"message": text}))).await
    }
}

fn keys(list: &Value) -> Vec<&str> {
    let sessions = list["sessions"].as_array().unwrap_or_else(|| panic!("{list}"));
    sessions.iter().map(|one| one["sessionKey"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_begun_looked_at_changed_and_forgotten() {
    let site = Site::new().await;
    let answer = site.say_in(&site.owner, "one", "read hello.txt").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let answer = answer.json();
    assert_eq!(
        (&answer["session"], &answer["tool_calls"][0]["tool"]),
        (&json!("agent:main:one"), &json!("read"))
    );
    assert!(answer["text"].as_str().unwrap().contains("world"), "{answer}");
    let shown = site.get("/v1/sessions/agent:main:one").await.json();
    assert_eq!(
        (&shown["kind"], &shown["state"], &shown["calls"]),
        (&json!("chat"), &json!("idle"), &json!(1))
    );
    let texts = |said: &Value| -> Vec<String> {
        let messages = said["messages"].as_array().unwrap();
        messages.iter().map(|one| one["role"].as_str().unwrap().to_owned()).collect()
    };
    let said = site.get("/v1/sessions/agent:main:one/messages").await.json();
    assert_eq!(texts(&said), ["user", "assistant"]);
    let said = site.get("/v1/sessions/agent:main:one/messages?tools=true").await.json();
    assert_eq!(texts(&said), ["user", "assistant", "tool", "assistant"]);
    // Messages, calls and the journal can be joined.
    let entry = &site.entries()[0];
    let (asking, call) = (&said["messages"][1], &said["messages"][1]["calls"][0]);
    assert_eq!(asking["id"].as_str(), entry.message_id.as_deref());
    assert_eq!(asking["id"].as_str().unwrap().len(), 36, "{asking}");
    assert_eq!(call["callId"], json!(entry.id));
    assert_eq!((&call["tool"], &call["status"]), (&json!(entry.tool_name), &json!("success")));
    assert_eq!(call["durationMs"].as_u64(), entry.execution_time_ms);
    assert_eq!(said["messages"][2]["callId"], json!(entry.id));
    let said = site.get("/v1/sessions/agent:main:one/messages?limit=1").await.json();
    assert_eq!(texts(&said), ["assistant"]);
    let change =
        site.request("PATCH", "/v1/sessions/agent:main:one").json(&json!({"label": "first"}));
    assert_eq!(send(change).await.json()["label"], "first");
    assert_eq!(keys(&site.get("/v1/sessions?search=first").await.json()), ["agent:main:one"]);
    let gone = send(site.request("DELETE", "/v1/sessions/agent:main:one")).await;
    assert_eq!(gone.json(), json!({"session": "agent:main:one", "done": true}));
    assert_eq!(site.get("/v1/sessions/agent:main:one").await.status, 404);
    assert_eq!(keys(&site.get("/v1/sessions").await.json()), Vec::<&str>::new());
    assert_eq!(site.entries().len(), 1, "the journal keeps its calls");
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_sessions_are_not_there() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let [bo, cy] = [site.token(Who::member("bo")).await, site.token(Who::member("cy")).await];
    let agent = site.token(Who { agents: Some(&["scout"]), ..Who::member("bo") }).await;
    assert_eq!(site.say_in(&bo, "one", "what time is it").await.status, 200);
    let mut sockets = Vec::new();
    for token in [&cy, &site.owner, &agent] {
        sockets.push(site.socket(token).await);
    }
    for (token, socket) in [&cy, &site.owner, &agent].into_iter().zip(&mut sockets) {
        let list = send(site.request_as(token, "GET", "/v1/sessions")).await.json();
        assert_eq!(keys(&list), Vec::<&str>::new());
        assert_eq!(keys(&socket.get("sessions.list", json!({})).await), Vec::<&str>::new());
        for (method, path) in [
            ("GET", "/v1/sessions/agent:main:one"),
            ("GET", "/v1/sessions/agent:main:one/messages"),
            ("POST", "/v1/sessions/agent:main:one/stop"),
        ] {
            let answer = send(site.request_as(token, method, path)).await;
            assert_eq!(answer.error(), (404, "not_found".to_owned()), "{method} {path}");
        }
        let session = json!({"session": "agent:main:one"});
        for method in ["sessions.history", "sessions.stop"] {
            assert_eq!(socket.error(method, session.clone()).await.0, -32004, "{method}");
        }
    }
    for token in [&cy, &site.owner] {
        let change = site.request_as(token, "PATCH", "/v1/sessions/agent:main:one");
        assert_eq!(send(change.json(&json!({"label": "mine"}))).await.status, 404);
        let remove = site.request_as(token, "DELETE", "/v1/sessions/agent:main:one");
        assert_eq!(send(remove).await.status, 404);
    }
    // An agent's token changes and removes nothing, whosever it is.
    let remove = site.request_as(&agent, "DELETE", "/v1/sessions/agent:main:one");
    assert_eq!(send(remove).await.status, 403);
    // Whoever uses the same name has a session of their own.
    assert_eq!(site.say_in(&cy, "one", "hello").await.status, 200);
    let own =
        send(site.request_as(&cy, "GET", "/v1/sessions/agent:main:one/messages")).await.json();
    assert_eq!(own["messages"].as_array().unwrap().len(), 2);
    let own = send(site.request_as(&bo, "GET", "/v1/sessions")).await.json();
    assert_eq!(keys(&own), ["agent:main:one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_come_page_by_page() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    for number in 0..5 {
        for agent in ["main", "scout"] {
            let path = format!("/v1/sessions/agent:{agent}:s{number}/messages");
            assert_eq!(site.post(&path, json!({"message": "hello"})).await.status, 200);
            site.pass(std::time::Duration::from_secs(1));
        }
    }
    let scout = site.token(Who { agents: Some(&["scout"]), ..Who::OWNER }).await;
    for (token, query, expected) in [
        (&site.owner, "", 10),
        (&site.owner, "&agent=main", 5),
        (&site.owner, "&search=s3", 2),
        (&scout, "", 5),
        (&scout, "&agent=main", 0),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/sessions?limit=2{query}{cursor}");
            let page = send(site.request_as(token, "GET", &path)).await.json();
            seen.extend(keys(&page).into_iter().map(str::to_owned));
            let Some(next) = page["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        let mut distinct = seen.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!((seen.len(), distinct.len()), (expected, expected), "{query}: {seen:?}");
    }
    for (path, expected) in [
        ("/v1/sessions?cursor=nonsense", 400),
        ("/v1/sessions?cursor=agent:main:none", 400),
        ("/v1/sessions?kind=odd", 400),
        ("/v1/sessions/nonsense", 400),
        ("/v1/sessions/agent:main:none", 404),
        ("/v1/sessions/agent:main:..%2f..%2fx", 404),
    ] {
        assert_eq!(site.get(path).await.status, expected, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_spoken_in_and_stopped_over_a_socket() {
    let site = Site::new().await;
    let mut socket = site.socket(&site.owner).await;
    socket
        .get(
            "events.subscribe",
            json!({"kinds": ["session.started", "session.message", "session.ended"]}),
        )
        .await;
    let id = socket
        .begin("sessions.send", json!({"message": "what time is it", "session": "one"}))
        .await;
    let answer = socket.answer(id).await.unwrap();
    assert_eq!(
        (&answer["session"], &answer["tool_calls"][0]["tool"]),
        (&json!("agent:main:one"), &json!("get_current_time"))
    );
    let told = socket.all().await;
    let of = |kind: &str| -> Vec<Value> {
        told.iter().filter(|one| one["method"] == kind).map(|one| one["params"].clone()).collect()
    };
    let pieces: String = of("session.event")
        .iter()
        .inspect(|one| assert_eq!(one["request"], id))
        .filter_map(|one| one["data"]["text"].as_str().filter(|_| one["data"]["event"] == "text"))
        .collect();
    assert_eq!(pieces, answer["text"].as_str().unwrap());
    let roles: Vec<_> = of("session.message").iter().map(|one| one["role"].clone()).collect();
    assert_eq!(roles.first(), Some(&json!("user")), "{roles:?}");
    assert_eq!(roles.last(), Some(&json!("assistant")), "{roles:?}");
    assert_eq!((of("session.started").len(), of("session.ended").len()), (1, 1));
    assert_eq!(of("session.ended")[0]["how"], "done");
    let listed = socket.get("sessions.list", json!({})).await;
    assert_eq!(keys(&listed), ["agent:main:one"]);
    let history =
        socket.get("sessions.history", json!({"session": "agent:main:one", "limit": 1})).await;
    assert_eq!(history["messages"][0]["text"], answer["text"]);
    // Stopped from elsewhere.
    let talk = json!({"message": "/talk {\"pieces\": 0, \"rest_ms\": 600000}", "session": "one"});
    let id = socket.begin("sessions.send", talk).await;
    until("it runs", async || site.gate.stats().running == 1).await;
    let mut other = site.socket(&site.owner).await;
    let stopped = other.get("sessions.stop", json!({"session": "agent:main:one"})).await;
    assert_eq!(stopped, json!({"session": "agent:main:one", "done": true}));
    let error = socket.answer(id).await.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("stopped"), "{error}");
    until("nothing runs", async || site.gate.stats().running == 0).await;
    let again = other.get("sessions.stop", json!({"session": "agent:main:one"})).await;
    assert_eq!(again["done"], false);
    // And by whoever goes away.
    let talk = json!({"message": "/talk {\"pieces\": 0, \"rest_ms\": 600000}", "session": "two"});
    socket.begin("sessions.send", talk).await;
    until("it runs", async || site.gate.stats().running == 1).await;
    drop(socket);
    until("nothing runs", async || site.gate.stats().running == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_without_words_begins_nothing() {
    let site = Site::new().await;
    for text in ["", " \n\t"] {
        let refused = site.say_in(&site.owner, "one", text).await;
        assert_eq!(refused.error(), (400, "validation_error".to_owned()), "{refused:?}");
        let mut socket = site.socket(&site.owner).await;
        let (code, message) =
            socket.error("sessions.send", json!({"message": text, "session": "one"})).await;
        assert_eq!((code, message.contains("`message` is empty")), (-32602, true), "{message}");
    }
    assert_eq!(keys(&site.get("/v1/sessions").await.json()), Vec::<&str>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_which_an_agent_works_is_removed_when_it_has_left() {
    let site = Site::new().await;
    let text = "/talk {\"pieces\": 0, \"rest_ms\": 600000}";
    let path = "/v1/sessions/agent:main:one/messages";
    let mut runs = Vec::new();
    for _ in 0..3 {
        let request = site.request("POST", path).json(&json!({"message": text}));
        runs.push(tokio::spawn(send(request)));
    }
    let body = json!({"model": "main", "messages": [{"role": "user", "content": text}]});
    let chat = site.request("POST", "/v1/chat/completions").json(&body);
    runs.push(tokio::spawn(send(chat.header("toolgate-session", "one"))));
    until("one runs, and the others wait", async || {
        let shown = site.get("/v1/sessions/agent:main:one").await;
        site.gate.stats().running == 1 && shown.status == 200
    })
    .await;
    let gone = send(site.request("DELETE", "/v1/sessions/agent:main:one")).await;
    assert_eq!(gone.json()["done"], true, "{gone:?}");
    for run in runs {
        // One that was not there yet when the session was removed begins it anew.
        until("it is over", async || {
            send(site.request("POST", "/v1/sessions/agent:main:one/stop")).await;
            run.is_finished()
        })
        .await;
        let answer = run.await.unwrap();
        // One that came to its turn may have been done before it could be stopped.
        assert!([200, 404, 409, 499].contains(&answer.status), "{answer:?}");
    }
}
