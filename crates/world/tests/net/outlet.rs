//! Requests to hosts the operator configured.

use std::{process::Command, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use world::{Outlet, OutletError, OutletRequest};

use crate::helper::{Reply, Setup, answer};

const OK: &str = "HTTP/1.1 200 X\r\n";

fn post(url: &str) -> OutletRequest {
    OutletRequest::post(url, "question")
}

/// Status and body, or the error.
async fn outcome(outlet: &Outlet, request: OutletRequest) -> String {
    match whole(outlet, request).await {
        Ok((status, body)) => format!("{status} {body}"),
        Err(error) => error.to_string(),
    }
}

async fn whole(outlet: &Outlet, request: OutletRequest) -> Result<(u16, String), OutletError> {
    let mut answer = outlet.send(request).await?;
    let mut body = Vec::new();
    while let Some(chunk) = answer.body.chunk().await? {
        body.extend(chunk);
    }
    assert_eq!(answer.body.chunk().await.unwrap(), None, "the end stays the end");
    Ok((answer.status, String::from_utf8(body).unwrap()))
}

/// A server of its own on this machine, for tests that decide what is sent when.
async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}/v1", listener.local_addr().unwrap().port());
    (listener, url)
}

/// The next connection, after it has sent a whole request.
async fn accept(listener: &TcpListener) -> TcpStream {
    let mut stream = listener.accept().await.unwrap().0;
    let mut seen = Vec::new();
    while !seen.ends_with(b"question") {
        seen.push(stream.read_u8().await.unwrap());
    }
    stream
}

#[tokio::test]
async fn leads_where_the_operator_says_private_addresses_too() {
    for (url, dialled, origin) in [
        ("http://127.0.0.1:11434/v1/x?alt=sse", "127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://[::1]:8000/v1/x?alt=sse", "[::1]:8000", "http://[::1]:8000"),
        ("http://10.1.2.3/v1/x?alt=sse", "10.1.2.3:80", "http://10.1.2.3"),
        ("http://gpu/v1/x?alt=sse", "192.168.1.7:80", "http://gpu"),
        ("https://ok.example/v1/x?alt=sse", "93.184.216.34:443", "https://ok.example"),
    ] {
        let setup = Setup::new(|_| answer(429, &[("Retry-After", "3")], b"later")).await;
        setup.name("gpu", &[&["192.168.1.7"]]);
        let mut request = post(url);
        request.headers.insert("Authorization".to_owned(), "Bearer key".to_owned());
        let mut found = setup.outlet().send(request).await.unwrap();
        assert_eq!((found.status, found.header("retry-after")), (429, Some("3")));
        assert_eq!(found.body.chunk().await.unwrap().unwrap(), "later");
        assert_eq!(setup.dialled(), [dialled]);
        let seen = setup.seen().pop().unwrap();
        assert_eq!(
            (seen.method(), seen.path(), seen.body()),
            ("POST", "/v1/x?alt=sse", "question")
        );
        assert_eq!(
            (seen.origin().as_str(), seen.header("authorization")),
            (origin, Some("Bearer key"))
        );
        assert_eq!(seen.header("accept-encoding"), Some("identity"));
    }
}

#[tokio::test]
async fn a_name_means_what_it_means_on_this_machine() {
    let (listener, url) = listen().await;
    let url = url.replace("127.0.0.1", "localhost");
    let server = tokio::spawn(async move {
        let mut stream = accept(&listener).await;
        stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 2\r\n\r\nhi").await.unwrap();
    });
    assert_eq!(outcome(&Outlet::new(), post(&url)).await, "200 hi");
    server.await.unwrap();
}

/// Runs the test above in a process whose environment has proxies in it, where nobody listens.
#[test]
fn proxy_variables_change_nothing_here_either() {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "outlet::a_name_means_what_it_means_on_this_machine"]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
    {
        test.env(name, "http://127.0.0.1:9");
    }
    let output = test.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[tokio::test]
async fn pieces_come_as_they_are_sent() {
    let (listener, url) = listen().await;
    let outlet = Outlet::new();
    let (found, mut server) = tokio::join!(outlet.send(post(&url)), async {
        let mut server = accept(&listener).await;
        let head = format!("{OK}transfer-encoding: chunked\r\n\r\n");
        server.write_all(head.as_bytes()).await.unwrap();
        server
    });
    let mut body = found.unwrap().body;
    for piece in ["one", "two"] {
        // Asked for too early, and again.
        tokio::select! {
            biased;
            found = body.chunk() => panic!("{found:?} before it was sent"),
            () = tokio::task::yield_now() => {}
        }
        server.write_all(format!("3\r\n{piece}\r\n").as_bytes()).await.unwrap();
        assert_eq!(body.chunk().await.unwrap().unwrap(), piece);
    }
    server.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(body.chunk().await.unwrap(), None);
}

#[tokio::test]
async fn a_connection_is_used_again_unless_its_answer_was_left() {
    let setup = Setup::new(|seen| match seen.path() {
        "/whole" => answer(200, &[], b"hello"),
        _ => Reply::Dripping(format!("{OK}\r\n").into_bytes()),
    })
    .await;
    let outlet = setup.outlet();
    for (path, connections) in [("whole", 1), ("whole", 1), ("left", 1), ("whole", 2), ("whole", 2)]
    {
        let mut found = outlet.send(post(&format!("http://ok.example/{path}"))).await.unwrap();
        while path == "whole" && found.body.chunk().await.unwrap().is_some() {}
        drop(found);
        assert_eq!(setup.dialled().len(), connections, "{path}");
    }
}

#[tokio::test]
async fn dropping_an_answer_closes_the_connection() {
    // The server sends nothing that could be noticed, and still sees the end: before the headers,
    // before the body and in its middle.
    for begun in ["", "HTTP/1.1 200 X\r\n\r\n", "HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nhalf"] {
        let (listener, url) = listen().await;
        let outlet = Outlet::new();
        let mut server = tokio::select! {
            found = whole(&outlet, post(&url)) => panic!("{found:?} is not whole"),
            server = async {
                let mut server = accept(&listener).await;
                server.write_all(begun.as_bytes()).await.unwrap();
                // Time for the beginning to arrive; without it the test would ask less, not fail.
                tokio::time::sleep(Duration::from_millis(50)).await;
                server
            } => server,
        };
        assert_eq!(server.read(&mut [0; 8]).await.unwrap_or(0), 0, "{begun}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_left() {
    for silent in ["", "HTTP/1.1 2", "HTTP/1.1 200 X\r\ncontent-length: 9\r\n\r\nhalf"] {
        let (listener, url) = listen().await;
        let request = OutletRequest { idle: Duration::from_millis(80), ..post(&url) };
        let outlet = Outlet::new();
        let (found, _server) = tokio::join!(outcome(&outlet, request), async {
            let mut server = accept(&listener).await;
            server.write_all(silent.as_bytes()).await.unwrap();
            server
        });
        assert_eq!(found, "`127.0.0.1` sent nothing for 0.08 s", "{silent}");
    }
}

#[tokio::test]
async fn redirects_are_errors_that_say_so() {
    for (status, location, expected) in [
        (301, Some("https://a.example/v1?key=hunter2"), " to `https://a.example/v1`"),
        (308, Some("/v2#x"), " to `/v2`"),
        (304, None, ""),
    ] {
        let setup = Setup::new(move |_| {
            let headers: Vec<_> = location.map(|to| ("location", to)).into_iter().collect();
            answer(status, &headers, b"")
        })
        .await;
        let found = outcome(&setup.outlet(), post("http://ok.example/")).await;
        let expected = format!(
            "`ok.example` answers with {status}, a redirect{expected}; redirects are not followed, \
             so configure the URL it leads to"
        );
        assert_eq!(found, expected);
        assert_eq!(setup.seen().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_left() {
    let setup = Setup::new(|_| Reply::Flooding(format!("{OK}\r\n").into_bytes())).await;
    let found = outcome(&setup.outlet(), post("http://ok.example/")).await;
    assert_eq!(found, "the answer of `ok.example` has more than 33554432 bytes");
}

#[tokio::test]
async fn what_makes_no_sense_is_an_error() {
    let many = format!("{OK}{}\r\n", "x: y\r\n".repeat(1_000));
    let long = format!("{OK}x: {}\r\n\r\n", "y".repeat(100_000));
    for reply in [
        "HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nhi",
        "HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
        "HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 2",
        "SSH-2.0-OpenSSH\r\n",
        "",
        &many,
        &long,
    ] {
        let bytes = reply.as_bytes().to_vec();
        let setup = Setup::new(move |_| Reply::Closing(bytes.clone())).await;
        let found = outcome(&setup.outlet(), post("http://ok.example/")).await;
        assert!(found.starts_with("the answer of `ok.example` broke off"), "{found}");
    }
}

#[tokio::test]
async fn who_cannot_be_reached_is_named() {
    let setup = Setup::new(|_| answer(200, &[], b"")).await;
    for (url, expected) in [
        ("http://gone.example/", "there is no host `gone.example`"),
        ("http://ok.example:8080/", "cannot connect to `ok.example:8080`"),
        // Its certificate is for others.
        ("https://127.0.0.1/", "cannot make a secure connection to `127.0.0.1`"),
    ] {
        let found = outcome(&setup.outlet(), post(url)).await;
        assert!(found.contains(expected), "{found}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_and_not_repeated() {
    let outlet = Outlet::new();
    for url in
        ["api.example/v1", "ftp://api.example/", "https://me:hunter2@api.example/", "", "data:x"]
    {
        let found = outcome(&outlet, post(url)).await;
        assert!(found.starts_with("the URL of a request cannot be used: "), "{found}");
        assert!(!found.contains("hunter2"), "{found}");
    }
    for (name, value) in [("x-api-key", "hunter2\r\nx: y"), ("host", "x"), ("connection", "x")] {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let request = OutletRequest { headers, ..post("http://127.0.0.1:9/?key=hunter2") };
        assert!(!format!("{request:?}").contains("hunter2"));
        let found = outlet.send(request).await.unwrap_err();
        assert!(matches!(found, OutletError::Header(_)), "{found:?}");
        assert!(!format!("{found:?}").contains("hunter2"));
    }
}
