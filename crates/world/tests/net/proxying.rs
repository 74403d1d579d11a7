//! Requests of commands through a proxy on the door.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use policy::url::UrlRules;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};
use world::{Door, NetSettings};

use crate::{
    helper::{PUBLIC, Reply, answer},
    through::{Through, exchange, get, rest},
};

#[tokio::test]
async fn a_request_goes_to_the_checked_address_without_what_was_said_to_the_proxy() {
    let through = Through::to(&["ok.example"]).await;
    let received = through
        .send(
            "GET http://OK.example/a/../b?c=d HTTP/1.1\r\nHost: ok.example\r\nAccept: text/css\r\n\
             Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nUpgrade: h2c\r\n\
             Connection: keep-alive, X-Secret\r\nX-Secret: y\r\nTE: trailers\r\n\r\n",
        )
        .await;
    assert_eq!((received.status, received.body.as_str()), (200, "hello"));
    assert_eq!(through.setup.dialled(), ["93.184.216.34:80"]);
    let seen = through.setup.seen().pop().unwrap();
    assert_eq!(
        (seen.method(), seen.path(), seen.origin().as_str()),
        ("GET", "/b?c=d", "http://ok.example")
    );
    let head: Vec<_> = seen.text.trim_end().lines().skip(1).collect();
    let mut sorted = head.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["accept: text/css", "connection: close", "host: ok.example"]);
    let traffic = through.proxy.counted();
    assert_eq!((traffic.connections, traffic.refused), (1, 0));
    let reply = "HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nhello";
    assert_eq!((traffic.bytes_in, traffic.bytes_out), (reply.len() as u64, seen.text.len() as u64));
}

#[tokio::test]
async fn a_body_arrives_as_it_was_sent_and_is_the_last_of_its_connection() {
    for (head, sent, arrived) in [
        ("Content-Length: 5", "hello", "hello"),
        ("Content-Length: 0", "", ""),
        ("Content-Length: 5\r\nExpect: 100-continue", "hello", "hello"),
        ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n"),
    ] {
        let through = Through::to(&["ok.example"]).await;
        let mut stream = through.connect().await;
        let request =
            format!("PUT http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n{head}\r\n\r\n{sent}");
        let mut received = exchange(&mut stream, request).await;
        if received.status == 100 {
            received = exchange(&mut stream, "").await;
        }
        assert_eq!((received.status, received.body.as_str()), (200, "hello"), "{head}");
        assert_eq!(through.setup.seen().pop().unwrap().body(), arrived, "{head}");
        assert!(received.has("connection: close"), "{head}");
        assert_eq!(rest(&mut stream).await, b"", "{head}");
    }
}

#[tokio::test]
async fn an_answer_comes_back_as_it_was_given() {
    const HEAD: &str = "HTTP/1.1 200 X\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nKeep-Alive: x\r\n";
    for (method, reply, expected) in [
        ("GET", "content-length: 2\r\n\r\nhi", "content-length: 2\r\n\r\nhi"),
        ("HEAD", "content-length: 2\r\n\r\n", "content-length: 2\r\n\r\n"),
        (
            "GET",
            "transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        ),
        ("GET", "\r\nhi", "transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
        // Of two lengths only the one that counts goes on.
        (
            "GET",
            "content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "transfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        ),
    ] {
        let reply = format!("{HEAD}{reply}").into_bytes();
        let through = Through::with(&["ok.example"], move |_| Reply::Closing(reply.clone())).await;
        let mut stream = through.connect().await;
        let request = get("http://ok.example/").replace("GET", method);
        let request = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let received = String::from_utf8(rest(&mut stream).await).unwrap();
        let (head, body) = received.split_once("\r\n\r\n").unwrap();
        let without_date: Vec<_> =
            head.lines().skip(1).filter(|line| !line.starts_with("date: ")).collect();
        let framing = expected.split("\r\n").next().unwrap();
        for line in ["set-cookie: a", "set-cookie: b", "connection: close", framing] {
            assert!(without_date.contains(&line), "{line}: {received}");
        }
        assert_eq!(without_date.len(), 4, "{received}");
        assert_eq!(body, expected.split_once("\r\n\r\n").unwrap().1);
    }
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_a_bad_gateway() {
    for reply in [
        &b"SSH-2.0-OpenSSH\r\n"[..],
        b"",
        b"HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
        b"HTTP/1.1 200 X\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nhi",
    ] {
        let through = Through::with(&["ok.example"], |_| Reply::Closing(reply.to_vec())).await;
        let received = through.get("http://ok.example/").await;
        assert_eq!(received.status, 502, "{}", String::from_utf8_lossy(reply));
    }
}

#[tokio::test]
async fn each_request_of_a_connection_is_checked_by_itself() {
    let through = Through::to(&["ok.example", "other.example"]).await;
    let mut stream = through.connect().await;
    for (url, dialled) in [
        ("http://ok.example/a", "93.184.216.34:80"),
        ("http://other.example/", "93.184.216.35:80"),
        ("http://ok.example/b", "93.184.216.34:80"),
    ] {
        assert_eq!(exchange(&mut stream, get(url)).await.status, 200, "{url}");
        assert_eq!(through.setup.dialled().last().unwrap(), dialled);
    }
    assert_eq!(exchange(&mut stream, get("http://evil.example/")).await.status, 403);
    assert_eq!(rest(&mut stream).await, b"");
    assert_eq!(through.setup.dialled().len(), 3);
    // All of them at once.
    let mut stream = through.connect().await;
    let together = [get("http://ok.example/"), get("http://evil.example/")].concat();
    assert_eq!(exchange(&mut stream, together).await.status, 200);
    assert_eq!(exchange(&mut stream, "").await.status, 403);
    assert_eq!(through.proxy.counted().connections, 2);
}

/// What nobody may reach who may reach `HOSTS`, and by which rule.
const HOSTS: &[&str] =
    &["ok.example", "*.beneath.example", "inside.example", "nowhere.example", "9.9.9.9"];

#[tokio::test]
async fn whatever_is_not_named_is_refused() {
    let through = Through::to(HOSTS).await;
    through.setup.name("inside.example", &[&["10.0.0.1"]]);
    through.setup.name("mixed.beneath.example", &[&[PUBLIC, "169.254.169.254"]]);
    for (host, rule) in [
        ("evil.example", "network.allow"),
        ("evil-beneath.example", "network.allow"),
        ("beneath.example", "network.allow"),
        ("ok.example.evil.example", "network.allow"),
        ("sub.ok.example", "network.allow"),
        ("93.184.216.34", "network.allow"),
        ("169.254.169.254", "address.metadata"),
        ("127.0.0.1", "address.loopback"),
        ("[::1]", "address.loopback"),
        ("[::ffff:10.0.0.1]", "address.private"),
        ("2130706433", "host.form"),
        ("0x7f.1", "host.form"),
        ("localhost", "host.local"),
        ("metadata.google.internal", "host.local"),
        ("inside.example", "address.private"),
        ("mixed.beneath.example", "address.metadata"),
        ("user:password@ok.example", "url.credentials"),
    ] {
        // The `Host` header of the last one cannot have a user.
        let bare = host.rsplit('@').next().unwrap();
        let plain = format!("GET http://{host}/ HTTP/1.1\r\nHost: {bare}\r\n\r\n");
        let tunnel = format!("CONNECT {host}:443 HTTP/1.1\r\nHost: {bare}:443\r\n\r\n");
        for (request, port) in [(plain, 80), (tunnel, 443)] {
            let received = through.send(&request).await;
            assert_eq!(received.status, 403, "{request}: {received:?}");
            let begin = format!("`{bare}:{port}` is refused by the rule `{rule}`: ");
            assert!(received.body.starts_with(&begin), "{request}: {}", received.body);
            assert!(received.body.ends_with('\n') && received.body.lines().count() == 1);
            assert!(received.has("content-type: text/plain; charset=utf-8"));
            let helps = !["host.form", "url.credentials"].contains(&rule);
            assert_eq!(received.body.contains("`tools.exec.network`"), helps, "{}", received.body);
            assert!(through.proxy.refused().contains(&format!("{bare}:{port}")), "{request}");
        }
    }
    assert!(through.setup.dialled().is_empty());
    assert_eq!((through.proxy.counted().refused, through.proxy.refused().len()), (34, 34));
    assert_eq!(through.proxy.refused().first().unwrap(), "evil.example:80");
}

#[tokio::test]
async fn ports_are_the_usual_ones_or_named() {
    let through = Through::to(&["ok.example", "other.example:9000"]).await;
    for (request, status) in [
        ("GET http://ok.example:8443/", 200),
        ("GET http://other.example:9000/", 200),
        ("CONNECT ok.example:443", 200),
        ("CONNECT other.example:9000", 200),
        ("GET http://ok.example:22/", 403),
        ("GET http://other.example/", 403),
        ("CONNECT ok.example:80", 403),
        ("CONNECT ok.example:8443", 403),
        ("CONNECT ok.example:22", 403),
        ("CONNECT other.example:443", 403),
    ] {
        let (method, target) = request.split_once(' ').unwrap();
        let host = target.trim_start_matches("http://").trim_end_matches('/');
        let text = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        // Port 8443 has TLS here, which does not answer to this; but it was reached.
        let found = match through.send(text).await.status {
            502 => 200,
            status => status,
        };
        assert_eq!(found, status, "{request}");
    }
    assert_eq!(through.setup.dialled().len(), 4);
}

#[tokio::test]
async fn what_cannot_be_reached_is_a_bad_gateway_and_not_a_refusal() {
    let through = Through::to(HOSTS).await;
    for (url, expected) in [
        (
            "http://nowhere.example/",
            "`nowhere.example:80` cannot be reached: there is no host `nowhere.example`; check its \
             name\n",
        ),
        (
            "http://ok.example:8080/",
            "`ok.example:8080` cannot be reached: cannot connect to `ok.example:8080`: connection \
             refused\n",
        ),
    ] {
        let received = through.get(url).await;
        assert_eq!((received.status, received.body.as_str()), (502, expected));
    }
    assert_eq!(through.tunnel("nowhere.example:443").await.unwrap_err().status, 502);
    assert_eq!((through.proxy.counted().refused, through.proxy.refused().len()), (0, 0));
}

#[tokio::test]
async fn a_name_that_moves_after_the_check_is_not_followed() {
    let through = Through::to(&["ok.example"]).await;
    through.setup.name("ok.example", &[&[PUBLIC], &[PUBLIC], &["127.0.0.1"]]);
    let mut stream = through.connect().await;
    assert_eq!(exchange(&mut stream, get("http://ok.example/")).await.status, 200);
    assert!(through.tunnel("ok.example:443").await.is_ok());
    // Looked up once each. The next ones are looked up and checked anew, on any connection.
    let received = exchange(&mut stream, get("http://ok.example/")).await;
    assert!(received.body.contains("`address.loopback`"), "{received:?}");
    assert_eq!(through.tunnel("ok.example:443").await.unwrap_err().status, 403);
    assert_eq!(through.setup.dialled(), ["93.184.216.34:80", "93.184.216.34:443"]);
}

#[tokio::test]
async fn what_the_door_denies_meanwhile_is_denied() {
    let through = Through::to(&["*.example", "10.1.0.0/16"]).await;
    through.setup.name("other.example", &[&["10.1.2.3"]]);
    let mut stream = through.connect().await;
    assert_eq!(exchange(&mut stream, get("http://ok.example/")).await.status, 200);
    assert_eq!(exchange(&mut stream, get("http://other.example/")).await.status, 200);
    let deny = ["ok.example", "10.1.2.0/24"].map(str::parse::<config::HostPattern>);
    let deny: Vec<_> = deny.into_iter().map(|pattern| pattern.unwrap().into()).collect();
    let network = config::Network { deny: deny.into(), ..config::Network::default() };
    let settings = NetSettings { rules: UrlRules::new(&network), ..NetSettings::default() };
    through.setup.door.configure(settings);
    let received = exchange(&mut stream, get("http://ok.example/")).await;
    assert!(received.body.contains("by the rule `network.deny`"), "{received:?}");
    assert_eq!(through.get("http://other.example/").await.status, 403);
    assert_eq!(through.setup.dialled().len(), 2);
}

#[tokio::test]
async fn what_could_be_read_in_two_ways_is_refused() {
    let through = Through::to(&["ok.example"]).await;
    let (line, host) = ("PUT http://ok.example/ HTTP/1.1\r\n", "Host: ok.example\r\n");
    let shapes = [
        format!("{host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        format!("{host}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        format!("{host}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
        format!("{host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        format!("{host}Content-Length: +5\r\n\r\nhello"),
        format!("{host}Content-Length: 5, 5\r\n\r\nhello"),
        format!("{host}Content-Length : 5\r\n\r\nhello"),
        format!("{host}Transfer-Encoding: gzip\r\n\r\nhello"),
        format!("{host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        format!("{host}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        format!("{host}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n"),
        format!("{host}X: a\r\n b\r\n\r\n"),
        format!("{host}X: a\rY: b\r\n\r\n"),
        format!("{host}X: a\nY: b\r\n\r\n"),
        format!("{host}X: a\0b\r\n\r\n"),
        format!("{host}X: a\r\n\n"),
        "Host: evil.example\r\n\r\n".to_owned(),
        "Host: ok.example:81\r\n\r\n".to_owned(),
        format!("{host}{host}\r\n"),
        "\r\n".to_owned(),
    ];
    let heads = shapes.iter().map(|shape| format!("{line}{shape}"));
    let others = [
        "GET / HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "GET https://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "GET ftp://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "GET ok.example:80 HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "GET  http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "GET http://ok.example/ a HTTP/1.1\r\nHost: ok.example\r\n\r\n",
        "GET http://ok.example/ HTTP/3.0\r\nHost: ok.example\r\n\r\n",
        "CONNECT ok.example HTTP/1.1\r\n\r\n",
        "CONNECT ok.example:99999 HTTP/1.1\r\n\r\n",
        "CONNECT http://ok.example:443/ HTTP/1.1\r\n\r\n",
        "CONNECT ok.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        "CONNECT ok.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "\r\n\r\nGET http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
    ];
    for text in heads.chain(others.map(str::to_owned)) {
        let mut stream = through.connect().await;
        let received = exchange(&mut stream, &text).await;
        assert_eq!(received.status, 400, "{text:?}: {received:?}");
        assert_eq!(rest(&mut stream).await, b"", "{text:?}");
    }
    assert!(through.setup.dialled().is_empty());
    assert_eq!(through.proxy.counted().refused, 0);
}

/// One that is taken for a body, or comes before its time, is never answered.
#[tokio::test]
async fn no_request_hides_behind_another_one() {
    let hidden = get("http://other.example/");
    for (head, body) in [
        ("Content-Length: 0", String::new()),
        ("Transfer-Encoding: chunked", "0\r\n\r\n".to_owned()),
    ] {
        let through = Through::to(&["ok.example", "other.example"]).await;
        let text = format!(
            "PUT http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n{head}\r\n\r\n{body}{hidden}"
        );
        let mut stream = through.connect().await;
        assert_eq!(exchange(&mut stream, text).await.status, 200, "{head}");
        assert_eq!(rest(&mut stream).await, b"", "{head}");
        assert_eq!(through.setup.seen().len(), 1, "{head}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_is_not_read() {
    let through = Through::to(&["ok.example"]).await;
    let line = "GET http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n";
    let long = |bytes: usize| format!("{line}X: {}\r\n\r\n", "y".repeat(bytes));
    for (text, status) in [
        (long(60_000), 200),
        (long(66_000), 431),
        (long(1_000_000), 431),
        (format!("{line}{}\r\n", "x: y\r\n".repeat(100)), 200),
        (format!("{line}{}\r\n", "x: y\r\n".repeat(200)), 431),
        (format!("{line}{}", "x: y\r\n".repeat(20_000)), 431),
    ] {
        let received = through.send(&text).await;
        assert_eq!(received.status, status, "{}", text.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_use_it_at_once_and_the_rest_wait() {
    let through = Arc::new(Through::to(&["ok.example"]).await);
    let tasks: Vec<_> = (0..200)
        .map(|n| {
            let through = through.clone();
            tokio::spawn(async move {
                let received = through.get(&format!("http://ok.example/{n}")).await;
                assert_eq!(received.body, "hello");
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(through.proxy.counted().connections, 200);
    // As many as there may be, and one more, which waits until one of them goes.
    let mut held = Vec::new();
    for _ in 0..64 {
        let mut stream = through.connect().await;
        assert_eq!(exchange(&mut stream, get("http://ok.example/")).await.status, 200);
        held.push(stream);
    }
    let mut waiting = through.connect().await;
    let request = get("http://ok.example/");
    let mut answered = Box::pin(exchange(&mut waiting, request));
    assert!(timeout(Duration::from_millis(300), &mut answered).await.is_err());
    assert_eq!(through.proxy.counted().connections, 264);
    drop(held.pop());
    assert_eq!(answered.await.status, 200);
}

#[tokio::test]
async fn dropping_it_closes_everything() {
    let through = Through::with(&["ok.example"], |seen| match seen.path() {
        "/slow" => Reply::Dripping(b"HTTP/1.1 200 X\r\n\r\n".to_vec()),
        "/never" => Reply::Whole(Vec::new()),
        _ => answer(200, &[], b"hello"),
    })
    .await;
    let mut idle = through.connect().await;
    assert_eq!(exchange(&mut idle, get("http://ok.example/")).await.status, 200);
    let mut slow = through.connect().await;
    assert_eq!(exchange(&mut slow, get("http://ok.example/slow")).await.status, 200);
    let mut never = through.connect().await;
    never.write_all(get("http://ok.example/never").as_bytes()).await.unwrap();
    let mut tunnel = through.tunnel("ok.example:443").await.unwrap();
    let stream = through.tunnel("ok.example:443").await.unwrap();
    let mut secured = through.secure(stream, "ok.example").await.unwrap();
    while through.setup.seen().len() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (address, door) = (through.address(), Arc::downgrade(&through.setup.door));
    drop(through);
    for stream in [&mut idle, &mut slow, &mut never, &mut tunnel] {
        rest(stream).await;
    }
    rest(&mut secured).await;
    assert!(TcpStream::connect(address).await.is_err());
    // Nothing is left that could use the door.
    assert_eq!(door.strong_count(), 0);
}

#[test]
fn without_a_runtime_there_is_none() {
    let door = Arc::new(Door::new(NetSettings::default()));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(door.proxy(listener, &[]).is_err());
}

/// Requests that are almost right, with anything in between.
fn any_request() -> impl Strategy<Value = Vec<u8>> {
    let pieces: &[&[u8]] = &[
        b"GET ",
        b"CONNECT ",
        b"http://ok.example/",
        b"ok.example:443",
        b"evil.example:443",
        b" HTTP/1.1",
        b"\r\n",
        b"\r\n\r\n",
        b"Host: ok.example\r\n",
        b"Content-Length: 3\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"CONNECT ok.example:443 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"0\r\n\r\n",
    ];
    let known = prop::sample::select(pieces).prop_map(<[u8]>::to_vec);
    let unknown = prop::collection::vec(any::<u8>(), 0..40);
    prop::collection::vec(prop_oneof![4 => known, 1 => unknown], 0..12)
        .prop_map(|pieces| pieces.concat())
}

#[tokio::test]
async fn no_bytes_do_any_harm() {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        // Other tests run beside this one, and may fail.
        PANICKED.fetch_or(!at.contains("/tests/"), Ordering::SeqCst);
        hook(info);
    }));
    let through = Arc::new(Through::to(&["ok.example"]).await);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    for _ in 0..20 {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let bytes = any_request().new_tree(&mut runner).unwrap().current();
            let through = through.clone();
            tasks.spawn(async move {
                let mut stream = through.connect().await;
                let _ = stream.write_all(&bytes).await;
                // Long enough for a tunnel to begin.
                tokio::time::sleep(Duration::from_millis(20)).await;
                let _ = stream.shutdown().await;
                rest(&mut stream).await;
            });
        }
        tasks.join_all().await;
        assert!(!PANICKED.load(Ordering::SeqCst));
    }
    assert_eq!(through.get("http://ok.example/").await.status, 200);
    let mut dialled = through.setup.dialled();
    dialled.sort_unstable();
    dialled.dedup();
    assert_eq!(dialled, ["93.184.216.34:443", "93.184.216.34:80"]);
}
