//! Clients that are there, and say nothing.

use std::{fs, time::Instant};

use rustix::process::{Resource, getrlimit};
use serde_json::json;

use crate::{
    client::Clients,
    watched::{Watched, megabytes},
};

const CLIENTS: usize = 10_000;
/// Open files that both ends need besides.
const OTHERS: u64 = 500;
/// What the server may take with all of them.
const MOST_BYTES: u64 = 1_000_000_000;

/// As many as the limit of open files allows; fewer than planned is said.
fn clients() -> usize {
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX).saturating_sub(OTHERS);
    let clients = usize::try_from(most).unwrap_or(usize::MAX).min(CLIENTS);
    if clients < CLIENTS {
        eprintln!("the limit of open files allows {clients} clients only, of {CLIENTS}");
    }
    assert!(clients >= 1_000, "with a limit of {most} open files this shows nothing; raise it");
    clients
}

pub(crate) fn ten_thousand_idle_clients() {
    let (watched, count) = (Watched::new(""), clients());
    let first = crowd(&watched, count);
    let second = crowd(&watched, count);
    // What the allocator keeps is used again; what is left behind would be there twice.
    assert!(second < first + first / 4, "{first} bytes with a crowd, {second} with another one");
}

/// They come, say something, and go; gives the memory of the server while they were there.
fn crowd(watched: &Watched, count: usize) -> u64 {
    let (before, begin) = (watched.figures(), Instant::now());
    let mut clients = Clients::start(&watched.server, count, "");
    clients.until("connected");
    let connected = begin.elapsed();
    clients.ping();
    assert_eq!(watched.metric("toolgate_ws_connections"), count as u64);
    let full = watched.figures();
    let growth = full.resident.saturating_sub(before.resident);
    eprintln!(
        "{count} clients in {connected:.1?}: {} MB, {} MB more than without, {} bytes each",
        megabytes(full.resident),
        megabytes(growth),
        growth / count as u64
    );
    assert!(full.resident < MOST_BYTES, "{full:?}");
    assert!(full.files >= count, "{full:?}");
    // Still as quick for everybody else.
    let stats = watched.send(("GET", "/v1/stats"), "").json();
    assert_eq!(stats["connections"], count, "{stats}");
    clients.leave();
    watched.until_calm("after a crowd");
    full.resident
}

pub(crate) fn a_server_takes_the_open_files_it_may() {
    let watched = Watched::new("");
    let limits = fs::read_to_string(format!("/proc/{}/limits", watched.server.id())).unwrap();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    let words: Vec<_> = line.split_whitespace().take(2).collect();
    let most = getrlimit(Resource::Nofile).maximum.unwrap().to_string();
    assert_eq!(words, [&most, &most]);
    // What it starts for agents has the limit it always had.
    let body = json!({"command": "ulimit -Sn; ulimit -Hn"}).to_string();
    let ran = watched.send(("POST", "/v1/tools/exec"), &body).json();
    assert_eq!(ran["result"]["stdout"], "1024\n1024\n", "{ran}");
}
