//! A request is for us, and comes from our page or from no page, or it is refused before anything else.

use serde_json::json;

use crate::{
    client::{Request, exchange, send},
    helper::Site,
};

const LISTS: &str =
    "server.hosts = ['gate.example.org']\nserver.origins = ['https://app.example.org']";

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_another_host_is_refused() {
    let site = Site::with(LISTS).await;
    let port = site.address.port();
    for (host, expected) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        ("gate.example.org".to_owned(), 200),
        (format!("gate.example.org:{port}"), 200),
        ("gate.example.org:8443".to_owned(), 421),
        ("127.0.0.1".to_owned(), 421),
        (format!("rebound.example:{port}"), 421),
        (format!("localhost.rebound.example:{port}"), 421),
        (String::new(), 421),
    ] {
        for path in ["/healthz", "/", "/v1/tools"] {
            let answer = send(site.request("GET", path).header("host", &host)).await;
            assert_eq!(answer.status, expected, "{host} {path}: {answer:?}");
        }
    }
    let answer = send(site.request("GET", "/healthz").header("host", "rebound.example")).await;
    assert_eq!(answer.error().1, "wrong_host");
    assert!(answer.json()["message"].as_str().unwrap().contains("server.hosts"));
    let raw =
        async |text: &str| exchange(site.address, text.replace('\n', "\r\n").as_bytes()).await;
    let own = format!("127.0.0.1:{port}");
    for (text, expected) in [
        ("GET /healthz HTTP/1.1\nconnection: close\n\n".to_owned(), [421, 400]),
        (
            format!(
                "GET /healthz HTTP/1.1\nhost: {own}\nhost: rebound.example\nconnection: close\n\n"
            ),
            [421, 400],
        ),
        (
            format!(
                "GET http://rebound.example/healthz HTTP/1.1\nhost: {own}\nconnection: close\n\n"
            ),
            [421, 421],
        ),
    ] {
        let status = raw(&text).await.status;
        assert!(expected.contains(&status), "{text}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_from_another_sites_page_is_refused() {
    let site = Site::with(LISTS).await;
    let port = site.address.port();
    for (origin, expected) in [
        (format!("http://127.0.0.1:{port}"), 200),
        (format!("http://localhost:{port}"), 200),
        ("https://gate.example.org".to_owned(), 200),
        ("https://app.example.org".to_owned(), 200),
        ("http://app.example.org".to_owned(), 403),
        ("https://evil.example".to_owned(), 403),
        ("http://localhost:3000".to_owned(), 403),
        ("null".to_owned(), 403),
        (String::new(), 403),
    ] {
        for path in ["/healthz", "/v1/tools"] {
            let answer = send(site.request("GET", path).header("origin", &origin)).await;
            assert_eq!(answer.status, expected, "{origin} {path}: {answer:?}");
        }
    }
    // Before anything else: also without a token, and for what does not exist.
    let evil = |request: Request| request.header("origin", "https://evil.example");
    assert_eq!(send(evil(site.anonymous("GET", "/v1/tools"))).await.status, 403);
    assert_eq!(
        send(evil(site.anonymous("POST", "/v1/sign-in")).json(&json!({}))).await.status,
        403
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_listed_pages_may_read_answers() {
    let site = Site::with(LISTS).await;
    let asks = |origin: &str| {
        let request = site.anonymous("OPTIONS", "/v1/tools/read").header("origin", origin);
        request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,content-type")
    };
    let answer = send(asks("https://app.example.org")).await;
    assert_eq!(answer.status, 204, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), "https://app.example.org");
    assert!(answer.header("access-control-allow-headers").contains("authorization"));
    assert_eq!(answer.header("access-control-allow-credentials"), "", "no cookies across sites");
    assert_eq!(send(asks("https://evil.example")).await.status, 403);
    let own = format!("http://{}", site.address);
    assert_eq!(send(asks(&own)).await.header("access-control-allow-origin"), "");
    let read =
        send(site.request("GET", "/v1/tools").header("origin", "https://app.example.org")).await;
    assert_eq!(read.header("access-control-allow-origin"), "https://app.example.org");
    assert_eq!(read.header("vary").to_lowercase(), "origin");
    // Also when it is refused, or the page could not say why.
    let request = site.anonymous("GET", "/v1/tools").header("origin", "https://app.example.org");
    let refused = send(request).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), "https://app.example.org");
    assert_eq!(site.get("/v1/tools").await.header("access-control-allow-origin"), "");
}
