//! Less asking over time.

use serde_json::{Value, json};

use crate::helper::{Machine, finish};

/// A machine with files that may hold credentials, so that reading them asks.
fn machine() -> Machine {
    let machine = Machine::new();
    for name in [".env", ".env.local", ".env.test", ".env.next"] {
        machine.file(name, "KEY=1\n");
    }
    machine
}

/// Reads a file, with this answer of a person's.
fn read(machine: &Machine, path: &str, answer: &[&str]) {
    let (call, question) = machine.start_asking("read", &json!({"path": path}));
    let id = question["id"].as_str().unwrap();
    let ran = machine.run(&[&["approvals", answer[0], id], &answer[1..]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    finish(call);
}

fn suggested(machine: &Machine) -> Value {
    machine.run(&["policy", "suggest", "--json"]).json()
}

fn status(machine: &Machine, path: &str) -> Value {
    machine.call("read", &json!({"path": path}))["status"].clone()
}

/// A machine on which reading any of three files was allowed.
fn habit() -> Machine {
    let machine = machine();
    for path in [".env", ".env.local", ".env.test"] {
        read(&machine, path, &["allow"]);
    }
    machine
}

#[test]
fn what_was_always_approved_is_proposed() {
    assert_eq!(suggested(&machine()), json!([]));
    let machine = habit();
    let found = suggested(&machine);
    let scope = found[0]["scope"].as_str().unwrap();
    assert!(scope.starts_with("folder:/") && scope.ends_with("/workspace"), "{found}");
    assert_eq!(found[0]["covers"].as_array().unwrap().len(), 3);
    let shown = machine.run(&["policy", "suggest"]).stdout;
    for part in ["anything in the folder `/", "read `.env.local`", "--accept 1"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(status(&machine, ".env.next"), "error", "nothing changes until it is accepted");
    for wrong in [&["--accept", "2"], &["--accept", "0"], &["--expires", "30d"]] {
        assert_eq!(machine.run(&[&["policy", "suggest"], &wrong[..]].concat()).code, 2);
    }
}

#[test]
fn an_accepted_proposal_is_recorded_and_can_be_revoked() {
    let machine = habit();
    let scope = suggested(&machine)[0]["scope"].clone();
    let accepted = machine.run(&["policy", "suggest", "--accept", "1", "--expires", "30d"]);
    assert_eq!(accepted.code, 0, "{accepted:?}");
    assert_eq!(status(&machine, ".env.next"), "success");
    assert_eq!(suggested(&machine), json!([]), "it is settled");
    let entry = &machine.run(&["history", "--tool", "policy", "--json"]).json()[0];
    assert_eq!((&entry["status"], &entry["input"]["scope"]), (&json!("success"), &scope));
    let grant = machine.run(&["approvals", "list", "--json"]).json()["grants"][0].clone();
    assert_eq!(grant["granted_by"], "owner (policy suggest)");
    assert_ne!(grant["expires_at"], Value::Null);
    let id = grant["id"].as_str().unwrap();
    assert!(accepted.stderr.contains(&format!("revoke {id}")), "{accepted:?}");
    assert_eq!(machine.run(&["approvals", "revoke", id]).code, 0);
    assert_eq!(status(&machine, ".env.next"), "error");
}

#[test]
fn one_no_is_enough_to_propose_nothing_it_falls_under() {
    let machine = habit();
    read(&machine, ".env.next", &["deny"]);
    assert_eq!(suggested(&machine), json!([]));
    read(&machine, ".env", &["allow"]);
    read(&machine, ".env", &["allow"]);
    let found = suggested(&machine);
    assert_eq!((&found[0]["scope"], found.as_array().unwrap().len()), (&Value::Null, 1));
    let others = &found[0]["does_not_cover"];
    assert_eq!(others.as_array().unwrap().len(), 3);
    assert_eq!(
        (&others[0]["what"], &others[0]["answer"]),
        (&json!("read `.env.next`"), &json!("denied"))
    );
    let shown = machine.run(&["policy", "suggest"]).stdout;
    assert!(shown.contains("exactly this call (read `.env`)"), "{shown}");
    assert!(shown.contains("read `.env.next`  denied"), "{shown}");
    assert_eq!(machine.run(&["policy", "suggest", "--accept", "1"]).code, 0);
    assert_eq!(
        (status(&machine, ".env"), status(&machine, ".env.test")),
        (json!("success"), json!("error"))
    );
}

#[test]
fn answers_for_a_session_are_answers_too() {
    let machine = machine();
    for path in [".env", ".env.local", ".env.test"] {
        read(&machine, path, &["allow", "--session"]);
    }
    let before = machine.run(&["approvals", "history", "--json"]).json();
    assert_eq!(machine.run(&["policy", "suggest", "--accept", "1"]).code, 0);
    assert_eq!(status(&machine, ".env.next"), "success");
    assert_eq!(suggested(&machine), json!([]));
    // Each of the three has led to a grant of its own, so this one has a question of its own.
    let after = machine.run(&["approvals", "history", "--json"]).json();
    assert_eq!(after.as_array().unwrap().len(), before.as_array().unwrap().len() + 1);
    assert_eq!(after[0]["answered_by"], "owner (policy suggest)");
    let id = after[0]["id"].as_str().unwrap();
    assert_eq!(machine.run(&["approvals", "revoke", id]).code, 0);
    assert_eq!(suggested(&machine).as_array().unwrap().len(), 1);
}
