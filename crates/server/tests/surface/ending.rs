//! A server that is told to end lets what runs go on for a while, and leaves nothing behind.

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinHandle,
};

use crate::{
    client::{Answer, rest, send},
    helper::{Site, Who, until},
};

impl Site {
    /// A call that runs and takes as long.
    async fn start_talking(&self, rest_ms: u64) -> JoinHandle<Answer> {
        let request = self.request("POST", "/v1/tools/talk");
        let call = tokio::spawn(send(request.json(&json!({"pieces": 0, "rest_ms": rest_ms}))));
        until("it runs", async || self.gate.stats().running == 1).await;
        call
    }

    /// Says that it is to end, and waits until it has begun to.
    async fn begin_to_end(&self) {
        self.shutdown.cancel();
        until("it ends", async || send(self.anonymous("GET", "/readyz")).await.status == 503).await;
    }

    /// Waits until it has ended.
    async fn ended(&mut self) {
        let serving = self.serving.take().unwrap();
        tokio::time::timeout(crate::helper::PATIENCE, serving).await.unwrap().unwrap();
        assert_eq!(self.gate.stats().running, 0);
        assert!(self.entries().iter().all(|entry| entry.finished.is_some()));
        assert!(TcpStream::connect(self.address).await.is_err(), "nobody listens");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_runs_is_finished_and_nothing_new_is_begun() {
    let mut site = Site::with("server.shutdown_timeout = '1m'").await;
    let call = site.start_talking(1_500).await;
    site.begin_to_end().await;
    let ready = send(site.anonymous("GET", "/readyz")).await;
    assert_eq!(ready.error(), (503, "unavailable".to_owned()));
    assert!(ready.json()["message"].as_str().unwrap().contains("about to end"));
    assert_eq!(send(site.anonymous("GET", "/healthz")).await.status, 200, "it still lives");
    for (method, path) in [
        ("POST", "/v1/tools/get_current_time"),
        ("GET", "/v1/tools"),
        ("GET", "/ws"),
        ("GET", "/"),
        ("GET", "/no/such/path"),
    ] {
        let refused = send(site.request(method, path).json(&json!({}))).await;
        assert_eq!(refused.error(), (503, "unavailable".to_owned()), "{method} {path}");
        assert_eq!(refused.header("connection"), "close");
    }
    let outcome = call.await.unwrap();
    assert_eq!((outcome.status, &outcome.json()["result"]), (200, &json!("said")));
    site.ended().await;
    assert_eq!(site.entries().len(), 1, "of what came later nothing was begun");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_goes_on_for_too_long_is_stopped_and_recorded() {
    let mut site = Site::with("server.shutdown_timeout = '200ms'").await;
    let call = site.start_talking(600_000).await;
    // One that waits for a person, one of an agent, and one on a socket.
    let (asking, _) = site.start_asking(&site.token(Who::member("bo")).await).await;
    let mut socket = site.socket(&site.owner).await;
    let talk = json!({"name": "talk", "arguments": {"pieces": 0, "rest_ms": 600_000}});
    let id = socket.begin("tools.call", talk).await;
    let says = json!({"message": "/talk {\"pieces\": 0, \"rest_ms\": 600000}"});
    let path = "/v1/sessions/agent:main:main/messages";
    let spoken = tokio::spawn(send(site.request("POST", path).json(&says)));
    until("all run", async || site.gate.stats().running == 3).await;
    site.shutdown.cancel();
    assert_eq!(call.await.unwrap().error(), (499, "cancelled".to_owned()));
    assert_eq!(asking.await.unwrap().error(), (499, "cancelled".to_owned()));
    assert_eq!(socket.answer(id).await.unwrap()["error_type"], "cancelled");
    assert_eq!(socket.closed().await, Some(1001));
    assert_eq!(spoken.await.unwrap().error(), (503, "unavailable".to_owned()));
    site.ended().await;
    let ends: Vec<_> = site.entries().into_iter().map(|entry| entry.error_type).collect();
    assert_eq!(ends, vec![Some("cancelled".to_owned()); 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_are_told_and_those_that_do_not_listen_are_not_waited_for() {
    let mut site = Site::new().await;
    let mut listens = site.socket(&site.owner).await;
    listens.get("events.subscribe", json!({})).await;
    let _deaf = site.socket(&site.owner).await;
    let _unknown = site.open(&[]).await.unwrap();
    let mut kept = TcpStream::connect(site.address).await.unwrap();
    let request = site.request("GET", "/healthz").header("connection", "keep-alive");
    kept.write_all(&request.bytes()).await.unwrap();
    let mut first = [0; 12];
    kept.read_exact(&mut first).await.unwrap();
    let _silent = TcpStream::connect(site.address).await.unwrap();
    site.shutdown.cancel();
    assert_eq!(listens.closed().await, Some(1001));
    rest(&mut kept).await;
    site.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_whose_call_runs_is_kept_until_it_is_answered() {
    let mut site = Site::with("server.shutdown_timeout = '1m'").await;
    let mut socket = site.socket(&site.owner).await;
    let talk = json!({"name": "talk", "arguments": {"pieces": 0, "rest_ms": 1_500}});
    let id = socket.begin("tools.call", talk.clone()).await;
    until("it runs", async || site.gate.stats().running == 1).await;
    site.begin_to_end().await;
    assert_eq!(socket.error("tools.call", talk).await.0, -32030, "nothing new");
    assert_eq!(socket.answer(id).await.unwrap()["result"], "said");
    assert_eq!(socket.closed().await, Some(1001));
    site.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_that_are_cut_off_are_told_to_come_back() {
    let mut site = Site::with("server.shutdown_timeout = '200ms'").await;
    let text = "/talk {\"pieces\": 0, \"rest_ms\": 600000}";
    let says = json!([{"role": "user", "content": text}]);
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": text}]}]});
    let mut runs = Vec::new();
    for (path, body, group) in [
        ("/v1/chat/completions", json!({"model": "main", "messages": says}), "server_error"),
        ("/v1/responses", json!({"model": "main", "input": says}), "server_error"),
        (
            "/v1/messages",
            json!({"model": "main", "max_tokens": 99, "messages": says}),
            "overloaded_error",
        ),
        ("/v1beta/models/main:generateContent", gemini.clone(), "UNAVAILABLE"),
    ] {
        runs.push((path, group, tokio::spawn(send(site.request("POST", path).json(&body)))));
        let mut streamed = body;
        let path = if path.contains("models") {
            "/v1beta/models/main:streamGenerateContent?alt=sse"
        } else {
            streamed["stream"] = true.into();
            path
        };
        runs.push((path, group, tokio::spawn(send(site.request("POST", path).json(&streamed)))));
    }
    until("all run", async || site.gate.stats().running == runs.len()).await;
    site.shutdown.cancel();
    for (path, group, run) in runs {
        let answer = run.await.unwrap();
        let text = answer.text();
        assert!(text.contains("the server is about to end"), "{path}: {answer:?}");
        assert!(text.contains("\"unavailable\""), "{path}: {answer:?}");
        if answer.status == 503 {
            assert_eq!(answer.header("retry-after"), "5", "{path}");
            assert!(text.contains(group), "{path}: {answer:?}");
        } else {
            let kind = answer.header("content-type");
            assert_eq!((answer.status, kind), (200, "text/event-stream"), "{path}: {answer:?}");
        }
    }
    site.ended().await;
}
