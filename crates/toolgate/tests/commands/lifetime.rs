//! Commands end with their call, and nothing of them is left.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    alone::{ALONE, alone},
    helper::{STARTED, Setup, count, trial, until},
};

/// Calls after which nothing is left, unless `COMMANDS_TEST_CALLS` says otherwise.
const CALLS: usize = 60;
/// How many of them run at once.
const AT_ONCE: usize = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_command_whose_time_is_up_changes_nothing", a_command_whose_time_is_up),
        trial("a_call_that_is_dropped_ends_and_is_recorded", a_call_that_is_dropped_ends),
        trial("what_a_command_leaves_running_ends_with_it", what_a_command_leaves_running_ends),
        Trial::test("nothing_is_left_of_many_calls", || {
            alone(ALONE, "leaks", &[]);
            Ok(())
        }),
    ]
}

async fn a_command_whose_time_is_up() {
    let setup = Setup::new().await;
    let command = "echo before; echo x > x; sleep 1000; echo after";
    let outcome = setup.call("exec", json!({"command": command, "timeout": 1})).await;
    let result = &outcome["details"];
    assert_eq!(outcome["error_type"], "timeout", "{outcome}");
    assert_eq!((&result["timedOut"], &result["killedFor"]), (&json!(true), &json!("timeout")));
    let entry = setup.gate.journal().entries(&store::Filter::default()).unwrap().remove(0);
    assert_eq!(entry.error_type.as_deref(), Some("timeout"));
    assert_eq!(result["stdout"], "before\n");
    assert_eq!(result["changed"], json!([]));
    assert!(result["durationMs"].as_u64().unwrap() >= 1000, "{outcome}");
    let notes = result["notes"].to_string();
    assert!(notes.contains("timeout") && notes.contains("dropped"), "{outcome}");
    assert_eq!(setup.text("x"), None);
}

async fn a_call_that_is_dropped_ends() {
    let setup = Setup::new().await;
    let mark = mark("dropped");
    let command = format!("echo x > x; {STARTED}; sleep {mark}");
    let call = setup.begin(&setup.caller, json!({"command": command})).await;
    until("it sleeps", || !processes_with(&mark).is_empty()).await;
    call.drop_it();
    until("it is gone", || processes_with(&mark).is_empty()).await;
    let newest = || setup.gate.journal().entries(&store::Filter::default()).unwrap().remove(0);
    until("its outcome is recorded", || newest().status != store::Status::Running).await;
    let entry = serde_json::to_value(newest()).unwrap();
    assert_eq!(entry["error_type"], "cancelled", "{entry}");
    assert_eq!(setup.text("x"), None);
    assert_eq!(setup.printed("echo still works").await, "still works\n");
}

async fn what_a_command_leaves_running_ends() {
    let setup = Setup::new().await;
    for (number, left) in LEFT.iter().enumerate() {
        let mark = mark(&format!("left{number}"));
        let outcome = setup.sh(&left.replace("MARK", &mark)).await;
        assert_eq!(outcome["result"]["exitCode"], 0, "{left}: {outcome}");
        until("it is gone", || processes_with(&mark).is_empty()).await;
    }
}

/// Ways to go on after the command has ended.
const LEFT: &[&str] = &[
    "sleep MARK & echo done",
    "setsid sleep MARK & echo done",
    "(setsid sh -c 'exec sleep MARK' &) ; echo done",
    "nohup sleep MARK > /dev/null 2>&1 & echo done",
    "( (trap '' HUP TERM INT; sleep MARK) & ) < /dev/null > /dev/null 2>&1; echo done",
    "setsid setsid nohup sh -c 'sleep MARK & sleep MARK' > /dev/null 2>&1 & disown -a; echo done",
];

/// An argument of `sleep` that nobody else has; days, in seconds.
fn mark(name: &str) -> String {
    let unique = name.bytes().fold(0_u64, |sum, byte| sum * 31 + u64::from(byte)) % 1_000_000;
    format!("9{}.{unique}", std::process::id())
}

/// The process that makes the calls and counts.
pub(crate) async fn leaks() {
    let setup = Arc::new(Setup::new().await);
    setup.file("shared.txt", "old\n");
    // The first ones start what stays until the end.
    let warm = (0..AT_ONCE).map(|number| call(&setup, number, 0));
    futures_util::future::join_all(warm).await;
    setup.gate.world().settle();
    let before = Left::now(&setup);
    let calls = count("COMMANDS_TEST_CALLS", CALLS);
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let all = (0..calls).map(|number| {
        let (setup, places) = (&setup, &places);
        async move {
            let _place = places.acquire().await.unwrap();
            call(setup, number, number % 5).await;
        }
    });
    futures_util::future::join_all(all).await;
    until("no command is left", || processes_with(&mark("leak")).is_empty()).await;
    until("no overlay is left", || Left::now(&setup).files == before.files).await;
    until("no descriptor is left", || {
        println!("{:?}, before {before:?}", Left::now(&setup));
        Left::now(&setup).descriptors <= before.descriptors + 4
    })
    .await;
    setup.gate.runner().shutdown().await;
    until("no process is left", || {
        println!("{:?}", children());
        children().is_empty()
    })
    .await;
    until("no group is left", || groups_of(std::process::id()).is_empty()).await;
    let after = Left::now(&setup);
    assert_eq!(after.mounts, 0, "{after:?}");
    assert_eq!(after.files, before.files);
    assert!(setup.gate.journal().verify(None).unwrap().ok);
}

async fn call(setup: &Arc<Setup>, number: usize, kind: usize) {
    let left = LEFT[number % LEFT.len()].replace("MARK", &mark("leak"));
    let sleep = format!("{left}; sleep {}", mark("leak"));
    let file = format!("echo {number} > file-{number}");
    match kind {
        // It ends, and what it has started does not.
        0 => ended(&setup.sh(&format!("{file}; {left}")).await, &Value::Null),
        1 => {
            let args = json!({"command": format!("{file}; {sleep}"), "timeout": 1});
            ended(&setup.call("exec", args).await, &json!("timeout"));
        }
        2 => {
            let command = format!("{file}; {STARTED}; {sleep}");
            setup.begin(&setup.caller, json!({"command": command})).await.drop_it();
        }
        // Dropped at any moment, also before it has started.
        3 => {
            let command = format!("{file}; {sleep}");
            let call = setup.call("exec", json!({"command": command, "pty": true}));
            let short = std::time::Duration::from_millis(number as u64 % 40);
            assert!(tokio::time::timeout(short, call).await.is_err());
        }
        _ => {
            let args = json!({"command": format!("{STARTED}; {sleep}"), "background": true});
            let outcome = setup.call("exec", args).await;
            let id = &outcome["result"]["processId"];
            assert!(id.is_string(), "{outcome}");
            let args = json!({"action": "remove", "processId": id});
            let removed = setup.call("process", args).await;
            assert_eq!(removed["status"], "success", "{removed}");
        }
    }
}

fn ended(outcome: &Value, killed_for: &Value) {
    let result = if killed_for.is_null() { "result" } else { "details" };
    assert_eq!(&outcome[result]["killedFor"], killed_for, "{outcome}");
    assert_eq!(outcome["status"], if killed_for.is_null() { "success" } else { "error" });
}

/// What commands could leave.
#[derive(Debug)]
struct Left {
    descriptors: usize,
    mounts: usize,
    files: BTreeSet<PathBuf>,
}

impl Left {
    fn now(setup: &Setup) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let name = setup.beside("").display().to_string();
        let mut files = BTreeSet::new();
        for folder in ["data/overlays", "data/tmp", "."] {
            let entries = fs::read_dir(setup.beside(folder)).into_iter().flatten();
            files.extend(entries.map(|entry| entry.unwrap().path()));
        }
        Self {
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            mounts: mounts.lines().filter(|line| line.contains(&name)).count(),
            files,
        }
    }
}

/// Command lines that contain `mark`, anywhere on the machine.
pub(crate) fn processes_with(mark: &str) -> Vec<String> {
    let command = |entry: fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(mark).then_some(line)
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(command).collect()
}

/// Processes that we are the parent of.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let child = |entry: fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = stat.rsplit_once(") ")?;
        (rest.split(' ').nth(1) == Some(own.as_str())).then(|| name.to_owned())
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    entries.filter_map(child).collect()
}

/// Groups that a process has made.
fn groups_of(pid: u32) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    look(Path::new("/sys/fs/cgroup"), &format!("toolgate-{pid}-"), 0, &mut found);
    found
}

fn look(folder: &Path, mine: &str, depth: usize, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        if depth > 6 || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if entry.file_name().to_string_lossy().starts_with(mine) {
            found.insert(entry.path());
        }
        look(&entry.path(), mine, depth + 1, found);
    }
}
