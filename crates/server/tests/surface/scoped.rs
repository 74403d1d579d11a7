//! What a token reaches: agents that exist, and of what they do only its own.

use serde_json::{Value, json};

use crate::{
    client::{Answer, send},
    helper::{Site, Who, until},
};

/// An agent that may do less than others, and one that may do all.
const AGENTS: &str = "[agents.scout]\ntools.allow = ['get_current_time', 'ring', 'talk']\n\
                      [agents.helper]\ndescription = 'helps'";

const SCOUT: Who = Who { agents: Some(&["scout"]), ..Who::OWNER };

impl Site {
    /// A request as an agent, in a session.
    async fn as_agent(
        &self,
        token: &str,
        (agent, session): (&str, &str),
        (method, path): (&str, &str),
    ) -> Answer {
        let request = self.request_as(token, method, path).header("toolgate-agent", agent);
        let request = request.header("toolgate-session", session);
        send(if method == "POST" { request.json(&json!({})) } else { request }).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_exist_is_nobody_on_every_surface() {
    let site = Site::with(AGENTS).await;
    for (method, path) in [
        ("POST", "/v1/tools/get_current_time"),
        ("GET", "/v1/tools"),
        ("GET", "/v1/tools/read"),
        ("POST", "/v1/check/call"),
        ("POST", "/v1/files?path=new.txt"),
        ("POST", "/v1/sessions/agent:scuot:main/messages"),
        ("GET", "/v1/policy/explain?tool=read&agent=scuot"),
    ] {
        let request = site.request("POST", path).json(&json!({"value": {}, "message": "hello"}));
        let request = if method == "GET" { site.request("GET", path) } else { request };
        let request = if path.contains("messages") {
            site.request("POST", path).json(&json!({"message": "hello"}))
        } else if path.contains("/check/") {
            site.request("POST", path).json(&json!({"value": {"tool": "read", "arguments": {}}}))
        } else {
            request
        };
        let answer = send(request.header("toolgate-agent", "scuot")).await;
        assert_eq!(answer.error(), (404, "not_found".to_owned()), "{method} {path}: {answer:?}");
        assert!(answer.text().contains("did you mean `scout`?"), "{method} {path}: {answer:?}");
    }
    let chat = json!({"model": "scuot", "messages": [{"role": "user", "content": "hello"}]});
    let answer = site.post("/v1/chat/completions", chat).await;
    assert_eq!(answer.status, 404, "{answer:?}");
    assert!(answer.text().contains("did you mean `scout`?"), "{answer:?}");
    let mut socket = site.socket(&site.owner).await;
    for (method, more) in [
        ("tools.call", json!({"name": "get_current_time"})),
        ("tools.list", json!({})),
        ("sessions.send", json!({"message": "hello"})),
    ] {
        let mut params = more;
        params["agent"] = "scuot".into();
        let (code, message) = socket.error(method, params).await;
        assert_eq!(code, -32004, "{method}: {message}");
        assert!(message.contains("did you mean `scout`?"), "{method}: {message}");
    }
    let bearer = format!("Bearer {}", site.owner);
    let opened = site.open(&[("authorization", &bearer), ("toolgate-agent", "scuot")]).await;
    assert_eq!(opened.err(), Some(404));
    assert!(site.entries().is_empty(), "nothing ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_use_an_agent_does_not_learn_whether_there_is_one() {
    let site = Site::with(AGENTS).await;
    let scout = site.token(SCOUT).await;
    let call = ("POST", "/v1/tools/get_current_time");
    for agent in ["helper", "nosuch"] {
        let answer = site.as_agent(&scout, (agent, "main"), call).await;
        assert_eq!(answer.error(), (403, "permission_denied".to_owned()), "{agent}");
    }
    assert_eq!(site.as_agent(&scout, ("scout", "main"), call).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_not_made_in_sessions_that_are_toolgates_own() {
    let site = Site::with(AGENTS).await;
    for session in ["subagent:019a2b6e", "request:1"] {
        for (method, path) in [
            ("POST", "/v1/tools/get_current_time"),
            ("POST", "/v1/files?path=new.txt"),
            ("GET", "/v1/tools"),
        ] {
            let answer = site.as_agent(&site.owner, ("scout", session), (method, path)).await;
            assert_eq!(answer.error(), (403, "permission_denied".to_owned()), "{path}: {answer:?}");
            assert!(answer.text().contains("made by its agent only"), "{answer:?}");
        }
        let mut socket = site.socket(&site.owner).await;
        let params = json!({"name": "get_current_time", "session": session});
        assert_eq!(socket.error("tools.call", params).await.0, -32003);
    }
    assert!(site.entries().is_empty(), "nothing ran");
}

/// What one agent did, and another one's, for the same user.
async fn both_called(site: &Site, tool: &str, body: &Value) -> [Value; 2] {
    let mut ids = [Value::Null, Value::Null];
    for (agent, id) in ["scout", "helper"].into_iter().zip(&mut ids) {
        let request = site.request("POST", &format!("/v1/tools/{tool}")).json(body);
        let answer = send(request.header("toolgate-agent", agent)).await;
        *id = answer.json()["meta"]["call_id"].clone();
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_certain_agents_sees_what_they_did_and_no_more() {
    let config = format!("limits.model_output_bytes = 100\n{AGENTS}");
    let site = Site::with(&config).await;
    let scout = site.token(SCOUT).await;
    let get = async |path: &str| send(site.request_as(&scout, "GET", path)).await;
    let [own, other] = both_called(&site, "get_current_time", &json!({})).await;
    let calls = get("/v1/calls").await.json();
    let listed: Vec<_> =
        calls["calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(listed, [&own]);
    assert_eq!(get("/v1/calls?agent=helper").await.json()["calls"], json!([]));
    assert_eq!(get("/v1/calls?agent=scout").await.json()["calls"][0]["id"], own);
    for (id, status) in [(&own, 200), (&other, 404)] {
        let path = format!("/v1/calls/{}", id.as_str().unwrap());
        assert_eq!(get(&path).await.status, status, "{id}");
    }
    let stats = get("/v1/stats").await.json();
    assert_eq!((&stats["calls"]["success"], &stats["owner"]), (&json!(1), &json!(false)));
    let permissions = get("/v1/permissions").await.json();
    let all = permissions["permissions"].as_array().unwrap();
    assert!(!all.is_empty() && all.iter().all(|one| one["agent"] == "scout"), "{permissions}");
    assert_eq!(get("/v1/tokens").await.json()["tokens"].as_array().unwrap().len(), 1);
    let mut socket = site.socket(&scout).await;
    let permissions = socket.get("permissions.list", json!({})).await;
    let all = permissions["permissions"].as_array().unwrap();
    assert!(all.iter().all(|one| one["agent"] == "scout"), "{permissions}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_certain_agents_reads_only_what_they_left_behind() {
    let config = format!(
        "limits.model_output_bytes = 1000\n[tools]\nprofile = 'full'\n{AGENTS}\n\
         [agents.reader]\ndescription = 'reads'"
    );
    let site = Site::with(&config).await;
    let lines: Vec<_> = (0..1_000).map(|line| format!("line {line}\n")).collect();
    std::fs::write(site.path("long.txt"), lines.concat()).unwrap();
    let request = site.request("POST", "/v1/tools/read").json(&json!({"path": "long.txt"}));
    let outcome = send(request.header("toolgate-agent", "reader")).await.json();
    let id = outcome["meta"]["artifacts"][0]["id"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    let path = format!("/v1/artifacts/{id}");
    let reader = site.token(Who { agents: Some(&["reader"]), ..Who::OWNER }).await;
    let (scout, stranger) = (site.token(SCOUT).await, site.token(Who::member("bo")).await);
    for (token, status) in [(&site.owner, 200), (&reader, 200), (&scout, 404), (&stranger, 404)] {
        assert_eq!(send(site.request_as(token, "GET", &path)).await.status, status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_certain_agents_stops_only_what_they_do() {
    let site = Site::with(AGENTS).await;
    let scout = site.token(SCOUT).await;
    let mut socket = site.socket(&scout).await;
    for (agent, status) in [("helper", 404), ("scout", 200)] {
        let body = json!({"pieces": 0, "rest_ms": 600_000});
        let request = site.request("POST", "/v1/tools/talk").json(&body);
        let call = tokio::spawn(send(request.header("toolgate-agent", agent)));
        let mut id = String::new();
        until("the call runs", async || {
            let list = site.get("/v1/calls?status=running").await.json();
            id = list["calls"][0]["id"].as_str().unwrap_or_default().to_owned();
            !id.is_empty()
        })
        .await;
        if status == 404 {
            let error = socket.error("calls.cancel", json!({"call_id": id})).await;
            assert_eq!(error.0, -32004);
        }
        let path = format!("/v1/calls/{id}/cancel");
        assert_eq!(send(site.request_as(&scout, "POST", &path)).await.status, status, "{agent}");
        if status == 404 {
            assert_eq!(site.post(&path, json!({})).await.status, 200);
        }
        assert_eq!(call.await.unwrap().error(), (499, "cancelled".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_certain_agents_is_told_of_what_they_do() {
    let site = Site::with(AGENTS).await;
    let scout = site.token(SCOUT).await;
    let (mut agents, mut owner) = (site.socket(&scout).await, site.socket(&site.owner).await);
    let first = agents.get("events.subscribe", json!({})).await["event_id"].clone();
    owner.get("events.subscribe", json!({})).await;
    // One asks, the other one asks, too; nobody answers before both were heard of.
    let mut calls = Vec::new();
    for agent in ["helper", "scout"] {
        let request = site.request("POST", "/v1/tools/ring").json(&json!({}));
        calls.push(tokio::spawn(send(request.header("toolgate-agent", agent))));
        assert_eq!(owner.told("approval.requested").await["agent"], agent);
    }
    assert_eq!(agents.told("approval.requested").await["agent"], "scout");
    let listed = send(site.request_as(&scout, "GET", "/v1/approvals")).await.json();
    assert_eq!(listed["approvals"].as_array().unwrap().len(), 1, "{listed}");
    let listed = agents.get("approvals.list", json!({})).await;
    assert_eq!(listed["approvals"][0]["agent"], "scout", "{listed}");
    let second = site.token(Who::OWNER).await;
    for approval in site.get("/v1/approvals").await.json()["approvals"].as_array().unwrap() {
        let path = format!("/v1/approvals/{}", approval["id"].as_str().unwrap());
        let own = approval["agent"] == "scout";
        let shown = send(site.request_as(&scout, "GET", &path)).await;
        assert_eq!(shown.status, if own { 200 } else { 404 });
        let answer = site.request_as(&second, "POST", &path).json(&json!({"decision": "deny"}));
        assert_eq!(send(answer).await.status, 200);
    }
    for call in calls {
        assert_eq!(call.await.unwrap().error().0, 403);
    }
    // The last of all: everything before it was sent.
    assert_eq!(agents.told("approval.resolved").await["agent"], "scout");
    let mut again = site.socket(&scout).await;
    again.get("events.subscribe", json!({"since": first})).await;
    for told in [agents.all().await, again.all().await] {
        assert!(!told.is_empty());
        let whose: Vec<_> = told.iter().map(|event| &event["params"]["agent"]).collect();
        assert!(whose.iter().all(|agent| **agent == "scout"), "{told:?}");
    }
}
