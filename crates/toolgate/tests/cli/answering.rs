//! Who answers, and what an answer is worth.

use serde_json::{Value, json};

use crate::helper::{Machine, finish};

const READ: &str = r#"{"path":".env"}"#;

fn with_secret(config: &str) -> Machine {
    let machine = Machine::configured(config);
    machine.file(".env", "KEY=1\n");
    machine
}

fn id(question: &Value) -> &str {
    question["id"].as_str().unwrap()
}

/// What people type.
fn short(question: &Value) -> &str {
    id(question).get(..8).unwrap()
}

/// A question whose process was killed.
fn left_behind(machine: &Machine, wait: &str) -> Value {
    let mut child = machine.start(&["call", "read", READ, "--wait", wait]);
    let question = machine.question();
    child.kill().unwrap();
    child.wait().unwrap();
    question
}

/// Advisories approval-010 and approval-015.
#[test]
fn a_question_outlives_its_process_and_is_used_once() {
    let machine = with_secret("");
    let question = left_behind(&machine, "2m");
    // Whoever starts next puts in order what was left; the question stays.
    assert_eq!(machine.run(&["call", "get_current_time"]).code, 0);
    let listed = machine.run(&["approvals", "list"]).stdout;
    assert!(listed.contains("The process that asked has ended"), "{listed}");
    assert_eq!(machine.run(&["approvals", "allow", short(&question)]).code, 0);
    // Another call is not covered, the same one is, once.
    assert_eq!(machine.run(&["call", "read", READ, "--session", "other"]).code, 1);
    assert_eq!(machine.call("read", &json!({"path": ".env", "limit": 1}))["status"], "error");
    let first = machine.call("read", &json!({"path": ".env"}));
    assert_eq!(first["result"], "KEY=1\n", "{first}");
    assert_eq!(machine.run(&["call", "read", READ]).code, 1);
    let used = machine.run(&["approvals", "show", id(&question), "--json"]).json();
    assert_eq!(used["used_by"], first["meta"]["call_id"]);
}

#[test]
fn a_question_that_was_left_behind_is_asked_on() {
    let machine = with_secret("");
    let question = left_behind(&machine, "2m");
    let (call, again) = machine.start_asking("read", &json!({"path": ".env"}));
    machine.until("the call waits for the same question", || {
        machine.run(&["approvals", "show", id(&question), "--json"]).json()["waiting"] == true
    });
    assert_eq!(id(&again), id(&question));
    assert_eq!(machine.run(&["approvals", "allow", id(&question)]).code, 0);
    assert_eq!(finish(call).code, 0);
}

#[test]
fn what_expired_or_was_revoked_never_allows() {
    let machine = with_secret("");
    let question = left_behind(&machine, "2m");
    machine.run(&["call", "get_current_time"]);
    assert_eq!(machine.run(&["approvals", "allow", id(&question)]).code, 0);
    assert_eq!(machine.run(&["approvals", "revoke", id(&question)]).code, 0);
    assert_eq!(machine.run(&["call", "read", READ]).code, 1);

    let question = left_behind(&machine, "1s");
    machine.until("its time is up", || {
        machine.run(&["approvals", "show", id(&question), "--json"]).json()["status"] == "expired"
    });
    let late = machine.run(&["approvals", "allow", id(&question)]);
    assert!(late.code == 2 && late.stderr.contains("is expired already"), "{late:?}");
    assert_eq!(machine.run(&["call", "read", READ]).code, 1);
}

/// Advisory approval-014: by id, not by any other name.
#[test]
fn only_the_owner_and_those_they_named_answer() {
    let machine = with_secret("[tools]\napprovers = [\"ada\", \"bo\"]\nprofile = \"full\"\n");
    for user in ["ada", "bo"] {
        assert_eq!(machine.run(&["users", "add", user]).code, 0);
    }
    let args = ["call", "read", READ, "--user", "bo", "--wait", "2m"];
    let call = machine.start(&args);
    let question = machine.question();
    for (user, expected) in [
        ("eve", "`eve` may not answer questions"),
        ("Ada", "`Ada` may not answer questions"),
        ("bo", "`bo` may not answer about a call of their own"),
    ] {
        let refused = machine.run(&["approvals", "allow", id(&question), "--user", user]);
        assert!(refused.code == 2 && refused.stderr.contains(expected), "{refused:?}");
    }
    let answered = machine.run(&["approvals", "deny", id(&question), "--user", "ada"]);
    assert_eq!(answered.code, 0, "{answered:?}");
    let outcome = finish(call).json();
    assert!(outcome["message"].as_str().unwrap().contains("denied by ada"), "{outcome}");
}

#[test]
fn of_two_answers_at_once_one_counts() {
    for _ in 0..5 {
        let machine = with_secret("");
        let (call, question) = machine.start_asking("read", &json!({"path": ".env"}));
        let yes = machine.start(&["approvals", "allow", id(&question)]);
        let no = machine.start(&["approvals", "deny", id(&question)]);
        let (yes, no) = (finish(yes), finish(no));
        assert_eq!(yes.code.min(no.code), 0, "{yes:?} {no:?}");
        assert_eq!(yes.code.max(no.code), 2, "{yes:?} {no:?}");
        assert_eq!(finish(call).code == 0, yes.code == 0);
    }
}

#[test]
fn a_scope_is_meant_by_its_kind() {
    let machine = with_secret("");
    let (call, question) = machine.start_asking("read", &json!({"path": ".env"}));
    let wrong = machine.run(&["approvals", "allow", id(&question), "--always", "host"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("none of the scopes"), "{wrong:?}");
    assert_eq!(machine.run(&["approvals", "allow", id(&question), "--always", "folder"]).code, 0);
    assert_eq!(finish(call).code, 0);
    assert_eq!(machine.run(&["call", "read", READ]).code, 0);
}
