//! A server whose memory, open files and counters are looked at.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    http::{self, Answer},
    served::Served,
};

/// Longer than anything takes, also on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(2);
/// Memory that may stay: what allocators and caches keep.
const KEPT_BYTES: u64 = 64_000_000;
/// Open files that may stay: connections to the database, and processes that wait for a command.
const KEPT_FILES: usize = 24;

/// A server, and how it was before anything happened.
pub(crate) struct Watched {
    pub(crate) server: Served,
    start: Figures,
}

/// What a process holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) resident: u64,
    pub(crate) files: usize,
}

impl Watched {
    pub(crate) fn new(config: &str) -> Self {
        // Commands do not come one by one over HTTP unless that is wanted.
        let wanted = "[tools.by_channel.http]\nalso_allow = [\"exec\"]\n";
        let server = Served::new(&format!("{wanted}{config}"));
        let granted = server.command().args(["permissions", "grant", "exec"]).output().unwrap();
        assert!(granted.status.success(), "{granted:?}");
        let start = figures(&server);
        let mut watched = Self { server, start };
        // What is made when it is first needed stays, and is not what this is about.
        for _ in 0..3 {
            let ran =
                watched.send(("POST", "/v1/tools/exec"), &json!({"command": "true"}).to_string());
            assert_eq!(ran.status, 200, "{ran:?}");
            watched.send(("GET", "/v1/tools"), "");
        }
        watched.start = figures(&watched.server);
        watched
    }

    pub(crate) fn send(&self, request: (&str, &str), body: &str) -> Answer {
        http::send((&self.server.base, &self.server.token), request, &[], body).unwrap()
    }

    /// One number of `/metrics`.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let page = self.send(("GET", "/metrics"), "").body;
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no `{name}` in {page}")).parse().unwrap()
    }

    pub(crate) fn figures(&self) -> Figures {
        figures(&self.server)
    }

    /// Waits until `holds`.
    pub(crate) fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let begin = Instant::now();
        while !holds() {
            let log = self.server.log();
            assert!(begin.elapsed() < PATIENCE, "never: {what}; {:?}\n{log}", self.figures());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until nothing is left of what happened since the start.
    pub(crate) fn until_calm(&self, what: &str) {
        for (name, most) in [
            ("toolgate_ws_connections", 0),
            // The one that asks.
            ("toolgate_http_connections", 1),
            ("toolgate_calls_running", 0),
            ("toolgate_calls_waiting", 0),
            ("toolgate_sandbox_running", 0),
        ] {
            self.until(&format!("{name} is {most}"), || self.metric(name) <= most);
        }
        let Figures { resident, files } = self.start;
        self.until("open files are as at the start", || self.figures().files <= files + KEPT_FILES);
        let end = self.figures();
        eprintln!(
            "{what}: {} MB and {files} files at the start, {} MB and {} files at the end",
            megabytes(resident),
            megabytes(end.resident),
            end.files
        );
    }

    /// Waits until memory is as at the start.
    pub(crate) fn until_small(&self) {
        let most = self.start.resident + KEPT_BYTES;
        self.until("memory is as at the start", || self.figures().resident <= most);
    }
}

pub(crate) const fn megabytes(bytes: u64) -> u64 {
    bytes / 1_000_000
}

pub(crate) fn figures(server: &Served) -> Figures {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
    let files = fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    Figures { resident: kilobytes * 1024, files }
}
