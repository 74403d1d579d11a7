//! What a client may cost before and after it is known who it is.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    client::{exchange, rest, send},
    helper::{PATIENCE, Site, Who, until},
};

/// Registered names are far shorter; what callers make up is kept in the journal for good.
const LONGEST_NAME: usize = 260;

/// gateway-009: a body that says it is 1 GB is refused by what it says, from whomever it comes.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_long_is_refused_before_it_is_read() {
    let site = Site::new().await;
    for request in [
        site.anonymous("POST", "/v1/tools/write"),
        site.anonymous("POST", "/v1/sign-in"),
        site.request("POST", "/v1/tools/write"),
    ] {
        let request = request
            .header("content-length", "1000000000")
            .header("content-type", "application/json");
        let answer = send(request).await;
        assert_eq!(answer.error(), (413, "body_too_large".to_owned()), "{answer:?}");
    }
}

/// An object with a million keys takes a gigabyte once it is parsed, so it is refused while it is read, wherever
/// JSON comes in; and whoever else calls meanwhile does not wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_keys_is_refused_and_nobody_waits_for_it() {
    const BOTH: &str = "application/json, text/event-stream";
    let site = Site::with("server.body_bytes = '15MB'").await;
    let member = site.token(Who::member("bo")).await;
    let keys: Vec<_> = (0..1_000_000).map(|number| format!("\"k{number}\":0")).collect();
    let flood = format!("{{{}}}", keys.join(","));
    assert!(flood.len() > 11_000_000);
    let paths = ["/v1/tools/get_current_time", "/v1/chat/completions", "/v1/messages", "/mcp"];
    let sent = paths.map(|path| {
        let request = site.request_as(&member, "POST", path);
        let request = request
            .header("content-type", "application/json")
            .header("accept", if path == "/mcp" { BOTH } else { "application/json" });
        tokio::spawn(send(request.body(flood.clone())))
    });
    let began = Instant::now();
    let mut longest = Duration::ZERO;
    for _ in 0..10 {
        let call = Instant::now();
        assert_eq!(site.post("/v1/tools/get_current_time", json!({})).await.status, 200);
        longest = longest.max(call.elapsed());
    }
    for (path, sent) in paths.into_iter().zip(sent) {
        let answer = sent.await.unwrap();
        assert_eq!(answer.status, 400, "{path}: {}", answer.text());
        assert!(answer.text().contains("more than 10000 keys"), "{path}: {}", answer.text());
    }
    // It was thirteen seconds.
    assert!(longest < Duration::from_secs(5), "{longest:?} of {:?}", began.elapsed());
}

/// gateway-009: of a body without a length, nothing is read of somebody unknown, and no more than
/// allowed of somebody known.
#[tokio::test(flavor = "multi_thread")]
async fn an_endless_body_is_cut_off() {
    let site = Site::with("server.body_bytes = '200KB'").await;
    for (request, expected) in [
        (site.anonymous("POST", "/v1/tools/write"), 401),
        (site.anonymous("POST", "/v1/sign-in"), 413),
        (site.request("POST", "/v1/tools/write"), 413),
        (site.request("POST", "/v1/files?path=a.txt"), 413),
    ] {
        let request = request
            .header("transfer-encoding", "chunked")
            .header("content-type", "application/json");
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(&request.bytes()).await.unwrap();
        let piece = format!("{:x}\r\n{}\r\n", 64_000, "x".repeat(64_000));
        let mut sent = 0_usize;
        // The server hangs up long before it has taken this much.
        while sent < 100_000_000 && stream.write_all(piece.as_bytes()).await.is_ok() {
            sent += piece.len();
        }
        assert!(sent < 20_000_000, "{sent} bytes were taken");
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let status = String::from_utf8_lossy(&bytes);
        // The answer may be lost when the connection is reset while we still send.
        assert!(
            status.is_empty() || status.starts_with(&format!("HTTP/1.1 {expected}")),
            "{status}"
        );
    }
    assert_eq!(site.get("/v1/stats").await.status, 200);
}

/// gateway-009: who sends slowly is not waited for, known or unknown.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_body_is_not_waited_for() {
    let site = Site::with("server.request_timeout = '300ms'").await;
    let request = site.request("POST", "/v1/tools/write").json(&json!({"path": "a.txt"}));
    let request = request.header("content-length", "500");
    let begin = Instant::now();
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&answer));
    assert!(begin.elapsed() >= Duration::from_millis(300));
    let unknown = site.anonymous("POST", "/v1/tools/write").header("content-length", "500");
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(&unknown.bytes()).await.unwrap();
    let mut first = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut first)).await.unwrap().unwrap();
    assert_eq!(&first, b"HTTP/1.1 401", "without waiting for the body at all");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_are_bounded_in_size_and_time() {
    let site = Site::new().await;
    let long = site.request("GET", "/v1/tools").header("x-long", &"x".repeat(100_000));
    assert_eq!(exchange(site.address, &long.bytes()).await.status, 431);
    let line = site.request("GET", &format!("/v1/tools?{}", "x".repeat(100_000)));
    let status = exchange(site.address, &line.bytes()).await.status;
    assert!([414, 431].contains(&status), "{status}");
    let many = (0..500).fold(site.request("GET", "/v1/tools"), |request, number| {
        request.header(&format!("x-{number}"), "1")
    });
    assert_eq!(exchange(site.address, &many.bytes()).await.status, 431);
    // Half a request, and nothing at all: both are hung up on.
    let begin = Instant::now();
    let mut half = TcpStream::connect(site.address).await.unwrap();
    half.write_all(b"GET /healthz HTTP/1.1\r\nhost: ").await.unwrap();
    let mut silent = TcpStream::connect(site.address).await.unwrap();
    tokio::join!(rest(&mut half), rest(&mut silent));
    assert!(begin.elapsed() < PATIENCE / 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_bounded() {
    let site = Site::with("server.connections = 3").await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        let request = site.request("GET", "/healthz").header("connection", "keep-alive");
        stream.write_all(&request.bytes()).await.unwrap();
        let mut first = [0; 12];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        held.push(stream);
    }
    let refused = exchange(site.address, b"").await;
    assert_eq!(refused.error(), (503, "unavailable".to_owned()));
    drop(held);
    until("there is room again", async || {
        let stream = TcpStream::connect(site.address).await.unwrap();
        drop(stream);
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(&site.request("GET", "/healthz").bytes()).await.unwrap();
        rest(&mut stream).await.starts_with(b"HTTP/1.1 200")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_answered_or_hung_up_on_and_the_server_goes_on() {
    let site = Site::new().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\nzz\r\n",
    ] {
        let mut stream = TcpStream::connect(site.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        rest(&mut stream).await;
    }
    assert_eq!(site.get("/v1/stats").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_whose_client_leaves_is_counted() {
    let site = Site::new().await;
    let body = json!({"pieces": 0, "rest_ms": 600_000});
    let request = site.request("POST", "/v1/tools/talk").json(&body);
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    until("it runs", async || site.gate.stats().running == 1).await;
    drop(stream);
    let line = "toolgate_http_requests_total{status=\"499\"} 1";
    until("it is counted", async || site.get("/metrics").await.text().contains(line)).await;
}

impl Site {
    /// The names of the tools in the journal, none of them longer than what is kept for good may be.
    pub(crate) fn kept_names(&self) -> Vec<String> {
        let names: Vec<_> = self.entries().into_iter().map(|entry| entry.tool_name).collect();
        for name in &names {
            assert!(name.len() <= LONGEST_NAME, "{} bytes are kept", name.len());
        }
        names
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_as_long_as_a_message_is_told_and_kept_in_short() {
    let site = Site::new().await;
    let mut socket = site.socket(&site.owner).await;
    socket.get("events.subscribe", json!({})).await;
    // Where it is cut, there is a character of three bytes.
    let name = format!("xx{}", "語".repeat(330_000));
    let outcome = socket.get("tools.call", json!({"name": name, "arguments": {}})).await;
    assert_eq!(outcome["error_type"], "tool_not_available");
    let told = socket.told("call.started").await.to_string();
    assert!(told.len() < 2_000, "{} bytes are told", told.len());
    let expected = format!("xx{}…", "語".repeat(84));
    assert_eq!(site.kept_names(), [expected]);
}
