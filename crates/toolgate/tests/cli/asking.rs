//! Questions to a person, and their answers.

use serde_json::json;

use crate::helper::{Machine, finish};

/// A machine with a file that may hold credentials, so that reading it asks.
fn with_secret() -> Machine {
    let machine = Machine::new();
    machine.file(".env", "KEY=1\n");
    machine
}

fn id(question: &serde_json::Value) -> &str {
    question["id"].as_str().unwrap()
}

#[test]
fn without_a_terminal_the_answer_is_no_at_once() {
    let machine = with_secret();
    let outcome = machine.call("read", &json!({"path": ".env"}));
    assert_eq!(outcome["error_type"], "permission_denied");
    assert_eq!(outcome["details"]["rule"], "approval.nobody");
    let list = machine.run(&["approvals", "list", "--json"]).json();
    assert_eq!(list, json!({"pending": [], "grants": []}));
}

#[test]
fn yes_answers_as_the_owner_and_is_recorded() {
    let machine = with_secret();
    let ran = machine.run(&["call", "read", r#"{"path":".env"}"#, "--yes"]);
    assert_eq!((ran.code, &ran.json()["result"]), (0, &json!("KEY=1\n")));
    let answered = &machine.run(&["approvals", "history", "--json"]).json()[0];
    assert_eq!(answered["answered_by"], "owner (--yes)");
    let entry = &machine.run(&["history", "--json"]).json()[0];
    assert_eq!(entry["approval"], answered["id"]);
    assert_eq!(entry["rule"], "smart.credentials");
}

#[test]
fn an_answer_can_come_from_another_process() {
    for (answer, code, expected) in [
        (&["allow"][..], 0, "KEY=1\n"),
        (&["deny", "--message", "use .env.example"], 1, "use .env.example"),
    ] {
        let machine = with_secret();
        let (call, question) = machine.start_asking("read", &json!({"path": ".env"}));
        assert_eq!((&question["tool"], &question["user"]), (&json!("read"), &json!("owner")));
        let shown = machine.run(&["approvals", "list"]).stdout;
        assert!(shown.contains("It would read `.env`"), "{shown}");
        let args = [&["approvals", answer[0], id(&question)], &answer[1..]].concat();
        assert_eq!(machine.run(&args).code, 0);
        let ran = finish(call);
        assert_eq!(ran.code, code, "{ran:?}");
        assert!(ran.json().to_string().contains(&expected.replace('\n', "\\n")), "{ran:?}");
        assert!(ran.stderr.contains(id(&question).get(..8).unwrap()), "{ran:?}");
        assert_eq!(machine.run(&args).code, 2, "an answer counts once");
    }
}

#[test]
fn a_question_nobody_answers_in_time_is_withdrawn() {
    let machine = with_secret();
    let ran = machine.run(&["call", "read", r#"{"path":".env"}"#, "--wait", "1s"]);
    assert_eq!((ran.code, &ran.json()["details"]["rule"]), (1, &json!("approval.timeout")));
    let list = machine.run(&["approvals", "list", "--json"]).json();
    assert_eq!(list["pending"], json!([]));
}

#[test]
fn an_answer_for_always_is_remembered_until_it_is_revoked() {
    let machine = with_secret();
    let (call, question) = machine.start_asking("read", &json!({"path": ".env"}));
    let wrong = machine.run(&["approvals", "allow", id(&question), "--always", "folder:/etc"]);
    assert_eq!(wrong.code, 2);
    let scope = question["scopes"][1].as_str().unwrap();
    assert!(scope.starts_with("folder:/") && scope.ends_with("/workspace"), "{scope}");
    assert!(wrong.stderr.contains(&format!("`exact`, `{scope}`")), "{wrong:?}");
    let always = ["approvals", "allow", id(&question), "--always", scope, "--expires", "30d"];
    assert_eq!(machine.run(&always).code, 0);
    assert_eq!(finish(call).code, 0);
    let shown = machine.run(&["approvals", "list"]).stdout;
    assert!(shown.contains("anything in the folder `/"), "{shown}");
    let read = || machine.call("read", &json!({"path": ".env"}))["status"].clone();
    assert_eq!(read(), "success");
    assert_eq!(machine.run(&["approvals", "revoke", id(&question)]).code, 0);
    assert_eq!(read(), "error");
    assert_eq!(machine.run(&["approvals", "revoke", id(&question)]).code, 2);
}

#[test]
fn an_answer_for_the_session_holds_in_it_alone() {
    let machine = with_secret();
    let (call, question) = machine.start_asking("read", &json!({"path": ".env"}));
    assert_eq!(machine.run(&["approvals", "allow", id(&question), "--session"]).code, 0);
    assert_eq!(finish(call).code, 0);
    let args = r#"{"path":".env"}"#;
    assert_eq!(machine.run(&["call", "read", args]).code, 0);
    assert_eq!(machine.run(&["call", "read", args, "--session", "other"]).code, 1);
}

#[test]
fn a_permission_can_be_taken_and_given_back() {
    let machine = with_secret();
    let read = || machine.call("ls", &json!({"path": "."}));
    assert_eq!(read()["status"], "success");
    assert_eq!(machine.run(&["permissions", "revoke", "files", "--for-good"]).code, 0);
    let refused = read();
    assert_eq!(refused["details"]["rule"], "permission.denied_for_good", "{refused}");
    let list = machine.run(&["permissions", "list", "--json"]).json();
    let files = list.as_array().unwrap().iter().find(|row| row["capability"] == "files").unwrap();
    assert_eq!((&files["agent"], &files["state"]), (&json!("main"), &json!("denied_for_good")));
    let hint = refused["message"].as_str().unwrap();
    assert!(hint.contains("`toolgate permissions grant files --agent main`"), "{hint}");
    assert_eq!(machine.run(&["permissions", "grant", "files"]).code, 0);
    assert_eq!(read()["status"], "success");
    assert_eq!(machine.run(&["permissions", "reset", "files"]).code, 0);
    let asked = read();
    assert_eq!(asked["details"]["rule"], "approval.nobody", "{asked}");
}

#[test]
fn permissions_list_shows_defaults_of_every_configured_agent() {
    let machine = Machine::configured("[agents.bob.tools]\ndeny = [\"write\"]\n");
    let list = machine.run(&["permissions", "list", "--json"]).json();
    let state = |agent: &str, capability: &str| {
        let rows = list.as_array().unwrap().iter();
        let mut rows = rows.filter(|row| row["agent"] == agent && row["capability"] == capability);
        rows.next().unwrap()["state"].clone()
    };
    for agent in ["bob", "main"] {
        assert_eq!((state(agent, "files"), state(agent, "exec")), (json!("granted"), json!("ask")));
    }
}
