//! The command line of the protocol's inspector lists and calls real tools of real processes.

use std::{fs, process::Output, thread};

use serde_json::Value;

use crate::{
    packages::{node, package},
    person::{Person, Surface},
};

/// The revision with sessions, and the stateless one.
const ERAS: [&str; 2] = ["legacy", "modern"];

/// How the inspector is told where to go: before what it is to do, and after.
type Way = (Vec<String>, Vec<String>);

#[test]
fn the_inspector_lists_and_calls_and_waits_for_an_answer_given_elsewhere() {
    let person = Person::new();
    fs::write(person.workspace().join("notes.txt"), "Charles\n").unwrap();
    for (number, (era, way)) in
        ERAS.iter().flat_map(|era| ways(&person).map(|way| (era, way))).enumerate()
    {
        let inspect = |args: &[&str]| inspected(&person, (era, &way), args);
        let call = |tool: &str, args: &[&str]| {
            let to = ["--method", "tools/call", "--tool-name", tool];
            let args = args.iter().flat_map(|arg| ["--tool-arg", arg]);
            inspect(&to.into_iter().chain(args).collect::<Vec<_>>())
        };
        let listed = inspect(&["--method", "tools/list", "--strict"]);
        let tools = listed["tools"].as_array().unwrap();
        let exec = tools.iter().find(|tool| tool["name"] == "exec").unwrap();
        assert_eq!(exec["annotations"]["destructiveHint"], true, "{era} {way:?}");
        assert_eq!(call("read", &["path=notes.txt"])["content"][0]["text"], "Charles\n");
        assert_eq!(call("read", &["path=missing.txt"])["isError"], true);
        let tasks = &call("list_tasks", &[])["structuredContent"]["tasks"];
        assert!(tasks.is_array(), "{tasks}");
        for (answer, pointer, expected) in [
            ("allow", "/structuredContent/stdout", "inspected"),
            ("deny", "/content/0/text", "permission_denied"),
        ] {
            let command = format!("echo inspected {number} {answer}");
            let called = thread::scope(|scope| {
                let calling = scope.spawn(|| call("exec", &[&format!("command={command}")]));
                person.answer(&command, Surface::CommandLine, answer);
                calling.join().unwrap()
            });
            let found = called.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            assert!(found.contains(expected), "{era} {way:?}: {called}");
        }
    }
}

/// To the server, and to a process of its own.
fn ways(person: &Person) -> [Way; 2] {
    let token = format!("Authorization: Bearer {}", person.token(&["call"]));
    let http = [&person.url(), "--transport", "http", "--header", &token].map(str::to_owned);
    let own = person.own_process(&[])["command"].as_array().unwrap().clone();
    let own = own.iter().map(|word| word.as_str().unwrap().to_owned());
    [(http.to_vec(), Vec::new()), (Vec::new(), ["--".to_owned()].into_iter().chain(own).collect())]
}

/// What it printed as the result.
fn inspected(person: &Person, (era, (before, after)): (&str, &Way), args: &[&str]) -> Value {
    let script = package("@modelcontextprotocol/inspector").join("clients/launcher/build/index.js");
    let Output { status, stdout, stderr } = node(&script)
        .arg("--cli")
        .args(before)
        .args(["--protocol-era", era, "--format", "json"])
        .args(args)
        .args(after)
        // It keeps files of its own there.
        .env("HOME", person.folder())
        .current_dir(person.workspace())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&stdout);
    let wrong = String::from_utf8_lossy(&stderr);
    let printed: Value = serde_json::from_str(&said).unwrap_or_default();
    assert!(printed["result"].is_object(), "{era} {args:?}: {status}\n{said}\n{wrong}");
    printed["result"].clone()
}
