//! A server as a person starts and ends it.

use std::io::{BufRead as _, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    helper::{Machine, finish},
    http,
};

#[test]
fn a_server_says_how_to_get_in_logs_for_programs_and_ends_when_it_is_told() {
    let machine = Machine::new();
    let mut child = machine.start(&["serve", "--listen", "127.0.0.1:0", "--log", "json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut word = |part: &str, number: usize| {
        let line = lines.find(|line| line.contains(part)).unwrap();
        line.split_whitespace().nth(number).unwrap().to_owned()
    };
    let (base, link, token) = (word("listens on", 3), word("Sign in", 2), word("Token", 1));
    assert!(link.starts_with(&format!("{base}/#token=tgl_")), "{link}");
    // Wherever it listens, another link leads there.
    let another = machine.run(&["tokens", "link"]).stdout;
    assert!(another.starts_with(&format!("{base}/#token=tgl_")) && another.trim() != link);
    let ask = |token: &str| http::send((&base, token), ("GET", "/v1/tools"), &[], "").unwrap();
    assert_eq!((ask("tg_wrong").status, ask(&token).status), (401, 200));
    let id = Pid::from_child(&child);
    kill_process(id, Signal::TERM).unwrap();
    let ended = finish(child);
    assert_eq!(ended.code, 0, "{ended:?}");
    let logged: Vec<Value> =
        ended.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let statuses: Vec<_> = logged
        .iter()
        .filter(|line| line["path"] == "/v1/tools")
        .map(|line| &line["status"])
        .collect();
    assert_eq!(statuses, [401, 200], "{}", ended.stderr);
    let secret = link.rsplit('=').next().unwrap();
    assert!(!ended.stderr.contains(&token) && !ended.stderr.contains(secret), "{}", ended.stderr);
}
