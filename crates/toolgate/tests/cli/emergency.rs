//! Everything is stopped, or passes for a time.

use std::{fs, time::Duration};

use serde_json::{Value, json};

use crate::helper::{Machine, finish};

fn emergency(machine: &Machine, args: &[&str]) {
    let ran = machine.run(&[&["emergency"], args].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
}

fn rule(outcome: &Value) -> &str {
    outcome["details"]["rule"].as_str().unwrap_or_default()
}

/// What the journal says about the newest calls, newest first.
fn history(machine: &Machine) -> Vec<(String, String, String)> {
    let entries = machine.run(&["history", "--json"]).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = entries.as_array().unwrap().iter();
    entries
        .map(|entry| (text(&entry["tool_name"]), text(&entry["status"]), text(&entry["rule"])))
        .collect()
}

#[test]
fn nothing_runs_after_a_stop_until_it_is_ended() {
    let machine = Machine::new();
    machine.file("a.txt", "old");
    let write = json!({"path": "a.txt", "content": "new"});
    let written = machine.call("write", &write);
    let id = written["meta"]["call_id"].as_str().unwrap();
    emergency(&machine, &["stop", "--reason", "it deletes things"]);
    for (tool, args) in [
        ("get_current_time", json!({})),
        ("write", json!({"path": "b.txt", "content": "b"})),
        ("no_such_tool", json!({})),
    ] {
        let refused = machine.call(tool, &args);
        assert_eq!(
            (&refused["error_type"], rule(&refused)),
            (&json!("permission_denied"), "emergency.stop")
        );
        let message = refused["message"].as_str().unwrap();
        for part in ["owner", "it deletes things", "`toolgate emergency resume`"] {
            assert!(message.contains(part), "{message}");
        }
    }
    assert_eq!(machine.content("b.txt"), None);
    let check = machine.run(&["check", "call", r#"{"tool":"get_current_time"}"#, "--json"]).json();
    assert_eq!((&check["verdict"], &check["rule"]), (&json!("deny"), &json!("emergency.stop")));
    let program = machine.run(&["run", "--keep", "--", "touch", "c.txt"]);
    assert_eq!((program.code, machine.content("c.txt")), (1, None), "{program:?}");
    assert!(program.stderr.contains("it deletes things"), "{program:?}");
    let undone = machine.run(&["undo", id]);
    assert_eq!((undone.code, machine.content("a.txt").as_deref()), (0, Some("old")), "{undone:?}");
    emergency(&machine, &["resume"]);
    assert_eq!(machine.call("get_current_time", &json!({}))["status"], "success");
    let history = history(&machine);
    let names: Vec<_> =
        history.iter().map(|(tool, status, _)| format!("{tool} {status}")).collect();
    assert_eq!(
        names,
        [
            "get_current_time success",
            "emergency success",
            "undo success",
            "run error",
            "no_such_tool error",
            "write error",
            "get_current_time error",
            "emergency success",
            "write success"
        ]
    );
    assert_eq!(history[4].2, "emergency:emergency.stop");
    let stop = &machine.run(&["history", "--tool", "emergency", "--json"]).json()[1];
    assert_eq!(stop["input"], json!({"action": "stop", "reason": "it deletes things"}));
    assert_eq!(stop["user_id"], "owner");
}

#[test]
fn an_override_lets_pass_what_people_would_be_asked_about() {
    let machine = Machine::configured("[tools]\nask = \"always\"\ndeny = [\"ls\"]\n");
    let write = |name: &str| machine.call("write", &json!({"path": name, "content": "x"}));
    assert_eq!(rule(&write("a")), "approval.nobody");
    emergency(&machine, &["override", "--for", "1h", "--reason", "the site is down"]);
    assert_eq!(write("b")["status"], "success");
    let denied = machine.call("write", &json!({"path": "../x", "content": "x"}));
    assert_eq!(denied["error_type"], "path_not_allowed", "what is denied stays denied");
    assert_eq!(machine.call("ls", &json!({}))["error_type"], "tool_not_available");
    let check = json!({"tool": "write", "arguments": {"path": "c", "content": "x"}}).to_string();
    let check = machine.run(&["check", "call", &check, "--json"]).json();
    assert_eq!(
        (&check["verdict"], &check["rule"]),
        (&json!("allow"), &json!("emergency.override"))
    );
    let entry = &machine.run(&["history", "--tool", "write", "--json"]).json()[1];
    assert_eq!(
        (&entry["decision"], &entry["rule"]),
        (&json!("allow"), &json!("emergency.override"))
    );
    let reason = entry["reason"].as_str().unwrap();
    assert!(reason.contains("until 2") && reason.contains("the site is down"), "{reason}");
    emergency(&machine, &["stop"]);
    assert_eq!(rule(&write("d")), "emergency.stop", "a stop wins");
    let late = machine.run(&["emergency", "override", "--for", "1m", "--reason", "x"]);
    assert!(late.code == 2 && late.stderr.contains("everything is stopped"), "{late:?}");
    emergency(&machine, &["resume"]);
    assert_eq!(rule(&write("e")), "approval.nobody", "it does not come back");
}

#[test]
fn a_permission_nobody_gave_passes_too_and_the_record_says_why() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["users", "add", "bo"]).code, 0);
    let list = || machine.run(&["call", "ls", "{}", "--user", "bo"]).json();
    let machine_tools = "[tools]\nprofile = \"full\"\n";
    fs::write(machine.path("config/toolgate/toolgate.toml"), machine_tools).unwrap();
    assert_eq!(rule(&list()), "approval.nobody");
    emergency(&machine, &["override", "--for", "10m", "--reason", "moving house"]);
    assert_eq!(list()["status"], "success");
    assert_eq!(history(&machine)[0].2, "emergency.override");
}

#[test]
fn an_override_ends_by_itself() {
    let machine = Machine::configured("[tools]\nask = \"always\"\n");
    let write = || machine.call("write", &json!({"path": "a", "content": "x"}));
    emergency(&machine, &["override", "--for", "1s", "--reason", "quickly"]);
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(rule(&write()), "approval.nobody");
    assert_eq!(machine.run(&["emergency", "status", "--json"]).json(), json!({"state": "normal"}));
}

#[test]
fn what_runs_in_another_process_is_cancelled() {
    let machine = Machine::configured("[tools]\nask = \"auto\"\n");
    let args = json!({"command": "touch begun; sleep 60"}).to_string();
    let call = machine.start(&["call", "exec", &args]);
    let running = || {
        let entries = machine.run(&["history", "--tool", "exec", "--json"]).json();
        entries[0]["status"] == "running"
    };
    machine.until("the command runs", running);
    emergency(&machine, &["stop", "--reason", "enough"]);
    let ran = finish(call);
    let outcome = ran.json();
    assert_eq!((ran.code, rule(&outcome)), (1, "emergency.stop"), "{outcome}");
    assert!(outcome["message"].as_str().unwrap().contains("enough"), "{outcome}");
    assert!(outcome["meta"]["duration_ms"].as_u64().unwrap() < 55_000, "{outcome}");
    assert_eq!(machine.content("begun"), None, "and nothing of it is kept");
}

#[test]
fn a_question_is_withdrawn_when_everything_is_stopped() {
    let machine = Machine::new();
    machine.file(".env", "KEY=1\n");
    let (call, _) = machine.start_asking("read", &json!({"path": ".env"}));
    emergency(&machine, &["stop"]);
    assert_eq!(rule(&finish(call).json()), "emergency.stop");
    assert_eq!(machine.run(&["approvals", "list", "--json"]).json()["pending"], json!([]));
}

#[test]
fn what_cannot_be_read_means_stopped() {
    for damaged in ["", "nil", "{\"state\":\"sto", "[]", "{\"state\":\"fine\"}", "\0\0\0\0"] {
        let machine = Machine::new();
        machine.call("get_current_time", &json!({}));
        let file = machine.path("data/toolgate/emergency.json");
        assert!(file.exists());
        fs::write(&file, damaged).unwrap();
        let refused = machine.call("get_current_time", &json!({}));
        assert_eq!(rule(&refused), "emergency.stop", "{damaged:?}: {refused}");
        let status = machine.run(&["emergency", "status", "--json"]).json();
        assert_eq!(status["state"], "stopped", "{status}");
        emergency(&machine, &["resume"]);
        assert_eq!(machine.call("get_current_time", &json!({}))["status"], "success");
    }
}

#[test]
fn a_stop_works_also_where_nothing_else_does() {
    let machine = Machine::configured("[tools]\nask = \"never\"\n");
    emergency(&machine, &["stop", "--reason", "x"]);
    fs::write(machine.path("config/toolgate/toolgate.toml"), "").unwrap();
    assert_eq!(rule(&machine.call("get_current_time", &json!({}))), "emergency.stop");

    let machine = Machine::new();
    fs::create_dir_all(machine.path("data/toolgate")).unwrap();
    fs::write(machine.path("data/toolgate/journal.db"), "not a database").unwrap();
    let ran = machine.run(&["emergency", "stop"]);
    assert!(ran.code == 0 && ran.stderr.contains("could not be recorded"), "{ran:?}");
    let status = machine.run(&["emergency", "status"]).stdout;
    assert!(status.starts_with("Everything is stopped since"), "{status}");
}

#[test]
fn a_time_that_makes_no_sense_is_wrong_usage() {
    let machine = Machine::new();
    let long = "x".repeat(5_000);
    for args in [
        &["--for", "soon", "--reason", "x"][..],
        &["--for", "-5m", "--reason", "x"],
        &["--for", "0s", "--reason", "x"],
        &["--for", "25h", "--reason", "x"],
        &["--for", "10m"],
        &["--for", "10m", "--reason", ""],
        &["--reason", "x"],
        &["--for", "10m", "--reason", &long],
    ] {
        let ran = machine.run(&[&["emergency", "override"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
    }
    assert_eq!(machine.run(&["emergency", "status", "--json"]).json(), json!({"state": "normal"}));
}
