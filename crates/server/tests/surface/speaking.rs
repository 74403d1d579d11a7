//! Speaking to agents: who answers what they ask, how much goes on at once, and what is told about it.

use std::time::Duration;

use provider::Format;
use scripted::{Reply, Request as Asked, ScriptedModel};
use serde_json::{Value, json};
use server::NewSecret;
use store::{AskLimits, NewApproval, NewSession, NewToken, SessionKey, SessionKind, TokenKind};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};
use tool::Role;

use crate::{
    client::{Answer, send},
    helper::{Site, Who, until},
};

/// A site whose agents `main` and `other` are this model.
async fn site(
    config: &str,
    script: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> (Site, ScriptedModel) {
    let model = ScriptedModel::answering(script).await;
    let url = model.base_url(Format::OpenAi);
    let config = format!(
        "{config}\n[agents.main]\nmodel = 'script/m'\n[agents.other]\nmodel = 'script/m'\n\
         [providers.script]\nformat = 'openai'\nbase_url = '{url}'\nmodel = 'm'\nretries = 0\n"
    );
    (Site::with(&config).await, model)
}

/// Rings once, and says so.
fn rings(asked: &Asked) -> Reply {
    if asked.body.to_string().contains("tool_call_id") {
        return Reply::text("It rang.");
    }
    Reply::call("ring", json!({}))
}

fn chat(text: &str) -> Value {
    json!({"model": "main", "messages": [{"role": "user", "content": text}]})
}

impl Site {
    /// The question that is open, once there is one.
    async fn question(&self) -> String {
        let mut id = None;
        until("something is asked", async || {
            let list = self.get("/v1/approvals").await.json();
            id = list["approvals"][0]["id"].as_str().map(str::to_owned);
            id.is_some()
        })
        .await;
        id.unwrap()
    }

    async fn allow(&self, token: &str, question: &str) -> Answer {
        let path = format!("/v1/approvals/{question}");
        let request = self.request_as(token, "POST", &path);
        send(request.json(&json!({"decision": "allow_once"}))).await
    }

    /// What a browser of the owner has.
    async fn browser(&self) -> String {
        let (secret, now) = (NewSecret::token().unwrap(), self.now());
        let new = NewToken {
            kind: TokenKind::Browser,
            name: "browser".to_owned(),
            user: "owner".to_owned(),
            role: Role::Owner,
            agents: None,
            scopes: None,
            expires_at: None,
        };
        self.gate.db().await.unwrap().add_token(new, &secret.hash(), now).await.unwrap();
        secret.reveal().to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_speaks_to_an_agent_does_not_answer_what_it_asks() {
    let (site, _model) = site("", rings).await;
    let second = site.token(Who::OWNER).await;
    let say = site.request("POST", "/v1/sessions/agent:main:s/messages");
    let anthropic =
        json!({"model": "main", "max_tokens": 100, "messages": chat("hello")["messages"]});
    for speaks in [
        site.request("POST", "/v1/chat/completions").json(&chat("hello")),
        site.request("POST", "/v1/messages").json(&anthropic),
        say.json(&json!({"message": "hello"})),
    ] {
        let run = tokio::spawn(send(speaks));
        let question = site.question().await;
        let own = site.allow(&site.owner, &question).await;
        assert_eq!(own.error(), (403, "permission_denied".to_owned()), "{own:?}");
        assert!(own.text().contains("spoken to with it"), "{own:?}");
        assert_eq!(site.allow(&second, &question).await.status, 200);
        let answer = run.await.unwrap();
        assert!(answer.text().contains("It rang."), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_websocket_neither_but_a_browser_may() {
    let (site, _model) = site("", rings).await;
    let mut socket = site.socket(&site.owner).await;
    let id = socket.begin("sessions.send", json!({"message": "hello", "session": "s"})).await;
    let question = site.question().await;
    let params = json!({"id": question, "decision": "allow_once"});
    assert_eq!(socket.error("approvals.resolve", params).await.0, -32003);
    assert_eq!(site.allow(&site.owner, &question).await.status, 403);
    let browser = site.browser().await;
    let run = socket.begin("ping", json!({})).await;
    socket.answer(run).await.unwrap();
    assert_eq!(site.allow(&browser, &question).await.status, 200);
    assert_eq!(socket.answer(id).await.unwrap()["text"], "It rang.");
    // Nor is a browser kept from what was said with it.
    let request = site.request_as(&browser, "POST", "/v1/sessions/agent:main:b/messages");
    let run = tokio::spawn(send(request.json(&json!({"message": "hello"}))));
    let question = site.question().await;
    assert_eq!(site.allow(&browser, &question).await.status, 200);
    assert_eq!(run.await.unwrap().json()["text"], "It rang.");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_agents_below_ask_goes_back_to_who_spoke_first() {
    let script = |asked: &Asked| {
        let said = asked.body.to_string();
        match (said.contains("Another agent started you"), said.contains("tool_call_id")) {
            (true, false) => Reply::call("ring", json!({})),
            (true, true) => Reply::text("It rang."),
            (false, false) => Reply::call("sessions_spawn", json!({"task": "ring the bell"})),
            (false, true) => Reply::text("Somebody rings."),
        }
    };
    let config = "tools.by_channel.http.also_allow = ['sessions_spawn']";
    let (site, _model) = site(config, script).await;
    let second = site.token(Who::OWNER).await;
    // The agent spawns one, and the token itself does.
    for speaks in [
        site.request("POST", "/v1/chat/completions").json(&chat("ring")),
        site.request("POST", "/v1/tools/sessions_spawn").json(&json!({"task": "ring the bell"})),
    ] {
        let run = tokio::spawn(send(speaks));
        let question = site.question().await;
        let approval = site.get(&format!("/v1/approvals/{question}")).await.json();
        assert!(approval["session"].as_str().unwrap().starts_with("subagent:"), "{approval}");
        assert_eq!(site.allow(&site.owner, &question).await.status, 403);
        assert_eq!(site.allow(&second, &question).await.status, 200);
        assert_eq!(run.await.unwrap().status, 200);
        until("it is answered", async || {
            site.get("/v1/approvals").await.json()["approvals"] == json!([])
        })
        .await;
    }
}

impl Site {
    /// A token that the holder of another one makes.
    async fn made_with(&self, token: &str) -> String {
        let request = self.request_as(token, "POST", "/v1/tokens");
        let made = send(request.json(&json!({"name": "made"}))).await.json();
        made["token"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    }

    async fn grant(&self, token: &str, state: &str) -> u16 {
        let body = json!({"capability": "exec", "state": state});
        send(self.request_as(token, "POST", "/v1/permissions").json(&body)).await.status
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_made_with_another_one_counts_as_that() {
    let (site, _model) = site("", rings).await;
    let browser = site.browser().await;
    let (child, other) = (site.made_with(&site.owner).await, site.made_with(&browser).await);
    let grandchild = site.made_with(&child).await;
    let family = [&site.owner, &child, &grandchild];
    for token in family.into_iter().chain([&other, &browser]) {
        assert_eq!(site.grant(token, "granted").await, 200, "nobody has asked for anything");
    }
    // Whichever of them speaks or calls, none of them answers; one that a person made does.
    let say = site.request_as(&grandchild, "POST", "/v1/sessions/agent:main:s/messages");
    let call = site.request_as(&child, "POST", "/v1/tools/ring").json(&json!({}));
    for asks in [say.json(&json!({"message": "hello"})), call] {
        let run = tokio::spawn(send(asks));
        let question = site.question().await;
        let late = site.made_with(&child).await;
        for token in family.into_iter().chain([&late]) {
            assert_eq!(site.allow(token, &question).await.status, 403);
            assert_eq!(site.grant(token, "granted").await, 403);
            assert_eq!(site.grant(token, "denied").await, 200, "to take away is open to all");
        }
        assert_eq!(site.allow(&other, &question).await.status, 200);
        assert_eq!(run.await.unwrap().status, 200);
    }
    for token in [&other, &browser] {
        assert_eq!(site.grant(token, "granted").await, 200);
    }
    let listed = site.get("/v1/tokens").await.json();
    let made = listed["tokens"].as_array().unwrap().iter();
    assert_eq!(made.filter(|token| token["made_by"].is_string()).count(), 4, "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_spoke_is_known_after_a_restart() {
    let script = |asked: &Asked| match asked.body["messages"].as_array().and_then(|all| all.last())
    {
        Some(last) if last["role"] == "user" => Reply::call("ring", json!({})),
        _ => Reply::text("It rang."),
    };
    let (site, _model) = site("", script).await;
    let [called, answers] = [site.token(Who::OWNER).await, site.token(Who::OWNER).await];
    let child = site.made_with(&site.owner).await;
    let say = |site: &Site, token: &str| {
        let request = site.request_as(token, "POST", "/v1/sessions/agent:main:s/messages");
        tokio::spawn(send(request.json(&json!({"message": "hello"}))))
    };
    let call = site.request_as(&called, "POST", "/v1/tools/ring").header("toolgate-session", "s");
    let call = tokio::spawn(send(call.json(&json!({}))));
    let question = site.question().await;
    assert_eq!(site.allow(&answers, &question).await.status, 200);
    assert_eq!(call.await.unwrap().status, 200);
    let run = say(&site, &site.owner);
    let question = site.question().await;
    assert_eq!(site.allow(&answers, &question).await.status, 200);
    assert_eq!(run.await.unwrap().status, 200);
    let site = site.restart().await;
    // Somebody else goes on, and what the agent does may still be what the first ones wanted.
    let speaks = site.token(Who::OWNER).await;
    let run = say(&site, &speaks);
    let question = site.question().await;
    for token in [&site.owner, &child, &called, &speaks] {
        assert_eq!(site.allow(token, &question).await.status, 403);
        assert_eq!(site.grant(token, "granted").await, 403);
    }
    assert_eq!(site.allow(&answers, &question).await.status, 200);
    assert_eq!(run.await.unwrap().json()["text"], "It rang.");
}

/// A question outlives the process that asked, and whoever may not answer it must not be forgotten before it is over.
#[tokio::test(flavor = "multi_thread")]
async fn who_removes_a_session_after_a_restart_does_not_answer_what_was_asked_there() {
    let (site, _model) = site("", rings).await;
    let answers = site.token(Who::OWNER).await;
    let say = site.request("POST", "/v1/sessions/agent:main:s/messages");
    let run = tokio::spawn(send(say.json(&json!({"message": "hello"}))));
    let asked = site.question().await.parse().unwrap();
    let db = site.gate.db().await.unwrap();
    let request = db.approval(&asked, site.now()).await.unwrap().unwrap().request;
    assert_eq!(site.allow(&answers, asked.as_str()).await.status, 200);
    assert_eq!(run.await.unwrap().status, 200);
    // As a process that died leaves it.
    let left = NewApproval { call: site.gate.inner().next_id(), ..request };
    let limits = AskLimits { open: 5, open_of_user: None, per_minute: 9 };
    let left = db.request_approval(left, limits).await.unwrap();
    let site = site.restart().await;
    assert_eq!(site.allow(&site.owner, left.as_str()).await.status, 403);
    let removed = send(site.request("DELETE", "/v1/sessions/agent:main:s")).await;
    assert_eq!(removed.json()["done"], true, "{removed:?}");
    let own = site.allow(&site.owner, left.as_str()).await;
    assert_eq!(own.error(), (409, "conflict".to_owned()), "{own:?}");
    let shown = site.get(&format!("/v1/approvals/{left}")).await.json();
    assert_eq!(shown["status"], "withdrawn");
    assert_eq!(shown["message"], "the session was removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_of_a_user_are_bounded() {
    let (site, model) = site("server.runs = 2", |_| Reply::text("x").stall_after(0)).await;
    let (ada, bo) = (site.token(Who::member("ada")).await, site.token(Who::member("bo")).await);
    let mut open = Vec::new();
    for number in 0..2 {
        let request = site.request_as(&ada, "POST", "/v1/chat/completions").json(&chat("hello"));
        let request = request.header("toolgate-session", &format!("s{number}"));
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        open.push(stream);
    }
    model.requested(2).await;
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    for (path, body, form) in [
        ("/v1/chat/completions", chat("hello"), "/error/code"),
        (
            "/v1/messages",
            json!({"model": "main", "max_tokens": 9, "messages": chat("x")["messages"]}),
            "/error/type",
        ),
        ("/v1beta/models/main:generateContent", gemini, "/error/code"),
        ("/v1/sessions/agent:main:s/messages", json!({"message": "hello"}), "/error_type"),
    ] {
        let answer = send(site.request_as(&ada, "POST", path).json(&body)).await;
        assert_eq!((answer.status, answer.header("retry-after")), (429, "5"), "{path}: {answer:?}");
        assert!(answer.json().pointer(form).is_some(), "in the vendor's form: {answer:?}");
    }
    let mut socket = site.socket(&ada).await;
    assert_eq!(socket.error("sessions.send", json!({"message": "hello"})).await.0, -32029);
    // Somebody else's are another matter, and those that are over do not count.
    let request = site.request_as(&bo, "POST", "/v1/chat/completions").json(&chat("hello"));
    let mut theirs = TcpStream::connect(site.address).await.unwrap();
    theirs.write_all(&request.bytes()).await.unwrap();
    model.requested(3).await;
    drop(open);
    let mut again = TcpStream::connect(site.address).await.unwrap();
    until("there is room again", async || {
        let request = site.request_as(&ada, "POST", "/v1/chat/completions").json(&chat("hello"));
        again = TcpStream::connect(site.address).await.unwrap();
        again.write_all(&request.bytes()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        model.requests().len() >= 4
    })
    .await;
}

/// What is sent from one session to another without waiting goes on by itself, and is a conversation all the
/// same.
#[tokio::test(flavor = "multi_thread")]
async fn what_agents_go_on_with_by_themselves_counts_like_what_is_said_to_them() {
    let script = |asked: &Asked| {
        let works = asked.body.to_string().contains("work on");
        if works { Reply::text("x").stall_after(0) } else { Reply::text("Hello.") }
    };
    let config = "tools.profile = 'full'\n[users.bo.limits]\nruns = 2";
    let (site, model) = site(config, script).await;
    let bo = site.token(Who::member("bo")).await;
    let say = async |session: &str| {
        let path = format!("/v1/sessions/agent:main:{session}/messages");
        send(site.request_as(&bo, "POST", &path).json(&json!({"message": "hello"}))).await
    };
    let sends = async |token: &str, session: &str| {
        let request = site.request_as(token, "POST", "/v1/tools/sessions_send");
        let body = json!({"sessionKey": format!("agent:main:{session}"), "message": "work on",
            "timeoutSeconds": 0});
        send(request.json(&body)).await
    };
    for session in ["one", "two", "three"] {
        assert_eq!(say(session).await.status, 200);
    }
    for (number, session) in ["one", "two"].into_iter().enumerate() {
        let sent = sends(&bo, session).await;
        assert_eq!(sent.json()["result"]["status"], "accepted", "{sent:?}");
        model.requested(4 + number).await;
    }
    let refused = sends(&bo, "three").await;
    assert_eq!(refused.error(), (429, "rate_limited".to_owned()), "{refused:?}");
    assert_eq!(say("four").await.error(), (429, "rate_limited".to_owned()));
    // One that ends makes room for another.
    let stop = site.request_as(&bo, "POST", "/v1/sessions/agent:main:one/stop");
    assert_eq!(send(stop).await.status, 200);
    until("there is room again", async || sends(&bo, "three").await.status == 200).await;
    assert_eq!(say("four").await.status, 429);
}

/// Also what waits for its turn behind what is ended.
#[tokio::test(flavor = "multi_thread")]
async fn what_agents_go_on_with_by_themselves_ends_with_their_user() {
    let script = |asked: &Asked| {
        let works = asked.body.to_string().contains("work on");
        if works { Reply::text("x").stall_after(0) } else { Reply::text("Hello.") }
    };
    let (site, model) = site("tools.profile = 'full'", script).await;
    let bo = site.token(Who::member("bo")).await;
    let path = "/v1/sessions/agent:main:one/messages";
    let said = send(site.request_as(&bo, "POST", path).json(&json!({"message": "hello"}))).await;
    assert_eq!(said.status, 200, "{said:?}");
    for _ in 0..3 {
        let body = json!({"sessionKey": "agent:main:one", "message": "work on",
            "timeoutSeconds": 0});
        let request = site.request_as(&bo, "POST", "/v1/tools/sessions_send").json(&body);
        let sent = send(request).await;
        assert_eq!(sent.json()["result"]["status"], "accepted", "{sent:?}");
    }
    model.requested(2).await;
    let other = site.another_db().await;
    other.remove_user("bo", "test", site.now()).await.unwrap();
    until("nothing of theirs goes on", async || site.metric("toolgate_runs_open").await == 0).await;
    assert_eq!(model.requests().len(), 2, "what waited has begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_is_not_told_about_the_operators_provider() {
    let (site, _model) =
        site("", |_| Reply::error(401, "invalid_api_key", "key sk-123 of acme is wrong")).await;
    let bo = site.token(Who::member("bo")).await;
    for (token, known) in [(&bo, false), (&site.owner, true)] {
        let request = site.request_as(token, "POST", "/v1/sessions/agent:main:s/messages");
        let answer = send(request.json(&json!({"message": "hello"}))).await;
        assert_eq!(answer.error(), (503, "unavailable".to_owned()), "{answer:?}");
        assert_eq!(answer.text().contains("script"), known, "{answer:?}");
        let mut socket = site.socket(token).await;
        let (code, message) = socket.error("sessions.send", json!({"message": "hello"})).await;
        assert_eq!((code, message.contains("script")), (-32030, known), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_not_the_clients_fault() {
    let (site, _model) = site("", |_| Reply::error(418, "teapot", "no coffee")).await;
    let answer = site.post("/v1/sessions/agent:main:s/messages", json!({"message": "hello"})).await;
    assert_eq!(answer.error(), (502, "model_failed".to_owned()), "{answer:?}");
    let described = site.get("/openapi.json").await.json();
    let said = &described["paths"]["/v1/sessions/{key}/messages"]["post"]["responses"];
    assert!(said.get("502").is_some() && said.get("503").is_some(), "{said}");
    let said = &described["paths"]["/v1/chat/completions"]["post"]["responses"];
    for (status, listed) in
        [("404", true), ("429", true), ("502", true), ("409", false), ("504", false)]
    {
        assert_eq!(said.get(status).is_some(), listed, "{status}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_goes_on_after_a_restart_counts_if_nothing_above_it_does() {
    let config = "tools.profile = 'full'\n[users.ada.limits]\nruns = 1";
    let (site, model) = site(config, |_| Reply::text("x").stall_after(0)).await;
    let ada = site.token(Who::member("ada")).await;
    let params = json!({"name": "sessions_spawn", "arguments": {"task": "think"}});
    let spawned = site.ask_mcp(&ada, "tools/call", params).await.json();
    assert_eq!(spawned["result"]["structuredContent"]["status"], "accepted", "{spawned}");
    until("it thinks", async || model.requests().len() == 1).await;
    let site = site.restart().await;
    assert_eq!(site.gate.agents().resume().await.unwrap(), 1);
    until("it thinks again", async || model.requests().len() == 2).await;
    let request = site.request_as(&ada, "POST", "/v1/chat/completions").json(&chat("hello"));
    let refused = send(request).await;
    assert_eq!(refused.status, 429, "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_agents_do_is_counted() {
    let (site, _model) = site("", |asked| {
        if asked.body.to_string().contains("coffee, please") {
            return Reply::error(418, "teapot", "no coffee");
        }
        Reply::text("Hello.").usage(100, 0, 10)
    })
    .await;
    for text in ["hello", "hello", "coffee, please"] {
        site.post("/v1/chat/completions", chat(text)).await;
    }
    let page = site.get("/metrics").await.text();
    for line in [
        "toolgate_runs_open 0",
        "toolgate_runs_total{how=\"done\"} 2",
        "toolgate_runs_total{how=\"failed\"} 1",
        "toolgate_model_tokens_total{kind=\"input\"} 200",
        "toolgate_model_tokens_total{kind=\"output\"} 20",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} in {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_sessions_are_full_and_outlive_what_they_ended_with() {
    let (site, _model) = site("", rings).await;
    let db = site.gate.db().await.unwrap();
    for number in 0..12 {
        for agent in ["main", "other"] {
            let key = SessionKey::new("owner", agent, &format!("s{number}"));
            let at = site.now() + Duration::from_secs(number);
            db.open_session(NewSession::new(key, SessionKind::Chat), at).await.unwrap();
        }
    }
    let other = site.token(Who { agents: Some(&["other"]), ..Who::OWNER }).await;
    let nobody = site.token(Who { agents: Some(&[]), ..Who::OWNER }).await;
    let get = async |token: &str, path: &str| send(site.request_as(token, "GET", path)).await;
    let (mut seen, mut path) = (Vec::new(), "/v1/sessions?limit=5".to_owned());
    loop {
        let page = get(&other, &path).await.json();
        let sessions = page["sessions"].as_array().unwrap().clone();
        seen.extend(sessions.iter().map(|one| one["sessionKey"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        assert_eq!(sessions.len(), 5, "a page that is not the last is full");
        // What it ended with is gone when the next one is asked for.
        let last = SessionKey::parse("owner", seen.last().unwrap()).unwrap();
        assert!(db.remove_session(&last, site.now()).await.unwrap());
        path = format!("/v1/sessions?limit=5&cursor={next}");
    }
    let expected: Vec<_> = (0..12).rev().map(|number| format!("agent:other:s{number}")).collect();
    assert_eq!(seen, expected);
    assert_eq!(get(&other, "/v1/sessions?agent=main").await.json()["sessions"], json!([]));
    assert_eq!(get(&nobody, "/v1/sessions").await.json()["sessions"], json!([]));
    for cursor in ["nonsense", "agent:other:s1", "MTIz"] {
        let answer = site.get(&format!("/v1/sessions?cursor={cursor}")).await;
        assert_eq!(answer.error(), (400, "validation_error".to_owned()), "{cursor}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_vendors_clients_put_into_the_address_is_passed_over() {
    let (site, _model) = site("", |_| Reply::text("Hello there.")).await;
    let anthropic =
        json!({"model": "main", "max_tokens": 9, "messages": chat("hello")["messages"]});
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    for (path, body) in [
        ("/v1/messages?beta=true", &anthropic),
        ("/v1/chat/completions?api-version=1&api-version=2", &chat("hello")),
        ("/v1beta/models/main:generateContent?key=x&$alt=json", &gemini),
        ("/v1beta/models/main:streamGenerateContent?alt=sse&key=x", &gemini),
    ] {
        let answer = site.post(path, body.clone()).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.text().contains("Hello"), "{path}: {answer:?}");
    }
    for path in ["/v1/models?limit=5&whatever=1", "/v1beta/models?pageSize=5&key=x"] {
        assert_eq!(site.get(path).await.status, 200, "{path}");
    }
    assert_eq!(site.get("/v1/calls?whatever=1").await.status, 400, "our own are checked");
    // A key there is none.
    let path = format!("/v1beta/models/main:generateContent?key={}", site.owner);
    let answer = send(site.anonymous("POST", &path).json(&gemini)).await;
    assert_eq!(answer.status, 401);
    assert!(answer.text().contains("a key in the address is not accepted"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_events_geminis_stream_is_one_list() {
    let (site, _model) = site("", |_| Reply::text("Hello there, you.")).await;
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]});
    let answer = site.post("/v1beta/models/main:streamGenerateContent", body.clone()).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let list = answer.json();
    let pieces: Vec<_> = list.as_array().unwrap().iter().collect();
    assert!(pieces.len() > 2, "{list}");
    let text: String = pieces
        .iter()
        .filter_map(|piece| piece["candidates"][0]["content"]["parts"][0]["text"].as_str())
        .collect();
    assert_eq!(text, "Hello there, you.");
    assert_eq!(pieces.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    let answer = site.post("/v1beta/models/main:streamGenerateContent?alt=sse", body).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert!(answer.text().starts_with("data: {"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_nothing_of_an_answer_holds_up_nothing() {
    let site = Site::with("server.answer_timeout = '300ms'").await;
    let body = json!({"pieces": 2_000, "bytes": 10_000});
    let request = site.request("POST", "/v1/tools/talk").json(&body);
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    // It stays open, and nothing is read from it.
    let request = request.header("accept", "text/event-stream");
    stream.write_all(&request.bytes()).await.unwrap();
    until("the call runs", async || site.gate.stats().running == 1).await;
    until("it is over", async || {
        site.entries().pop().is_some_and(|last| last.error_type.as_deref() == Some("cancelled"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_listed_may_send_what_clients_of_vendors_send() {
    let site = Site::with("server.origins = ['https://app.example.org']").await;
    let wanted = "authorization,anthropic-version,x-stainless-os,toolgate-request";
    let asks = site.anonymous("OPTIONS", "/v1/sessions/agent:main:s");
    let asks = asks.header("access-control-request-method", "PATCH");
    let asks = asks.header("access-control-request-headers", wanted);
    let answer = send(asks.clone().header("origin", "https://app.example.org")).await;
    assert_eq!(answer.status, 204);
    assert!(answer.header("access-control-allow-methods").contains("PATCH"));
    assert_eq!(answer.header("access-control-allow-headers"), wanted);
    let read = site.request("GET", "/v1/tools").header("origin", "https://app.example.org");
    assert!(send(read).await.header("access-control-expose-headers").contains("toolgate-session"));
    let other = send(asks.header("origin", "https://evil.example.org")).await;
    assert_eq!((other.status, other.header("access-control-allow-headers")), (403, ""));
}
