//! `agents`: those of the file, and those that are made.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Child,
};

use serde_json::json;

use crate::{helper::Machine, http};

#[test]
fn agents_are_made_shown_and_removed() {
    let machine =
        Machine::configured("[agents.scribe]\ndescription = \"Writes\"\nmodel = \"demo\"\n");
    let folder = machine.path("workspace/own");
    fs::create_dir(&folder).unwrap();
    let ran = machine.run(&[
        "agents",
        "add",
        "tester",
        "--model",
        "demo",
        "--description",
        "Tries things",
        "--prompt",
        "Be brief.",
        "--workspace",
        "own",
        "--deny",
        "exec",
        "--settings",
        r#"{"max_tokens": 100}"#,
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stderr.contains("Agent `tester` is made."), "{ran:?}");
    let list = machine.run(&["agents", "list", "--json"]).json();
    let short = |id: usize| (list[id]["id"].clone(), list[id]["from"].clone());
    assert_eq!(short(0), (json!("main"), json!("configuration")));
    assert_eq!(short(1), (json!("scribe"), json!("configuration")));
    assert_eq!(short(2), (json!("tester"), json!("api")));
    assert_eq!(list[1]["settings"], json!({"description": "Writes", "model": "demo"}));
    let shown = machine.run(&["agents", "show", "tester", "--json"]).json();
    let settings = json!({
        "model": "demo", "description": "Tries things", "prompt": "Be brief.",
        "workspace": folder, "max_tokens": 100, "tools": {"deny": ["exec"]},
    });
    assert_eq!((&shown["settings"], &shown["owner"]), (&settings, &json!("owner")));
    let table = machine.run(&["agents", "list"]).stdout;
    assert!(table.contains("tester  Tries things"), "{table}");
    let page = machine.run(&["agents", "show", "tester"]).stdout;
    assert!(page.contains("prompt       Be brief."), "{page}");
    // It is there for every command, in its own folder, without what it was denied.
    let call = ["call", "write", r#"{"path": "a.txt", "content": "x"}"#, "--agent", "tester"];
    assert_eq!(machine.run(&call).code, 0);
    assert!(folder.join("a.txt").exists());
    let ran =
        machine.run(&["call", "exec", r#"{"command": "true"}"#, "--agent", "tester", "--yes"]);
    assert_eq!(ran.json()["error_type"], "tool_not_available");
    let ran = machine.run(&["agents", "remove", "tester"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(machine.run(&["agents", "list", "--json"]).json().as_array().unwrap().len(), 2);
}

#[test]
fn what_is_wrong_with_an_agent_is_said() {
    let machine = Machine::configured("[agents.scribe]\nmodel = \"demo\"\n");
    assert_eq!(machine.run(&["agents", "add", "tester", "--model", "demo"]).code, 0);
    for (args, expected) in [
        (&["agents", "show", "scrib"][..], "there is no agent `scrib`; did you mean `scribe`?"),
        (&["agents", "show", "x"], "`toolgate agents list` shows them"),
        (&["agents", "remove", "scribe"], "`scribe` is in the configuration; change it there"),
        (&["agents", "remove", "main"], "`main` is in the configuration; change it there"),
        (&["agents", "remove", "testr"], "no agent `testr` was made here; did you mean `tester`?"),
        (&["agents", "add", "scribe"], "`scribe` is in the configuration; change it there"),
        (&["agents", "add", "main"], "`main` is in the configuration; change it there"),
        (
            &["agents", "add", "tester"],
            "there is an agent `tester` already; `--replace` changes it",
        ),
        (&["agents", "add", "a b"], "`a b` cannot be the name of an agent"),
        (
            &["agents", "add", "b", "--settings", r#"{"modl": "x"}"#],
            "did you mean `agents.b.model`?",
        ),
        (&["agents", "add", "b", "--settings", "[]"], "`--settings` is no JSON object"),
        (
            &["agents", "add", "b", "--model", "demo", "--settings", r#"{"model": "demo"}"#],
            "`model` is given twice",
        ),
        (&["agents", "add", "b", "--workspace", "/nowhere"], "`/nowhere` is not a folder"),
    ] {
        let ran = machine.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
    let ran = machine.run(&["agents", "add", "tester", "--description", "New", "--replace"]);
    assert!(ran.stderr.contains("Agent `tester` is changed."), "{ran:?}");
    let shown = machine.run(&["agents", "show", "tester", "--json"]).json();
    assert_eq!(shown["settings"], json!({"description": "New"}));
}

#[test]
fn an_agent_whose_folder_is_gone_stops_nobody_else() {
    let machine = Machine::new();
    let folder = machine.path("workspace/own");
    fs::create_dir(&folder).unwrap();
    assert_eq!(machine.run(&["agents", "add", "a", "--workspace", "own"]).code, 0);
    fs::remove_dir(&folder).unwrap();
    let ran = machine.run(&["call", "get_current_time"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("an agent is left out: its folder"), "{ran:?}");
    // Whoever acts as it would have the rules of no agent.
    for command in [
        &["call", "get_current_time"][..],
        &["chat", "--message", "x"],
        &["mcp"],
        &["check", "call", r#"{"tool": "read"}"#],
        &["check", "path", "a.txt"],
        &["policy", "show"],
        &["policy", "explain", "read"],
        &["tools"],
    ] {
        let ran = machine.run(&[command, &["--agent", "a"]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command:?}: {ran:?}");
        assert!(ran.stderr.contains("agent `a` is left out"), "{command:?}: {ran:?}");
    }
}

#[test]
fn nobody_acts_as_an_agent_that_nobody_made() {
    let machine = Machine::configured("[agents.scribe.tools]\ndeny = [\"write\"]\n");
    assert_eq!(machine.run(&["agents", "add", "tester", "--model", "demo"]).code, 0);
    for (command, rest) in [
        ("call", &["write", r#"{"path": "a.txt", "content": "x"}"#][..]),
        ("chat", &["--message", "time"]),
        ("mcp", &[]),
        ("run", &["--keep", "--", "touch", "a.txt"]),
    ] {
        for (agent, expected) in [
            ("scrib", "there is no agent `scrib`; did you mean `scribe`?"),
            ("testr", "there is no agent `testr`; did you mean `tester`?"),
            ("Main", "there is no agent `Main`; did you mean `main`?"),
            ("x", "there is no agent `x`; `toolgate agents list` shows them"),
        ] {
            for folder in [&[][..], &["--workspace", "."]] {
                let ran = machine.run(&[&[command, "--agent", agent], folder, rest].concat());
                assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command}: {ran:?}");
                assert!(ran.stderr.contains(expected), "{command}: {ran:?}");
            }
        }
    }
    assert_eq!(machine.content("a.txt"), None);
    for agent in ["main", "scribe", "tester"] {
        for command in [&["call", "get_current_time"][..], &["mcp"]] {
            let ran = machine.run(&[command, &["--agent", agent]].concat());
            assert_eq!(ran.code, 0, "{command:?} {agent}: {ran:?}");
        }
    }
}

#[test]
fn a_server_that_runs_takes_over_what_is_made_and_removed() {
    let machine = Machine::new();
    let server = Serving::new(&machine);
    let known = || {
        let list = server.ask(("GET", "/v1/agents"), &[], "").json();
        list["agents"].as_array().unwrap().iter().any(|agent| agent["id"] == "tester")
    };
    assert!(!known());
    fs::create_dir(machine.path("workspace/own")).unwrap();
    assert_eq!(machine.run(&["agents", "add", "tester", "--workspace", "own"]).code, 0);
    machine.until("the server knows the agent", known);
    // It works in its own folder at once.
    let body = json!({"path": "a.txt", "content": "x"}).to_string();
    let wrote = server.ask(("POST", "/v1/tools/write"), &[("toolgate-agent", "tester")], &body);
    assert_eq!(wrote.status, 200, "{wrote:?}");
    assert_eq!(machine.content("own/a.txt").as_deref(), Some("x"));
    assert_eq!(machine.run(&["agents", "remove", "tester"]).code, 0);
    machine.until("the server has forgotten the agent", || !known());
}

#[test]
fn a_server_that_had_no_file_takes_over_the_first_one() {
    let machine = Machine::new();
    let server = Serving::new(&machine);
    let stat = || server.ask(("POST", "/v1/tools/stat"), &[], r#"{"path": "."}"#).status;
    assert_eq!(stat(), 200);
    let file = machine.path("config/toolgate/toolgate.toml");
    fs::write(&file, "[agents.scribe]\n[tools]\ndeny = [\"stat\"]\n").unwrap();
    machine.until("the file holds", || stat() == 404);
    // From now on it is a file that was there.
    fs::remove_file(&file).unwrap();
    assert_eq!(server.ask(("POST", "/v1/agents"), &[], r#"{"id": "tester"}"#).status, 201);
    assert_eq!(stat(), 404);
    let list = server.ask(("GET", "/v1/agents"), &[], "").json();
    let ids: Vec<_> = list["agents"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["main", "scribe", "tester"]);
}

/// A server that ends with its test.
struct Serving {
    child: Child,
    base: String,
    token: String,
}

impl Serving {
    fn new(machine: &Machine) -> Self {
        let mut child = machine.start(&["serve", "--listen", "127.0.0.1:0"]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut word = |wanted: &str, number: usize| {
            let line = lines.find(|line| line.contains(wanted)).unwrap();
            line.split_whitespace().nth(number).unwrap().to_owned()
        };
        let (base, token) = (word("listens on", 3), word("Token", 1));
        Self { child, base, token }
    }

    fn ask(&self, request: (&str, &str), headers: &[(&str, &str)], body: &str) -> http::Answer {
        http::send((&self.base, &self.token), request, headers, body).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_agent_that_was_made_keeps_its_rules_in_another_folder() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["agents", "add", "reader", "--deny", "write"]).code, 0);
    let folder = machine.path("workspace/sub");
    fs::create_dir(&folder).unwrap();
    let call = ["call", "write", r#"{"path":"a.txt","content":"x"}"#, "--agent", "reader"];
    for args in [&[][..], &["--workspace", folder.to_str().unwrap()]] {
        let refused = machine.run(&[&call, args].concat());
        assert_eq!(refused.json()["error_type"], "tool_not_available", "{args:?}");
    }
    assert!(!folder.join("a.txt").exists());
}

#[test]
fn what_an_agent_changed_is_taken_back_after_it_was_removed() {
    let machine = Machine::new();
    let folder = machine.path("own");
    fs::create_dir(&folder).unwrap();
    let own = folder.to_str().unwrap();
    assert_eq!(machine.run(&["agents", "add", "scribe", "--workspace", own]).code, 0);
    let write = ["call", "write", r#"{"path":"a.txt","content":"x"}"#, "--agent", "scribe"];
    let wrote = machine.run(&write).json();
    assert!(folder.join("a.txt").exists(), "{wrote}");
    assert_eq!(machine.run(&["agents", "remove", "scribe"]).code, 0);
    let ran = machine.run(&["undo", wrote["meta"]["call_id"].as_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!folder.join("a.txt").exists());
}
