//! Tunnels of commands through a proxy on the door.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, pause},
};

use crate::{
    helper::{PUBLIC, Reply, answer},
    through::{Through, rest},
};

const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nhost: ok.example\r\n\r\n";
const REPLY: &[u8] = b"HTTP/1.1 200 X\r\ncontent-length: 5\r\n\r\nhello";

#[tokio::test]
async fn tls_goes_through_to_the_checked_address() {
    let through = Through::to(&["*.example", PUBLIC]).await;
    for (target, name) in [
        ("ok.example:443", "ok.example"),
        ("OK.Example.:443", "ok.example"),
        ("ok.example:443", "OK.example"),
        ("93.184.216.34:443", PUBLIC),
    ] {
        let stream = through.tunnel(target).await.unwrap();
        let mut stream = through.secure(stream, name).await.unwrap();
        stream.write_all(REQUEST).await.unwrap();
        let mut reply = vec![0; REPLY.len()];
        stream.read_exact(&mut reply).await.unwrap();
        assert_eq!(reply, REPLY, "{target}");
        assert_eq!(through.setup.dialled().last().unwrap(), "93.184.216.34:443");
        assert_eq!(through.setup.seen().last().unwrap().scheme, "https");
    }
    let traffic = through.proxy.counted();
    assert_eq!((traffic.connections, traffic.refused), (4, 0));
    assert!(traffic.bytes_in > 4 * 500 && traffic.bytes_out > 4 * 200, "{traffic:?}");
}

#[tokio::test]
async fn a_tunnel_is_not_for_another_host_than_it_was_opened_to() {
    let through = Through::to(&["ok.example", PUBLIC]).await;
    for (target, name) in [
        ("ok.example:443", "other.example"),
        ("ok.example:443", "sub.ok.example"),
        ("93.184.216.34:443", "ok.example"),
    ] {
        let stream = through.tunnel(target).await.unwrap();
        assert!(through.secure(stream, name).await.is_err(), "{target} {name}");
        assert!(through.proxy.refused().contains(&format!("{name}:443")));
    }
    let traffic = through.proxy.counted();
    // Not a byte has gone out.
    assert_eq!((traffic.refused, traffic.bytes_out, traffic.bytes_in), (3, 0, 0));
    assert!(through.setup.seen().is_empty());
}

#[tokio::test]
async fn what_is_not_tls_does_not_pass_where_tls_belongs() {
    let through = Through::to(&["ok.example"]).await;
    let garbage = [b'\x16'; 100];
    for words in [REQUEST, b"SSH-2.0-OpenSSH\r\n", &garbage, b"\x16\x03\x01\x00\x02\x02\x00"] {
        let mut stream = through.tunnel("ok.example:443").await.unwrap();
        stream.write_all(words).await.unwrap();
        assert_eq!(rest(&mut stream).await, b"", "{}", words.escape_ascii());
    }
    // Nor does nothing at all, or half of it.
    for words in [&b""[..], b"\x16\x03\x01\x02"] {
        let mut stream = through.tunnel("ok.example:443").await.unwrap();
        stream.write_all(words).await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(rest(&mut stream).await, b"");
    }
    assert_eq!(through.proxy.counted().bytes_out, 0);
    assert_eq!((through.proxy.counted().refused, through.proxy.refused().len()), (4, 0));
}

#[tokio::test]
async fn first_words_may_come_in_pieces_or_too_early() {
    let through = Through::to(&["ok.example"]).await;
    // What a client says first, taken from one that talks to nobody.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (mut taker, _) = listener.accept().await.unwrap();
    let talk = async { through.secure(stream, "ok.example").await.is_err() };
    let take = async {
        let mut hello = vec![0; 5];
        taker.read_exact(&mut hello).await.unwrap();
        let length = usize::from(u16::from_be_bytes([hello[3], hello[4]]));
        hello.resize(5 + length, 0);
        taker.read_exact(&mut hello[5..]).await.unwrap();
        drop(taker);
        hello
    };
    let (failed, hello) = tokio::join!(talk, take);
    assert!(failed);
    for size in [1, 100, hello.len()] {
        let mut stream = through.tunnel("ok.example:443").await.unwrap();
        stream.set_nodelay(true).unwrap();
        for piece in hello.chunks(size) {
            stream.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        assert_eq!(stream.read_u8().await.unwrap(), 22, "{size}");
    }
    let mut stream = through.connect().await;
    let early = [b"CONNECT ok.example:443 HTTP/1.1\r\n\r\n", &hello[..]].concat();
    stream.write_all(&early).await.unwrap();
    let mut head = vec![0; b"HTTP/1.1 200 OK\r\n".len()];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head, b"HTTP/1.1 200 OK\r\n");
    while stream.read_u8().await.unwrap() != 22 {}
}

#[tokio::test]
async fn a_side_that_has_ended_still_gets_what_comes_for_it() {
    let through = Through::with(&["ok.example:9000"], |_| Reply::Closing(REPLY.to_vec())).await;
    let mut stream = through.tunnel("ok.example:9000").await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, REPLY);
    let traffic = through.proxy.counted();
    let lengths = (REPLY.len() as u64, REQUEST.len() as u64);
    assert_eq!((traffic.bytes_in, traffic.bytes_out), lengths);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn much_passes_and_is_counted() {
    const MANY: usize = 20_000_000;
    let big = vec![b'x'; MANY];
    let through =
        Through::with(&["ok.example", "ok.example:9000"], move |_| answer(200, &[], &big)).await;
    let mut stream = through.tunnel("ok.example:9000").await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    stream.shutdown().await.unwrap();
    let received = rest(&mut stream).await;
    assert!(received.ends_with(&vec![b'x'; MANY]));
    assert_eq!(through.get("http://ok.example/").await.body.len(), MANY);
    assert!(through.proxy.counted().bytes_in > 2 * MANY as u64);
}

#[tokio::test]
async fn a_tunnel_where_nothing_passes_is_closed() {
    let through = Through::to(&["ok.example:9000"]).await;
    let mut stream = through.tunnel("ok.example:9000").await.unwrap();
    stream.write_all(REQUEST).await.unwrap();
    let mut reply = vec![0; REPLY.len()];
    stream.read_exact(&mut reply).await.unwrap();
    // From here on, time passes whenever nothing else does.
    pause();
    let start = Instant::now();
    assert_eq!(stream.read(&mut reply).await.unwrap(), 0);
    assert!(start.elapsed() > Duration::from_secs(55), "{:?}", start.elapsed());
    // A connection on which nobody asks for anything, too.
    let mut idle = through.connect().await;
    assert_eq!(idle.read(&mut reply).await.unwrap(), 0);
}
