//! Commands that go on after their call.

use std::{collections::BTreeSet, fs, sync::Arc, time::Instant};

use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgate::Caller;

use crate::{
    cli::Machine,
    helper::{PATIENCE, Setup, error, id, trial, until},
    lifetime::processes_with,
};

/// As many may run at once for one agent.
const RUNNING: usize = 32;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_process_goes_on_and_can_be_watched", a_process_goes_on_and_can_be_watched),
        trial("a_command_that_ends_in_time_is_no_process", a_command_that_ends_in_time),
        trial("a_process_reads_what_it_is_sent", a_process_reads_what_it_is_sent),
        trial("a_process_with_a_terminal_is_typed_to", a_process_with_a_terminal_is_typed_to),
        trial("a_process_is_ended_and_forgotten", a_process_is_ended_and_forgotten),
        trial("a_process_belongs_to_one_agent", a_process_belongs_to_one_agent),
        trial("only_so_many_processes_run_at_once", only_so_many_processes_run_at_once),
        trial("processes_of_one_user_end_with_them", processes_of_one_user_end_with_them),
        trial("all_processes_end_at_shutdown", all_processes_end_at_shutdown),
        trial("a_process_leaves_protected_files_alone", a_process_leaves_protected_files_alone),
        trial("a_process_is_marked_as_not_undoable", a_process_is_marked_as_not_undoable),
        Trial::test("a_person_is_told_before_that_it_cannot_be_undone", || {
            a_person_is_told_before();
            Ok(())
        }),
    ]
}

/// Those that are there do not change; those that come into being are named.
async fn a_process_leaves_protected_files_alone() {
    let setup = Setup::new().await;
    setup.file(".bashrc", "mine");
    fs::create_dir_all(setup.path("sub/.git/hooks")).unwrap();
    fs::create_dir(setup.path(".git")).unwrap();
    let command = "echo x > .bashrc; echo x > sub/.git/hooks/pre-commit; mv sub other; \
                   mkdir -p .git/hooks/x; echo x > .envrc; echo x > plain";
    let outcome = setup.call("exec", json!({"command": command, "yieldMs": 60_000})).await;
    assert_eq!(outcome["result"]["status"], "completed", "{outcome}");
    assert_eq!(setup.text(".bashrc").as_deref(), Some("mine"));
    assert_eq!(setup.text("plain").as_deref(), Some("x\n"));
    assert!(fs::read_dir(setup.path("sub/.git/hooks")).unwrap().next().is_none());
    assert!(!setup.path(".git/hooks").exists(), "what held its place is gone");
    let notes = outcome["result"]["notes"].to_string();
    assert!(notes.contains("`.envrc` is new and protected"), "{outcome}");
}

/// Starts a process, and gives its id.
async fn start(setup: &Setup, caller: &Caller, mut args: Value) -> String {
    args["background"] = json!(true);
    let outcome = setup.call_as(caller, "exec", args).await;
    assert_eq!(outcome["result"]["status"], "running", "{outcome}");
    outcome["result"]["processId"].as_str().unwrap().to_owned()
}

async fn act(setup: &Setup, action: &str, id: &str, more: Value) -> Value {
    let mut args = json!({"action": action, "processId": id});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let outcome = setup.call("process", args).await;
    assert_eq!(outcome["status"], "success", "{action}: {outcome}");
    outcome["result"].clone()
}

/// Polls until the output has `text`, and gives all of it.
async fn poll_for(setup: &Setup, id: &str, text: &str) -> String {
    let mut all = String::new();
    let mut offset = json!(0);
    let begin = Instant::now();
    loop {
        let polled = act(setup, "poll", id, json!({"offset": offset, "timeout": 1_000})).await;
        all.push_str(polled["output"].as_str().unwrap());
        if all.contains(text) {
            return all;
        }
        assert_eq!(polled["status"], "running", "no {text:?} in {all:?}: {polled}");
        assert!(begin.elapsed() < PATIENCE, "no {text:?} in {all:?}");
        offset = polled["nextOffset"].clone();
    }
}

/// Waits until the process has ended, and gives the last look at it.
async fn end_of(setup: &Setup, id: &str) -> Value {
    loop {
        let polled = act(setup, "poll", id, json!({"timeout": 30_000, "limit": 40_000})).await;
        if polled["status"] == "exited" {
            return polled;
        }
    }
}

async fn a_process_goes_on_and_can_be_watched() {
    let setup = Setup::new().await;
    let command = "echo one; while [ ! -e /tmp/go ]; do sleep 0.01; done; echo two >&2; exit 7";
    let id = start(&setup, &setup.caller, json!({"command": command})).await;
    poll_for(&setup, &id, "one\n").await;
    let listed = setup.call("process", json!({"action": "list"})).await;
    let first = &listed["result"]["processes"][0];
    assert_eq!((&first["processId"], &first["status"]), (&json!(id), &json!("running")));
    assert_eq!((&first["command"], &first["place"]), (&json!(command), &json!("sandbox")));
    fs::write(setup.temp(&setup.caller, "go"), "").unwrap();
    let ended = end_of(&setup, &id).await;
    assert_eq!(ended["exitCode"], 7, "{ended}");
    for (more, expected) in [
        (json!({}), "one\ntwo\n"),
        (json!({"offset": 4}), "two\n"),
        (json!({"offset": 0, "limit": 3}), "one"),
        (json!({"offset": 1, "limit": 4}), "ne\nt"),
        (json!({"offset": 100}), ""),
    ] {
        let log = act(&setup, "log", &id, more.clone()).await;
        assert_eq!(log["output"], expected, "{more}: {log}");
    }
}

async fn a_command_that_ends_in_time() {
    let setup = Setup::new().await;
    let args = json!({"command": "echo quick; echo x > x; exit 3", "yieldMs": 60_000});
    let outcome = setup.call("exec", args).await;
    let result = &outcome["result"];
    assert_eq!((&result["status"], &result["exitCode"]), (&json!("completed"), &json!(3)));
    assert_eq!(result["aggregated"], "quick\n");
    assert!(result["notes"].to_string().contains("cannot be undone"), "{outcome}");
    assert_eq!(setup.text("x").as_deref(), Some("x\n"));
    let args = json!({"command": "echo begun; sleep 1000", "yieldMs": 10});
    let outcome = setup.call("exec", args).await;
    assert_eq!(outcome["result"]["status"], "running", "{outcome}");
}

async fn a_process_reads_what_it_is_sent() {
    let setup = Setup::new().await;
    let id = start(&setup, &setup.caller, json!({"command": "cat; echo the end"})).await;
    act(&setup, "write", &id, json!({"data": "first\n"})).await;
    poll_for(&setup, &id, "first\n").await;
    for (action, input) in [
        ("submit", json!({"text": "second"})),
        ("send-keys", json!({"literal": "third", "keys": ["Enter"]})),
        ("paste", json!({"text": "fourth\nfifth\n"})),
        ("send-keys", json!({"hex": ["36", "0a"]})),
        ("write", json!({"data": "last\n", "eof": true})),
    ] {
        act(&setup, action, &id, input).await;
    }
    let ended = end_of(&setup, &id).await;
    assert_eq!(ended["output"], "first\nsecond\nthird\nfourth\nfifth\n6\nlast\nthe end\n");
    assert_eq!(ended["exitCode"], 0, "{ended}");
    let late = json!({"action": "write", "processId": id, "data": "too late"});
    let said = error(&setup.call("process", late).await);
    assert!(said.starts_with("execution_error: ") && said.contains("has ended"), "{said}");
}

async fn a_process_with_a_terminal_is_typed_to() {
    let setup = Setup::new().await;
    let shell = json!({"command": "tty && stty size && exec bash --norc -i", "pty": true});
    let id = start(&setup, &setup.caller, shell).await;
    for (action, input, shown) in [
        ("log", json!({}), "$ "),
        ("log", json!({}), "/dev/pts/"),
        ("log", json!({}), "40 120\r\n"),
        ("submit", json!({"text": "echo $((6 * 7))"}), "42\r\n"),
        // What is typed between two programs may be read by either, as at any terminal.
        ("submit", json!({"text": "echo re''ady; cat"}), "ready\r\n"),
        ("submit", json!({"text": "readme"}), "readme\r\nreadme\r\n"),
        ("send-keys", json!({"keys": ["C-c"]}), "^C\r\n"),
        ("submit", json!({"text": "echo status $?"}), "status 130\r\n"),
        ("paste", json!({"text": "exit 5"}), "exit 5"),
        ("send-keys", json!({"keys": ["Enter"]}), "exit 5"),
    ] {
        act(&setup, action, &id, input).await;
        poll_for(&setup, &id, shown).await;
    }
    let ended = end_of(&setup, &id).await;
    assert_eq!(ended["exitCode"], 5, "{ended}");
}

async fn a_process_is_ended_and_forgotten() {
    let setup = Setup::new().await;
    let sleeping = json!({"command": "trap '' TERM INT HUP; sleep 1000"});
    let (one, two) = (
        start(&setup, &setup.caller, sleeping.clone()).await,
        start(&setup, &setup.caller, sleeping).await,
    );
    let killed = act(&setup, "kill", &one, json!({})).await;
    assert_eq!((&killed["status"], &killed["killedFor"]), (&json!("exited"), &json!("cancelled")));
    let cleared = setup.call("process", json!({"action": "clear"})).await;
    assert_eq!(cleared["result"]["forgotten"], json!([one]), "{cleared}");
    let removed = act(&setup, "remove", &two, json!({})).await;
    assert_eq!(removed["forgotten"], json!([two]), "{removed}");
    let listed = setup.call("process", json!({"action": "list"})).await;
    assert_eq!(listed["result"]["processes"], json!([]), "{listed}");
    let said = error(&setup.call("process", json!({"action": "poll", "processId": one})).await);
    assert!(said.starts_with("validation_error: "), "{said}");
}

async fn a_process_belongs_to_one_agent() {
    let setup = Setup::new().await;
    let other = setup.agent("other").await;
    let id = start(&setup, &setup.caller, json!({"command": "sleep 1000"})).await;
    for caller in [other, Caller::member("bo", "main")] {
        for (action, status) in [
            ("list", None),
            ("poll", Some("error")),
            ("log", Some("error")),
            ("kill", Some("error")),
            ("remove", Some("error")),
            ("submit", Some("error")),
            ("clear", None),
        ] {
            let args = json!({"action": action, "processId": status.map(|_| &id)});
            let outcome = setup.call_as(&caller, "process", args).await;
            let told = outcome["result"].to_string().contains(&id);
            let fits = status.is_none_or(|status| outcome["status"] == status);
            assert!(fits && !told, "{action}: {outcome}");
        }
    }
    assert_eq!(act(&setup, "poll", &id, json!({})).await["status"], "running");
}

async fn only_so_many_processes_run_at_once() {
    let setup = Arc::new(Setup::new().await);
    let args = json!({"command": "exec sleep 1000", "background": true});
    let starts = (0..RUNNING).map(|_| setup.call("exec", args.clone()));
    let outcomes = futures_util::future::join_all(starts).await;
    let ids: BTreeSet<_> =
        outcomes.iter().map(|outcome| outcome["result"]["processId"].to_string()).collect();
    assert_eq!(ids.len(), RUNNING, "{outcomes:?}");
    let said = error(&setup.call("exec", args.clone()).await);
    assert!(said.starts_with("execution_error: 32 processes"), "{said}");
    // Others have their own, and so do commands that end with their call.
    start(&setup, &setup.agent("other").await, args.clone()).await;
    assert_eq!(setup.printed("echo fine").await, "fine\n");
    let first = outcomes[0]["result"]["processId"].as_str().unwrap();
    act(&setup, "kill", first, json!({})).await;
    start(&setup, &setup.caller, args).await;
    // The one that has ended is still known.
    assert_eq!(act(&setup, "log", first, json!({})).await["status"], "exited");
}

async fn processes_of_one_user_end_with_them() {
    let setup = Setup::new().await;
    let mark = format!("7{}.32", std::process::id());
    start(&setup, &setup.caller, json!({"command": format!("sleep {mark}")})).await;
    let other = setup.agent("other").await;
    start(&setup, &other, json!({"command": format!("sleep {mark}")})).await;
    until("they run", || processes_with(&format!("sleep {mark}")).len() >= 2).await;
    let runner = setup.gate.runner();
    runner.halt_all_of("bo");
    assert_eq!(runner.stats().processes, 2, "those of somebody else");
    runner.halt_all_of(&setup.caller.user);
    until("they are gone", || processes_with(&mark).is_empty()).await;
    assert_eq!(setup.printed("echo fine").await, "fine\n");
}

async fn all_processes_end_at_shutdown() {
    let setup = Setup::new().await;
    let mark = format!("8{}.32", std::process::id());
    for terminal in [false, true] {
        let command = format!("setsid nohup sleep {mark} & sleep {mark}");
        start(&setup, &setup.caller, json!({"command": command, "pty": terminal})).await;
    }
    until("they run", || processes_with(&format!("sleep {mark}")).len() >= 4).await;
    setup.gate.runner().shutdown().await;
    until("they are gone", || processes_with(&mark).is_empty()).await;
    let said = error(&setup.sh("true").await);
    assert!(said.starts_with("execution_error: "), "{said}");
}

async fn a_process_is_marked_as_not_undoable() {
    let setup = Setup::new().await;
    setup.file("a.txt", "old\n");
    let args = json!({"command": "echo new > a.txt; sleep 1000", "background": true});
    let check = setup.gate.check(&setup.caller, "exec", &args).await;
    let plan = serde_json::to_value(check.plan).unwrap();
    assert!(plan.to_string().contains("\"session\""), "{plan}");
    let outcome = setup.call("exec", args).await;
    assert_eq!(outcome["meta"]["effects"], json!(["act"]), "{outcome}");
    assert!(outcome["result"]["notes"].to_string().contains("cannot be undone"), "{outcome}");
    // It is not kept apart: what it changes is there at once.
    until("it has written", || setup.text("a.txt").as_deref() == Some("new\n")).await;
    let entry = setup.gate.journal().entry(id(&outcome)).unwrap().unwrap();
    let entry = serde_json::to_value(entry).unwrap();
    assert_eq!((&entry["effects"], &entry["changed"]), (&json!(["act"]), &json!([])), "{entry}");
    let said = error(&setup.undo(&outcome).await);
    assert!(said.contains("changed no files") || said.contains("cannot be undone"), "{said}");
}

fn a_person_is_told_before() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
    for (more, verdict, undoable) in [("", "allow", true), (",\"background\":true", "ask", false)] {
        let call = format!("{{\"tool\":\"exec\",\"arguments\":{{\"command\":\"make\"{more}}}}}");
        let checked = machine.run(&["check", "call", &call, "--json"]).json();
        assert_eq!(checked["verdict"], verdict, "{checked}");
        let shown = machine.run(&["check", "call", &call]).stdout;
        assert_eq!(!shown.contains("cannot be undone"), undoable, "{shown}");
    }
}
