//! The journal: `history`, `undo` and `audit`.

use std::fs;

use serde_json::{Value, json};

use crate::helper::Machine;

fn call_id(outcome: &Value) -> String {
    outcome["meta"]["call_id"].as_str().unwrap().to_owned()
}

#[test]
fn what_was_called_is_in_the_history_newest_first() {
    let machine = Machine::new();
    machine.call("write", &json!({"path": "a.txt", "content": "1"}));
    machine.call("read", &json!({"path": "../x"}));
    let names = |args: &[&str]| -> Vec<String> {
        let entries = machine.run(&[&["history", "--json"], args].concat()).json();
        let names = entries.as_array().unwrap().iter().map(|entry| entry["tool_name"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    };
    for (args, expected) in [
        (&[][..], &["read", "write"][..]),
        (&["--tool", "write"], &["write"]),
        (&["--status", "error"], &["read"]),
        (&["--limit", "1"], &["read"]),
        (&["--since", "1h"], &["read", "write"]),
        (&["--user", "somebody"], &[]),
        (&["--session", "main"], &["read", "write"]),
    ] {
        assert_eq!(names(args), expected, "{args:?}");
    }
    let shown = machine.run(&["history"]).stdout;
    assert!(shown.contains("path_not_allowed") && shown.contains("write `a.txt`"), "{shown}");
}

#[test]
fn one_call_is_shown_whole() {
    let machine = Machine::new();
    let id = call_id(&machine.call("write", &json!({"path": "a.txt", "content": "1"})));
    let entry = machine.run(&["history", &id, "--json"]).json();
    assert_eq!((&entry["id"], &entry["status"]), (&json!(id), &json!("success")));
    assert_eq!(entry["input"]["path"], "a.txt");
    let shown = machine.run(&["history", &id]).stdout;
    assert!(shown.contains("tool_name: write") && shown.contains("\"path\": \"a.txt\""), "{shown}");
    let unknown = machine.run(&["history", "01900000-0000-7000-8000-000000000000"]);
    assert_eq!(unknown.code, 2);
}

#[test]
fn a_call_is_undone_unless_the_file_changed_since() {
    let machine = Machine::new();
    machine.file("a.txt", "before");
    let first = call_id(&machine.call("write", &json!({"path": "a.txt", "content": "after"})));
    machine.file("a.txt", "by hand");
    let refused = machine.run(&["undo", &first]);
    assert_eq!(refused.code, 1);
    assert!(
        refused.json()["message"].as_str().unwrap().contains("a.txt` changed since"),
        "{refused:?}"
    );
    assert_eq!(machine.content("a.txt").as_deref(), Some("by hand"));
    machine.file("a.txt", "after");
    let undone = machine.run(&["undo", &first]);
    assert_eq!((undone.code, &undone.json()["status"]), (0, &json!("success")));
    assert_eq!(machine.content("a.txt").as_deref(), Some("before"));
    let redone = machine.run(&["undo", &call_id(&undone.json())]);
    assert_eq!(redone.code, 0, "an undo can be undone: {redone:?}");
    assert_eq!(machine.content("a.txt").as_deref(), Some("after"));
}

#[test]
fn only_calls_that_changed_files_can_be_undone() {
    let machine = Machine::new();
    let id = call_id(&machine.call("get_current_time", &json!({})));
    for id in [id.as_str(), "01900000-0000-7000-8000-000000000000"] {
        let ran = machine.run(&["undo", id]);
        assert_eq!((ran.code, &ran.json()["error_type"]), (1, &json!("validation_error")));
    }
}

#[test]
fn the_journal_verifies_and_is_exported() {
    let machine = Machine::new();
    machine.call("write", &json!({"path": "a.txt", "content": "1"}));
    machine.call("get_current_time", &json!({}));
    let verified = machine.run(&["audit", "verify", "--json"]);
    assert_eq!(verified.code, 0);
    let verified = verified.json();
    assert_eq!((&verified["entries"], &verified["ok"]), (&json!(2), &json!(true)));
    assert_eq!(verified["first_bad"], Value::Null);
    assert!(machine.run(&["audit", "verify"]).stdout.starts_with("ok: 2 calls"));
    let exported = machine.run(&["audit", "export"]).json_lines();
    assert_eq!(json!(exported.len()), verified["records"]);
    let file = machine.path("export.jsonl");
    assert_eq!(machine.run(&["audit", "export", "--output", file.to_str().unwrap()]).code, 0);
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), exported.len());
}

#[test]
fn a_journal_begun_anew_is_not_the_one_of_the_checkpoint() {
    let machine = Machine::new();
    machine.call("get_current_time", &json!({}));
    let kept = machine.path("checkpoint.json");
    let kept = kept.to_str().unwrap();
    assert_eq!(machine.run(&["audit", "checkpoint", "--output", kept]).code, 0);
    assert_eq!(machine.run(&["audit", "verify", "--checkpoint", kept]).code, 0);
    fs::remove_dir_all(machine.path("data")).unwrap();
    assert_eq!(machine.run(&["audit", "verify"]).code, 0);
    let found = machine.run(&["audit", "verify", "--checkpoint", kept, "--json"]);
    assert_eq!((found.code, &found.json()["ok"]), (1, &json!(false)));
    assert_eq!(found.json()["first_bad"]["seq"], 1);
    assert!(machine.run(&["audit", "verify", "--checkpoint", kept]).stdout.contains("cut off"));
}
