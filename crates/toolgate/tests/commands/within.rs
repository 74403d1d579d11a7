//! Commands that want to decide about themselves.

use std::path::Path;

use libtest_mimic::Trial;
use serde_json::json;

use crate::{cli::Machine, helper::plain};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        plain("a_command_cannot_answer_a_question", a_command_cannot_answer_a_question),
        plain("a_command_cannot_change_what_was_decided", a_command_cannot_change_what_was_decided),
        plain("a_command_on_the_host_is_nobody", a_command_on_the_host_is_nobody),
        plain("a_command_does_not_see_our_data_in_its_workspace", our_data_is_not_seen),
    ]
}

/// A machine on which commands can see and run this very program.
fn machine() -> Machine {
    let program = Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().unwrap();
    let read = program.display().to_string();
    let machine = Machine::configured(&format!("[tools.sandbox]\nread = [{read:?}]\n"));
    assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
    machine.file(".env", "KEY=1\n");
    machine
}

/// Runs our own program inside, with our own data folder, and gives its exit code and output.
fn inside(machine: &Machine, args: &str) -> (i64, String) {
    let (program, data) = (env!("CARGO_BIN_EXE_toolgate"), machine.path("data/toolgate"));
    let command = format!("{program} {args} --data '{}'", data.display());
    let outcome = machine.call("exec", &json!({"command": command}));
    assert_eq!(outcome["status"], "success", "{outcome}");
    let code = outcome["result"]["exitCode"].as_i64().unwrap();
    (code, outcome["result"]["aggregated"].as_str().unwrap().to_owned())
}

fn a_command_cannot_answer_a_question() {
    let machine = machine();
    let version = inside(&machine, "--version; true");
    assert!(version.1.contains("toolgate"), "the program is there: {version:?}");
    let (mut call, question) = machine.start_asking("read", &json!({"path": ".env"}));
    let id = question["id"].as_str().unwrap();
    for args in [
        format!("approvals allow {id}"),
        format!("approvals allow {id} --always"),
        format!("approvals deny {id}"),
    ] {
        let (code, said) = inside(&machine, &args);
        assert_ne!(code, 0, "{args}: {said}");
    }
    let (_, said) = inside(&machine, "approvals list");
    assert!(!said.contains(id), "{said}");
    let list = machine.run(&["approvals", "list", "--json"]).json();
    assert_eq!(list["pending"][0]["id"], id, "it is still open: {list}");
    assert_eq!(list["grants"], json!([]));
    assert_eq!(machine.run(&["approvals", "deny", id]).code, 0);
    assert_eq!(call.wait().unwrap().code(), Some(1));
}

fn a_command_cannot_change_what_was_decided() {
    let machine = machine();
    let before = machine.run(&["permissions", "list", "--json"]).json();
    for args in [
        "permissions grant network --agent other",
        "permissions revoke exec",
        "call write '{\"path\":\"x\",\"content\":\"x\"}' --yes",
        "call read '{\"path\":\".env\"}' --yes",
        "call exec '{\"command\":\"true\",\"background\":true}' --yes",
        "run --keep -- touch y",
    ] {
        // It may believe that it has done so, in a world of its own.
        inside(&machine, args);
    }
    assert_eq!(machine.run(&["permissions", "list", "--json"]).json(), before);
    let history = machine.run(&["history", "--json"]).json();
    let tools: Vec<_> =
        history.as_array().unwrap().iter().map(|entry| &entry["tool_name"]).collect();
    assert!(tools.iter().all(|tool| **tool == json!("exec")), "{tools:?}");
    assert!(machine.run(&["audit", "verify"]).code == 0);
}

fn a_command_on_the_host_is_nobody() {
    let machine = Machine::configured("[tools]\nask = \"auto\"\n[tools.exec]\nhost = \"host\"\n");
    assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
    machine.file("x", "old");
    let write = json!({"path": "x", "content": "new"});
    let undoable = machine.call("write", &write)["meta"]["call_id"].as_str().unwrap().to_owned();
    for args in [
        "permissions grant network --agent other".to_owned(),
        "permissions revoke exec".to_owned(),
        "approvals allow 7f8f6a34".to_owned(),
        format!("undo {undoable}"),
        "policy suggest --accept 1".to_owned(),
        "emergency stop".to_owned(),
        "emergency resume".to_owned(),
        "emergency override --for 1m --reason x".to_owned(),
        "call get_current_time {} --yes".to_owned(),
        "agents add other".to_owned(),
        "agents remove main".to_owned(),
        "sessions remove main".to_owned(),
        "tokens add --name x".to_owned(),
    ] {
        // Also where nobody of its family is left.
        for way in ["", "setsid --wait "] {
            let program = env!("CARGO_BIN_EXE_toolgate");
            let data = machine.path("data/toolgate").display().to_string();
            let command = format!("{way}{program} {args} --data '{data}'");
            let outcome = machine.call("exec", &json!({"command": command}));
            assert_eq!(outcome["meta"]["place"], "host", "{outcome}");
            assert_eq!(outcome["result"]["exitCode"], 2, "{outcome}");
            let said = outcome["result"]["stderr"].as_str().unwrap();
            assert!(said.contains("inside a command of an agent"), "{said}");
        }
    }
    assert_eq!(machine.content("x").as_deref(), Some("new"));
}

fn our_data_is_not_seen() {
    let machine = machine();
    let data = machine.path("workspace/data").display().to_string();
    let of_ours = |args: &[&str]| machine.run(&[args, &["--data", &data]].concat());
    assert_eq!(of_ours(&["permissions", "grant", "exec"]).code, 0);
    let program = env!("CARGO_BIN_EXE_toolgate");
    for command in [
        "ls -A data | grep .".to_owned(),
        "cat data/journal.db".to_owned(),
        "touch data/x".to_owned(),
        "mv data elsewhere".to_owned(),
        "rm -r data".to_owned(),
        format!("{program} permissions grant network --agent other --data data"),
    ] {
        let outcome = of_ours(&["call", "exec", &json!({"command": command}).to_string()]).json();
        let result = &outcome["result"];
        assert_ne!(result["exitCode"], 0, "{command}: {outcome}");
        assert_eq!((&result["stdout"], &result["changed"]), (&json!(""), &json!([])), "{outcome}");
    }
    let listed = of_ours(&["permissions", "list", "--json"]).json();
    assert!(!listed.to_string().contains("other"), "{listed}");
    assert_eq!(of_ours(&["audit", "verify"]).code, 0);
}
