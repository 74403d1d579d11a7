//! What there is to see, and for whom.

use serde_json::{Value, json};

use crate::{
    client::send,
    helper::{Site, Who, until},
};

fn names(value: &Value, list: &str, field: &str) -> Vec<String> {
    let items = value[list].as_array().unwrap_or_else(|| panic!("{value}"));
    items.iter().map(|item| item[field].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_those_of_the_caller_and_the_owner_sees_why_not() {
    let site = Site::with("[tools]\ndeny = ['ls']").await;
    let member = site.token(Who::member("bo")).await;
    let all = site.get("/v1/tools").await.json();
    let find = |name: &str| {
        let tools = all["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(find("read")["status"], "available");
    assert_eq!(find("ls")["status"], "withheld");
    assert!(find("ls")["reason"].as_str().unwrap().contains("toolgate.toml:2"));
    assert!(find("exec")["reason"].as_str().unwrap().contains("over HTTP"));
    let theirs = send(site.request_as(&member, "GET", "/v1/tools")).await.json();
    let expected =
        ["add_task", "get_current_time", "list_tasks", "ring", "save_note", "search_notes", "talk"];
    assert_eq!(names(&theirs, "tools", "name"), expected);
    for (token, name, expected) in [
        (&site.owner, "read", 200),
        (&site.owner, "read_file", 200),
        (&site.owner, "ls", 200),
        (&site.owner, "none", 404),
        (&member, "ring", 200),
        (&member, "read", 404),
        (&member, "ls", 404),
    ] {
        let answer = send(site.request_as(token, "GET", &format!("/v1/tools/{name}"))).await;
        assert_eq!(answer.status, expected, "{name}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_comes_page_by_page() {
    let site = Site::new().await;
    for number in 0..7 {
        let session = format!("s{}", number % 2);
        let request = site.request("POST", "/v1/tools/get_current_time").json(&json!({}));
        send(request.header("toolgate-session", &session)).await;
    }
    site.post("/v1/tools/read", json!({"path": "none"})).await;
    let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = site.get(&format!("/v1/calls?limit=3{cursor}")).await.json();
        seen.extend(names(&page, "calls", "id"));
        pages += 1;
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let newest_first: Vec<_> =
        site.entries().iter().rev().map(|entry| entry.id.to_string()).collect();
    assert_eq!((seen, pages), (newest_first, 3));
    for (query, expected) in [
        ("tool=get_current_time", 7),
        ("status=error", 1),
        ("session=s1", 3),
        ("agent=main", 8),
        ("agent=other", 0),
        ("since=1h", 8),
        ("since=2100-01-01T00:00:00Z", 0),
        ("tool=read&status=error", 1),
    ] {
        let found = site.get(&format!("/v1/calls?{query}")).await.json();
        assert_eq!(names(&found, "calls", "id").len(), expected, "{query}");
    }
    for (query, words) in [
        ("limit=0", "1 to 500"),
        ("limit=501", "1 to 500"),
        ("limit=-1", "whole number"),
        ("status=odd", "no status"),
        ("since=yesterday", "neither a time nor a duration"),
        ("cursor=x", "`cursor` must be the `next`"),
        ("sesion=s1", "did you mean `session`?"),
        ("tool=a&tool=b", "twice"),
    ] {
        let answer = site.get(&format!("/v1/calls?{query}")).await;
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.json()["message"].as_str().unwrap().contains(words), "{answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_sees_their_own() {
    let site = Site::new().await;
    let [bo, cy] = [site.token(Who::member("bo")).await, site.token(Who::member("cy")).await];
    let mut ids = Vec::new();
    for token in [&bo, &cy, &site.owner] {
        let request = site.request_as(token, "POST", "/v1/tools/get_current_time");
        let answer = send(request.json(&json!({}))).await;
        ids.push(answer.header("toolgate-call-id").to_owned());
    }
    let count = async |token: &str, query: &str| {
        let found = send(site.request_as(token, "GET", &format!("/v1/calls{query}"))).await.json();
        names(&found, "calls", "user_id")
    };
    assert_eq!(count(&bo, "").await, ["bo"]);
    assert_eq!(count(&bo, "?user=cy").await, ["bo"], "what they ask for changes nothing");
    assert_eq!(count(&site.owner, "").await, ["owner", "cy", "bo"]);
    assert_eq!(count(&site.owner, "?user=cy").await, ["cy"]);
    for (token, id, expected) in
        [(&bo, &ids[0], 200), (&bo, &ids[1], 404), (&bo, &ids[2], 404), (&site.owner, &ids[1], 200)]
    {
        let answer = send(site.request_as(token, "GET", &format!("/v1/calls/{id}"))).await;
        assert_eq!(answer.status, expected);
    }
    // A place in the list is one of those that one sees.
    let nothing = "019a2b6e-0000-7000-8000-000000000000".to_owned();
    let mut refused = Vec::new();
    for (token, id, expected) in [
        (&bo, &ids[0], 200),
        (&bo, &ids[1], 400),
        (&bo, &nothing, 400),
        (&site.owner, &ids[1], 200),
        (&site.owner, &nothing, 400),
    ] {
        let answer = send(site.request_as(token, "GET", &format!("/v1/calls?cursor={id}"))).await;
        assert_eq!(answer.status, expected, "{id}: {answer:?}");
        refused.extend((expected == 400).then(|| answer.text()));
    }
    assert!(refused.iter().all(|text| text.contains("`cursor` must be the `next`")), "{refused:?}");
    let stats = send(site.request_as(&bo, "GET", "/v1/stats")).await.json();
    assert_eq!(
        (stats["calls"]["success"].clone(), stats["owner"].clone()),
        (json!(1), json!(false))
    );
    let all = site.get("/v1/stats").await.json();
    assert_eq!(all["calls"]["success"], 3);
    for name in ["running", "waiting", "connections"] {
        assert_eq!((stats.get(name), &all[name]), (None, &json!(0)), "what all do is the owner's");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_made_by_the_owner_and_shown_once() {
    let site = Site::new().await;
    let member = site.token(Who::member("bo")).await;
    site.post("/v1/users", json!({"id": "cy"})).await;
    let made = site.post("/v1/tokens", json!({"name": "ci", "user": "cy", "expires": "1d"})).await;
    assert_eq!(made.status, 201, "{made:?}");
    let token = made.json()["token"].as_str().unwrap().to_owned();
    assert!(token.starts_with("tg_"));
    let own = send(site.request_as(&token, "GET", "/v1/stats")).await.json();
    assert_eq!(own["user"], "cy");
    let listed = site.get("/v1/tokens").await;
    assert!(!listed.text().contains(&token));
    assert_eq!(names(&listed.json(), "tokens", "user"), ["cy", "bo", "owner"]);
    let theirs = send(site.request_as(&member, "GET", "/v1/tokens")).await.json();
    assert_eq!(names(&theirs, "tokens", "user"), ["bo"]);
    let refused =
        send(site.request_as(&member, "POST", "/v1/tokens").json(&json!({"name": "x"}))).await;
    assert_eq!(refused.status, 403);
    // Somebody else's is not there.
    let id = listed.json()["tokens"][0]["id"].as_str().unwrap().to_owned();
    let request = site.request_as(&member, "DELETE", &format!("/v1/tokens/{id}"));
    assert_eq!(send(request).await.status, 404);
    for body in [
        json!({}),
        json!({"name": ""}),
        json!({"name": "x", "user": "a b"}),
        json!({"name": "x", "agents": ["a b"]}),
        json!({"name": "x", "expires": "soon"}),
        json!({"name": "x", "role": "owner"}),
        json!([]),
    ] {
        assert_eq!(site.post("/v1/tokens", body.clone()).await.status, 400, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_are_granted_and_taken_by_the_owner() {
    let site = Site::new().await;
    let member = site.token(Who::member("bo")).await;
    let state = async |token: &str, capability: &str| {
        let all = send(site.request_as(token, "GET", "/v1/permissions")).await.json();
        let all = all["permissions"].as_array().unwrap().clone();
        all.iter().find(|one| one["capability"] == capability).unwrap()["state"].clone()
    };
    assert_eq!(state(&site.owner, "files").await, "granted");
    assert_eq!(state(&site.owner, "exec").await, "ask");
    assert_eq!(state(&member, "files").await, "ask");
    let granted = site.post("/v1/permissions", json!({"capability": "exec"})).await;
    assert_eq!(granted.json()["state"], "granted", "{granted:?}");
    assert_eq!(state(&site.owner, "exec").await, "granted");
    let taken = send(site.request("DELETE", "/v1/permissions?capability=exec&for_good=true")).await;
    assert_eq!(taken.json()["state"], "denied_for_good");
    site.post("/v1/permissions", json!({"capability": "files", "user": "bo"})).await;
    assert_eq!(state(&member, "files").await, "granted");
    let body = json!({"capability": "exec", "user": "bo"});
    let refused = send(site.request_as(&member, "POST", "/v1/permissions").json(&body)).await;
    assert_eq!(refused.status, 403);
    assert_eq!(site.post("/v1/permissions", json!({"capability": "fly"})).await.status, 400);
    let request = site.request("DELETE", "/v1/permissions?capability=fly");
    assert_eq!(send(request).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_happen_is_said_as_on_the_command_line() {
    let site = Site::new().await;
    let member = site.token(Who::member("bo")).await;
    for (token, kind, body, expected) in [
        (&site.owner, "command", json!({"value": "ls -l"}), "allow"),
        (&site.owner, "command", json!({"value": "ls -l", "ask": "always"}), "ask"),
        (&site.owner, "command", json!({"value": "make", "security": "paranoid"}), "deny"),
        (&site.owner, "url", json!({"value": "https://example.org/"}), "allow"),
        (&site.owner, "url", json!({"value": "http://127.0.0.1/"}), "deny"),
        (
            &site.owner,
            "url",
            json!({"value": "https://a.example/", "resolve": ["a.example=10.0.0.1"]}),
            "deny",
        ),
        (&site.owner, "path", json!({"value": "hello.txt"}), "allow"),
        (&site.owner, "path", json!({"value": "../x"}), "deny"),
        (&site.owner, "path", json!({"value": ".git/config", "write": true}), "deny"),
        (
            &site.owner,
            "call",
            json!({"value": {"tool": "read", "arguments": {"path": "hello.txt"}}}),
            "allow",
        ),
        (&site.owner, "call", json!({"value": {"tool": "ring"}}), "ask"),
        (&site.owner, "call", json!({"value": "nonsense"}), "deny"),
        (&member, "call", json!({"value": {"tool": "ring"}}), "ask"),
        (&member, "call", json!({"value": {"tool": "read", "arguments": {"path": "a"}}}), "deny"),
    ] {
        let request = site.request_as(token, "POST", &format!("/v1/check/{kind}"));
        let answer = send(request.json(&body)).await;
        assert_eq!(answer.status, 200, "{kind} {body}: {answer:?}");
        assert_eq!(answer.json()["verdict"], expected, "{kind} {body}: {}", answer.text());
        assert_eq!(answer.json()["input"], body["value"]);
    }
    let hidden = json!({"value": {"tool": "exec", "arguments": {"command": "ls"}}});
    let owner = site.post("/v1/check/call", hidden.clone()).await.json();
    assert_eq!(owner["rule"], "policy.group");
    let theirs =
        send(site.request_as(&member, "POST", "/v1/check/call").json(&hidden)).await.json();
    assert_eq!(
        theirs["rule"], "tool_not_available",
        "nothing is learnt about a tool that is not theirs"
    );
    let schema = json!({"value": {"type": "object", "properties": {}}, "format": "gemini"});
    assert_eq!(site.post("/v1/check/schema", schema).await.json()["schema"]["type"], "object");
    for (token, kind, body, expected) in [
        (&site.owner, "nothing", json!({"value": "x"}), 404),
        (&site.owner, "command", json!({"value": 1}), 400),
        (&site.owner, "command", json!({"value": "ls", "ask": "never"}), 400),
        (&site.owner, "command", json!({"valu": "ls"}), 400),
        (&site.owner, "schema", json!({"value": {}}), 400),
        (&site.owner, "schema", json!({"value": {}, "format": "odd"}), 400),
        (&site.owner, "url", json!({"value": "x", "resolve": ["x"]}), 400),
        (&member, "command", json!({"value": "ls"}), 403),
        (&member, "path", json!({"value": "hello.txt"}), 403),
    ] {
        let request = site.request_as(token, "POST", &format!("/v1/check/{kind}"));
        let answer = send(request.json(&body)).await;
        assert_eq!(answer.status, expected, "{kind} {body}: {answer:?}");
    }
    assert_eq!(site.entries().len(), 0, "nothing ran, and nothing is recorded");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_count_what_happens_and_nothing_a_caller_can_choose() {
    let site = Site::new().await;
    site.post("/v1/tools/read", json!({"path": "hello.txt"})).await;
    site.post("/v1/tools/read", json!({"pth": "hello.txt"})).await;
    for number in 0..5 {
        site.post(&format!("/v1/tools/made_up_{number}"), json!({})).await;
    }
    let answer = site.get("/metrics").await;
    assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
    let page = answer.text();
    for line in [
        r#"toolgate_calls_total{tool="read",status="success",stage=""} 1"#,
        r#"toolgate_calls_total{tool="read",status="validation_error",stage="validate"} 1"#,
        r#"toolgate_calls_total{tool="unknown",status="tool_not_available",stage="resolve"} 5"#,
        r#"toolgate_call_duration_seconds_count{tool="read"} 2"#,
        r#"toolgate_http_requests_total{status="404"} 5"#,
        "toolgate_calls_running 0",
        "toolgate_approvals_open 0",
        "toolgate_sandbox_jobs_total 0",
    ] {
        assert!(page.lines().any(|found| found == line), "no `{line}` in\n{page}");
    }
    assert!(!page.contains("made_up"));
}

#[tokio::test(flavor = "multi_thread")]
async fn long_lists_come_page_by_page() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let mut calls = Vec::new();
    for number in 0..5 {
        site.token(Who::member("bo")).await;
        let request = site.request("POST", "/v1/tools/ring");
        let request = request.header("toolgate-session", &format!("s{number}"));
        calls.push(tokio::spawn(send(request.json(&json!({})))));
    }
    until("all ask", async || {
        site.get("/v1/approvals").await.json()["approvals"].as_array().unwrap().len() == 5
    })
    .await;
    let mut socket = site.socket(&site.owner).await;
    for (list, method) in [
        ("approvals", Some("approvals.list")),
        ("tokens", None),
        ("permissions", Some("permissions.list")),
    ] {
        let path = format!("/v1/{list}");
        let whole = site.get(&path).await.json();
        assert!(whole.get("next").is_none(), "{whole}");
        let whole = whole[list].as_array().unwrap().clone();
        assert!(whole.len() > 4, "{whole:?}");
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let after =
                cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let page = site.get(&format!("{path}?limit=2{after}")).await.json();
            if let Some(method) = method {
                let told = socket.get(method, json!({"limit": 2, "cursor": cursor})).await;
                assert_eq!(told, page);
            }
            seen.extend(page[list].as_array().unwrap_or_else(|| panic!("{page}")).clone());
            cursor = page["next"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
            assert_eq!(
                page[list].as_array().unwrap().len(),
                2,
                "a page that is not the last is full"
            );
        }
        assert_eq!(seen, whole, "{list}");
        for wrong in ["limit=0", "limit=501", "cursor=nonsense", "cursor=00000000", "cursor="] {
            let refused = site.get(&format!("{path}?{wrong}")).await;
            assert_eq!(refused.error(), (400, "validation_error".to_owned()), "{list}: {wrong}");
        }
    }
    calls.iter().for_each(tokio::task::JoinHandle::abort);
}
