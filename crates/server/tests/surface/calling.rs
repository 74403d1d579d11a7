//! Calls, one by one.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    client::{Request, send},
    helper::{PATIENCE, Site, Who, until},
};

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_comes_with_the_status_that_belongs_to_it() {
    let site = Site::with("[limits]\nfile_bytes = 20\nrates.get_current_time = '1/h'").await;
    fs::write(site.path("large.txt"), "x".repeat(30)).unwrap();
    for (tool, body, status, error) in [
        ("read", r#"{"path":"hello.txt"}"#, 200, ""),
        ("read_file", r#"{"path":"hello.txt"}"#, 200, ""),
        ("get_current_time", "", 200, ""),
        ("get_current_time", "", 429, "rate_limited"),
        ("read", r#"{"path":"none.txt"}"#, 404, "file_not_found"),
        ("read", r#"{"path":"../../etc/passwd"}"#, 403, "path_not_allowed"),
        ("read", r#"{"path":"large.txt"}"#, 413, "file_too_large"),
        ("read", r#"{"pth":"hello.txt"}"#, 400, "validation_error"),
        ("read", r#"{"path":"hello.txt","path":"other.txt"}"#, 400, "validation_error"),
        ("read", "{", 400, "validation_error"),
        ("read", "[1]", 400, "validation_error"),
        ("nothing", "{}", 404, "tool_not_available"),
        ("exec", r#"{"command":"ls"}"#, 404, "tool_not_available"),
        ("process", "{}", 404, "tool_not_available"),
        ("..%2f..%2fadmin", "{}", 404, "tool_not_available"),
    ] {
        let request = site.request("POST", &format!("/v1/tools/{tool}"));
        let request = request.header("content-type", "application/json").body(body);
        let answer = send(request).await;
        assert_eq!(answer.status, status, "{tool} {body}: {answer:?}");
        let outcome = answer.json();
        assert_eq!(outcome["error_type"].as_str().unwrap_or_default(), error, "{tool} {body}");
        assert_eq!(outcome["meta"]["call_id"], answer.header("toolgate-call-id"), "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn configuration_opens_what_is_closed_over_http() {
    let site = Site::with("[tools.by_channel.http]\nalso_allow = ['sessions_spawn']").await;
    // It gets past policy; that it is not told what to do is another matter.
    let answer = site.post("/v1/tools/sessions_spawn", json!({})).await;
    assert_eq!(answer.error(), (400, "validation_error".to_owned()));
    let closed = Site::new().await.post("/v1/tools/sessions_spawn", json!({})).await;
    assert_eq!(closed.error(), (404, "tool_not_available".to_owned()));
    assert_eq!(site.post("/v1/tools/exec", json!({"command": "ls"})).await.status, 404);
    let explained = site.get("/v1/policy/explain?tool=exec&channel=http").await.json();
    assert_eq!(explained["verdict"], "deny");
    assert_eq!(explained["reason"], "group: a call over HTTP loses `exec` unless it is allowed");
    assert_eq!(site.get("/v1/policy/explain?tool=exec").await.json()["verdict"], "allow");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_must_be_json_and_say_so() {
    let site = Site::new().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let request = site.request("POST", "/v1/tools/read").header("content-type", kind);
        let answer = send(request.body(r#"{"path":"hello.txt"}"#)).await;
        assert_eq!(answer.error(), (415, "unsupported_media_type".to_owned()), "{kind}");
    }
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.x+json"] {
        let request = site.request("POST", "/v1/tools/read").header("content-type", kind);
        assert_eq!(send(request.body(r#"{"path":"hello.txt"}"#)).await.status, 200, "{kind}");
    }
    let request = site.request("POST", "/v1/tools/read").header("content-type", "application/json");
    assert_eq!(send(request.body(vec![b'"', 0xff, b'"'])).await.status, 400);
}

/// The events of a stream, by name and data.
fn events(text: &str) -> Vec<(String, Value)> {
    let each = text.split("\n\n").filter(|event| event.starts_with("event: "));
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), data)
    };
    each.map(event).collect()
}

fn streaming(request: Request) -> Request {
    request.header("accept", "text/event-stream")
}

#[tokio::test(flavor = "multi_thread")]
async fn partial_results_come_as_events_and_the_outcome_last() {
    let site = Site::new().await;
    let request = streaming(site.request("POST", "/v1/tools/talk")).json(&json!({"pieces": 40}));
    let answer = send(request).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream"));
    let events = events(&answer.text());
    let (last, updates) = events.split_last().unwrap();
    assert_eq!(last.0, "outcome");
    assert_eq!(last.1["result"], "said");
    assert_eq!(last.1["meta"]["call_id"], answer.header("toolgate-call-id"));
    assert!(updates.iter().all(|(name, _)| name == "update"));
    let said: String = updates.iter().map(|(_, data)| data["text"].as_str().unwrap()).collect();
    let expected: Vec<_> = (0..40).map(|piece| format!("piece {piece} \n")).collect();
    assert_eq!(said, expected.concat());
    // What is refused is an outcome, too.
    let request = streaming(site.request("POST", "/v1/tools/none")).json(&json!({}));
    let refused = send(request).await;
    assert_eq!(refused.text().matches("event: outcome").count(), 1);
    assert!(refused.text().contains("tool_not_available"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_away_stops_the_call() {
    let site = Site::new().await;
    let rest = json!({"pieces": 1, "rest_ms": 600_000});
    let requests = [
        site.request("POST", "/v1/tools/talk").json(&rest),
        streaming(site.request("POST", "/v1/tools/talk")).json(&rest),
    ];
    for (before, request) in requests.into_iter().enumerate() {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        until("the call runs", async || site.gate.stats().running == 1).await;
        drop(stream);
        until("the call has its outcome", async || {
            let cancelled = |entry: &store::Entry| entry.error_type.as_deref() == Some("cancelled");
            site.entries().iter().filter(|entry| cancelled(entry)).count() == before + 1
        })
        .await;
        until("its slot is free", async || site.gate.stats().running == 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_of_a_stream_slows_the_tool_and_nothing_grows() {
    let site = Site::new().await;
    let body = json!({"pieces": 2_000, "bytes": 10_000});
    let request = streaming(site.request("POST", "/v1/tools/talk")).json(&body);
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    until("the call runs", async || site.gate.stats().running == 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(site.gate.stats().running, 1, "20 MB do not fit into what is kept for somebody");
    let mut bytes = Vec::new();
    tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    assert!(bytes.len() > 20_000_000);
    assert!(String::from_utf8_lossy(&bytes).contains("event: outcome"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_stopped_by_its_id_by_whose_it_is() {
    let site = Site::new().await;
    let [bo, cy] = [site.token(Who::member("bo")).await, site.token(Who::member("cy")).await];
    for (stopper, expected) in [(&cy, 404), (&bo, 200), (&site.owner, 200)] {
        let request = site.request_as(&bo, "POST", "/v1/tools/talk");
        let call = tokio::spawn(send(request.json(&json!({"pieces": 0, "rest_ms": 600_000}))));
        let mut id = String::new();
        until("the call runs", async || {
            let list = send(site.request_as(&bo, "GET", "/v1/calls?status=running")).await.json();
            id = list["calls"][0]["id"].as_str().unwrap_or_default().to_owned();
            !id.is_empty()
        })
        .await;
        let path = format!("/v1/calls/{id}/cancel");
        let answer = send(site.request_as(stopper, "POST", &path)).await;
        assert_eq!(answer.status, expected, "{answer:?}");
        if expected != 200 {
            assert_eq!(send(site.request("POST", &path)).await.status, 200);
        }
        let outcome = call.await.unwrap();
        assert_eq!(outcome.error(), (499, "cancelled".to_owned()));
        assert_eq!(send(site.request("POST", &path)).await.error(), (409, "conflict".to_owned()));
    }
    let none = "/v1/calls/019a2b6e-0000-7000-8000-000000000000/cancel";
    assert_eq!(send(site.request("POST", none)).await.status, 404);
    assert_eq!(send(site.request("POST", "/v1/calls/nonsense/cancel")).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_written_through_the_gate_and_taken_back() {
    let site = Site::new().await;
    let write = |path: &str| {
        let request = site.request("POST", &format!("/v1/files?path={path}"));
        request.header("content-type", "text/plain").body("new\n")
    };
    let answer = send(write("hello.txt")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(fs::read_to_string(site.path("hello.txt")).unwrap(), "new\n");
    assert_eq!(site.entries().pop().unwrap().tool_name, "write");
    let id = answer.header("toolgate-call-id").to_owned();
    let member = site.token(Who::member("bo")).await;
    let path = format!("/v1/calls/{id}/undo");
    let theirs = send(site.request_as(&member, "POST", &path)).await;
    assert_eq!(theirs.error(), (400, "validation_error".to_owned()), "{theirs:?}");
    let undone = send(site.request("POST", &path)).await;
    assert_eq!(undone.json()["result"]["restored"], json!(["hello.txt"]), "{undone:?}");
    assert_eq!(fs::read_to_string(site.path("hello.txt")).unwrap(), "hello\nworld\n");
    assert_eq!(send(write("../out.txt")).await.error().0, 403);
    assert_eq!(send(write(".git/hooks/pre-commit")).await.error().0, 403);
    assert_eq!(send(site.request("POST", "/v1/files").body("x")).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn artifacts_are_read_whole_or_in_part_by_whose_call_it_was() {
    let site = Site::with("limits.model_output_bytes = 1000\n[tools]\nprofile = 'full'").await;
    let lines: Vec<_> = (0..1_000).map(|line| format!("line {line}\n")).collect();
    fs::write(site.path("long.txt"), lines.concat()).unwrap();
    let outcome = site.post("/v1/tools/read", json!({"path": "long.txt"})).await.json();
    let id = outcome["meta"]["artifacts"][0]["id"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    let path = format!("/v1/artifacts/{id}");
    let whole = site.get(&path).await;
    assert_eq!((whole.status, whole.header("content-disposition")), (200, "attachment"));
    assert!(whole.header("content-security-policy").contains("sandbox"));
    let all = whole.body.clone();
    assert!(String::from_utf8_lossy(&all).contains("line 999"), "{}", whole.text());
    let length = all.len();
    for (range, expected) in [
        ("bytes=0-9", Some(0..10)),
        ("bytes=10-", Some(10..length)),
        ("bytes=-5", Some(length - 5..length)),
        ("bytes=5-999999999", Some(5..length)),
        ("bytes=999999999-", None),
        ("bytes=9-5", None),
    ] {
        let answer = send(site.request("GET", &path).header("range", range)).await;
        match expected {
            Some(part) => {
                assert_eq!(answer.status, 206, "{range}");
                let said = format!("bytes {}-{}/{length}", part.start, part.end - 1);
                assert_eq!(answer.header("content-range"), said);
                assert_eq!(answer.body, &all[part], "{range}");
            }
            None => assert_eq!(answer.status, 416, "{range}"),
        }
    }
    let nonsense = send(site.request("GET", &path).header("range", "lines=1-2")).await;
    assert_eq!(nonsense.status, 200);
    let member = site.token(Who::member("bo")).await;
    assert_eq!(send(site.request_as(&member, "GET", &path)).await.status, 404);
    for id in ["..%2f..%2fkey", "none", "019a2b6e-0000-7000-8000-000000000000-1"] {
        assert_eq!(site.get(&format!("/v1/artifacts/{id}")).await.status, 404, "{id}");
    }
}
