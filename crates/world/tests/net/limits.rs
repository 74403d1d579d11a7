//! What an answer may cost. Limits are short here, so that no test waits for a machine.

use std::{io::Write as _, time::Duration};

use flate2::{Compression, write::GzEncoder};
use tool::Fetch;
use world::NetSettings;

use crate::helper::{Reply, Setup, answer};

const OK: &[u8] = b"HTTP/1.1 200 X\r\n";

fn short() -> NetSettings {
    NetSettings { timeout: Duration::from_millis(300), ..NetSettings::default() }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_body_without_end_is_cut_web_015() {
    for head in
        [&b"HTTP/1.1 200 X\r\ncontent-length: 10000000000\r\n\r\n"[..], b"HTTP/1.1 200 X\r\n\r\n"]
    {
        let settings = NetSettings { max_bytes: 200_000, ..NetSettings::default() };
        let setup = Setup::with(settings, move |_| Reply::Flooding(head.to_vec())).await;
        let found = setup.get("http://ok.example/").await.unwrap();
        assert_eq!((found.body.len(), found.truncated), (200_000, true));
        let fetch = Fetch { max_bytes: Some(1_000), ..Fetch::get("http://ok.example/") };
        let found = tool::Net::fetch(&*setup.door, fetch).await.unwrap();
        assert_eq!((found.body.len(), found.truncated), (1_000, true));
    }
}

#[tokio::test]
async fn a_server_that_takes_its_time_is_left_web_015() {
    for slow in [
        // A body, a header and a status line that never end; and a chunk.
        &b"HTTP/1.1 200 X\r\ncontent-length: 1000000\r\n\r\n"[..],
        b"HTTP/1.1 200 X\r\nx: ",
        b"HTT",
        b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\nfffff\r\n",
        b"",
    ] {
        let setup = Setup::with(short(), move |_| Reply::Dripping(slow.to_vec())).await;
        let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
        // What is no HTTP at all may be noticed before the time is up.
        let expected = if slow.len() < 4 { ["timeout", "network_error"] } else { ["timeout"; 2] };
        assert!(expected.contains(&outcome.as_str()), "{outcome}");
    }
}

#[tokio::test]
async fn a_small_answer_that_becomes_large_is_cut_web_015() {
    let bomb = gzip(&vec![0; 20_000_000]);
    assert!(bomb.len() < 30_000);
    let settings = NetSettings { max_bytes: 100_000, ..NetSettings::default() };
    let headers = [("content-encoding", "gzip")];
    let setup = Setup::with(settings, move |_| answer(200, &headers, &bomb)).await;
    let found = setup.get("http://ok.example/").await.unwrap();
    assert_eq!((found.body.len(), found.truncated), (100_000, true));
}

#[tokio::test]
async fn a_compressed_answer_is_read_as_it_was_meant() {
    let body = gzip(b"hello hello hello");
    let setup = Setup::new(move |_| answer(200, &[("content-encoding", "gzip")], &body)).await;
    let found = setup.get("http://ok.example/").await.unwrap();
    assert_eq!(found.body, b"hello hello hello");
    assert_eq!((found.header("content-encoding"), found.header("content-length")), (None, None));
    assert_eq!(setup.seen().pop().unwrap().header("accept-encoding"), Some("gzip, deflate"));
}

#[tokio::test]
async fn too_many_headers_are_not_read_web_015() {
    let many = "x: y\r\n".repeat(100_000);
    let long = format!("x: {}\r\n", "y".repeat(1_000_000));
    for headers in [many, long] {
        let reply = [OK, headers.as_bytes(), b"\r\n"].concat();
        let setup = Setup::new(move |_| Reply::Closing(reply.clone())).await;
        assert_eq!(setup.outcome(Fetch::get("http://ok.example/")).await, "network_error");
    }
}

#[tokio::test]
async fn chunks_are_put_together() {
    let chunked = [
        OK,
        b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nx: y\r\n\r\n",
    ];
    let setup = Setup::new(move |_| Reply::Whole(chunked.concat())).await;
    for _ in 0..2 {
        assert_eq!(setup.get("http://ok.example/").await.unwrap().body, b"hello world");
    }
    assert_eq!(setup.dialled().len(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_a_network_error() {
    for reply in [
        &b"HTTP/1.1 200 X\r\ncontent-length: 10\r\n\r\nhi"[..],
        b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
        b"HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 X\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nhi",
        b"HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nhi",
        b"HTTP/1.1 2",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ] {
        let setup = Setup::new(move |_| Reply::Closing(reply.to_vec())).await;
        let outcome = setup.outcome(Fetch::get("http://ok.example/")).await;
        assert_eq!(outcome, "network_error", "{}", String::from_utf8_lossy(reply));
    }
}

#[tokio::test]
async fn headers_that_say_whom_a_request_is_for_cannot_be_given() {
    let setup = Setup::new(|_| answer(200, &[], b"")).await;
    for (name, value) in [
        ("Host", "inside.example"),
        ("Content-Length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "x-secret"),
        ("Proxy-Authorization", "x"),
        ("X-HTTP-Method-Override", "DELETE"),
        ("X-A", "b\r\nHost: inside.example"),
        ("X-A\r\nHost", "inside.example"),
        ("", "x"),
        ("X A", "x"),
    ] {
        let headers = [(name.to_owned(), value.to_owned())].into();
        let outcome = setup.outcome(Fetch { headers, ..Fetch::get("http://ok.example/") }).await;
        assert_eq!(outcome, "permission_denied \"net\": header", "{name}");
    }
    let many = (0..65).map(|n| (format!("x-{n}"), String::new())).collect();
    let outcome = setup.outcome(Fetch { headers: many, ..Fetch::get("http://ok.example/") }).await;
    assert_eq!(outcome, "permission_denied \"net\": header");
    assert!(setup.dialled().is_empty());
}
