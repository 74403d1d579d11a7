//! Clients that behave badly.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{client::Clients, http, raw, watched::Watched};

/// How often the server asks whether somebody is there: seldom enough that those who are answer in time,
/// whatever else the machine does.
const PINGS: &str = "[server]\nws_ping = \"3s\"\n";

/// More than fits into all that is between a client and a server.
const MOST_WISHES: usize = 100_000;

/// So many seconds it may take nothing before it says so.
const MOST_WAITED: u32 = 120;

/// Asks for much and reads nothing.
pub(crate) fn who_does_not_read_is_let_go() {
    let watched = Watched::new("");
    let mut stream = raw::open(&watched.server);
    // Its buffers stay as the system makes them: a receive buffer made smaller afterwards drops segments, and
    // with them the word that the server takes more.
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let wish = raw::frame(r#"{"jsonrpc":"2.0","id":1,"method":"tools.list"}"#).repeat(20);
    let is_noticed = || watched.metric("toolgate_ws_slow_readers_total") > 0;
    let (mut sent, mut waited, mut left) = (0, 0, &wish[..]);
    // A server that takes no more for a while may be busy. It is waited for until its answers have filled
    // whatever is between us, and it says so.
    loop {
        match stream.write(left) {
            Ok(taken) => left = &left[taken..],
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if is_noticed() {
                    break;
                }
                waited += 1;
                assert!(waited < MOST_WAITED, "it takes nothing, and says nothing");
            }
            // It has hung up.
            Err(_) => break,
        }
        if left.is_empty() {
            (sent, left) = (sent + 1, &wish[..]);
            assert!(sent < MOST_WISHES, "the server keeps whatever is not read");
        }
    }
    eprintln!("a slow reader asked {} times", sent * 20);
    watched.until("it is noticed", is_noticed);
    watched.until_calm("after a slow reader");
    watched.until_small();
    drop(stream);
}

/// More than is taken, announced and not announced; and less than was announced.
pub(crate) fn what_is_too_large_is_not_kept() {
    let watched = Watched::new("[server]\nrequest_timeout = \"2s\"\n");
    let address = watched.server.base.trim_start_matches("http://").to_owned();
    let head = |length: &str| {
        let token = &watched.server.token;
        format!(
            "POST /v1/tools/write HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\n{length}\r\n\r\n"
        )
    };
    let piece = "x".repeat(100_000);
    let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
    for (what, length, piece, expected) in [
        ("announced", "content-length: 500000000", &piece, "413"),
        ("not announced", "transfer-encoding: chunked", &chunk, "413"),
    ] {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(head(length).as_bytes()).unwrap();
        // The server hangs up when it has had enough, at the latest when we have sent 500 MB.
        let sent = (0..5_000).take_while(|_| stream.write_all(piece.as_bytes()).is_ok()).count();
        assert!(sent < 1_000, "{what}: {sent} pieces were taken");
        let mut answer = Vec::new();
        // The answer may be lost with what was not read.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let said = answer.split(' ').nth(1).unwrap_or(expected);
        assert_eq!(said, expected, "{what}: {answer}");
    }
    let mut silent = TcpStream::connect(&address).unwrap();
    silent.write_all(head("content-length: 1000").as_bytes()).unwrap();
    silent.write_all(b"{").unwrap();
    watched.until_calm("after bodies that are too large or never end");
    watched.until_small();
    drop(silent);
}

/// A process that is stopped, and a connection on which nobody reads.
pub(crate) fn who_does_not_answer_is_let_go() {
    let watched = Watched::new(PINGS);
    let silent = raw::open(&watched.server);
    let mut clients = Clients::start(&watched.server, 50, "");
    clients.until("connected");
    clients.ping();
    assert_eq!(watched.metric("toolgate_ws_connections"), 51);
    // Those who answer stay.
    watched.until("the one that does not answer is let go", || {
        watched.metric("toolgate_ws_connections") == 50
    });
    clients.ping();
    let id = Pid::from_raw(i32::try_from(clients.id()).unwrap()).unwrap();
    kill_process(id, Signal::STOP).unwrap();
    watched.until_calm("after clients that are still there and do not answer");
    watched.until_small();
    clients.kill();
    drop(silent);
}

/// A process dies while its calls run, by WebSocket and by HTTP.
pub(crate) fn who_vanishes_in_a_call_ends_it() {
    let watched = Watched::new("");
    let call = json!({"name": "exec", "arguments": {"command": "sleep 600"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools.call", "params": call});
    let clients = Clients::start(&watched.server, 3, &call.to_string());
    let body = json!({"command": "sleep 600"}).to_string();
    let address = watched.server.base.trim_start_matches("http://");
    let request =
        http::bytes((address, &watched.server.token), ("POST", "/v1/tools/exec"), &[], &body);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&request).unwrap();
    watched.until("all calls run", || watched.metric("toolgate_sandbox_running") == 4);
    clients.kill();
    watched.until("those of the process end", || watched.metric("toolgate_sandbox_running") == 1);
    drop(stream);
    watched.until_calm("after clients that vanished");
    watched.until_small();
    let calls = || watched.send(("GET", "/v1/calls?tool=exec&status=error"), "").json();
    let ends = |calls: &Value| calls["calls"].as_array().cloned().unwrap_or_default();
    // An outcome may be recorded a moment after its call was counted out.
    watched.until("all four ends are recorded", || ends(&calls()).len() == 4);
    let calls = calls();
    assert!(ends(&calls).iter().all(|call| call["error_type"] == "cancelled"), "{calls}");
}
