//! The official Python client talks to real processes about real tools.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use serde_json::{Value, json};

use crate::{
    person::{Person, Surface},
    sdk::installed,
    tools::PIXEL_BYTES,
};

/// Every revision that the client speaks, and what it finds out by itself; and whether people can be asked in it.
const REVISIONS: [(&str, &str, Forms); 6] = [
    ("auto", "2026-07-28", Forms::Shown),
    ("2026-07-28", "2026-07-28", Forms::Shown),
    ("2025-11-25", "2025-11-25", Forms::Shown),
    ("2025-06-18", "2025-06-18", Forms::Shown),
    ("2025-03-26", "2024-11-05", Forms::Unknown),
    ("2024-11-05", "2024-11-05", Forms::Unknown),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Forms {
    Shown,
    /// The revision does not have them.
    Unknown,
}

type Case = (&'static str, Value, &'static str, &'static str);

/// Says something, and never ends.
const ENDLESS: &str = "echo it has begun; sleep 600";

static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| installed().unwrap().join("venv/bin/python"));

/// What is called, and something that must stand in what comes back.
fn calls(forms: Forms) -> Vec<Case> {
    let long = format!("echo this is fine # {}", "and long ".repeat(300));
    let mut cases = vec![
        ("read", json!({"path": "notes.txt"}), "/content/0/text", "Charles"),
        ("read", json!({"path": "pixel.png"}), "/content", "iVBORw0KGgo"),
        ("read", json!({"path": "missing.txt"}), "/isError", "true"),
        ("read", json!({"path": "missing.txt"}), "/content/0/text", "file_not_found"),
        ("list_tasks", json!({}), "/structuredContent", r#"{"tasks":[]}"#),
        ("nonesuch", json!({}), "/error/code", "-32602"),
        ("exec", json!({"command": "echo this is fine"}), "/structuredContent/stdout", "is fine"),
        ("exec", json!({"command": long}), "/structuredContent/exitCode", "0"),
        ("exec", json!({"command": "echo nope"}), "/content/0/text", "permission_denied"),
    ];
    cases.retain(|(tool, ..)| forms == Forms::Shown || *tool != "exec");
    cases
}

#[test]
fn the_python_client_lists_calls_and_answers_over_http() {
    let person = Person::new();
    let place = json!({"url": person.url(), "token": person.token(&["call", "elicit"])});
    everything(&person, &place);
}

#[test]
fn the_python_client_lists_calls_and_answers_over_standard_input_and_output() {
    let person = Person::new();
    everything(&person, &person.own_process(&[]));
}

fn everything(person: &Person, place: &Value) {
    fs::write(person.workspace().join("notes.txt"), "Charles\n").unwrap();
    fs::write(person.workspace().join("pixel.png"), PIXEL_BYTES).unwrap();
    let config = person.config();
    let now = fs::read_to_string(&config).unwrap();
    let then = format!("{now}tools.deny = [\"write\"]\n");
    for (number, (revision, agreed, forms)) in REVISIONS.into_iter().enumerate() {
        let endless = format!("{ENDLESS}; echo {number}");
        let calls: Vec<_> =
            calls(forms).iter().map(|(tool, args, ..)| json!([tool, args])).collect();
        let mut talk = json!({"revision": revision, "calls": calls, "config": [config, now, then]});
        if forms == Forms::Shown {
            talk["elicits"] = json!(true);
            talk["endless"] = json!(["exec", {"command": endless}]);
        }
        let seen = talked(&mut talk, place);
        fs::write(&config, &now).unwrap();
        assert_eq!(seen["revision"], agreed, "{revision}");
        check(&seen, forms);
        if forms == Forms::Shown {
            check_asked(&seen, &endless);
            person.wait_for(&endless, "cancelled");
        }
    }
    assert!(person.printed(&["audit", "verify"]).starts_with("ok"), "the journal is not whole");
}

fn check(seen: &Value, forms: Forms) {
    let tools = &seen["tools"];
    assert_eq!(tools["read"]["annotations"]["readOnlyHint"], true, "{tools}");
    assert_eq!(tools["exec"]["annotations"]["destructiveHint"], true);
    assert_eq!(tools["list_tasks"]["outputSchema"]["required"], json!(["tasks"]));
    for (number, (tool, args, pointer, expected)) in calls(forms).into_iter().enumerate() {
        let result = &seen["results"][number];
        let found =
            result.pointer(pointer).unwrap_or(&Value::Null).to_string().replace("\\\"", "\"");
        assert!(found.contains(expected), "{tool} {args}: {result}");
    }
    let left = seen["left"].as_array().unwrap();
    assert!(tools["write"].is_object() && !left.contains(&json!("write")), "{left:?}");
}

fn check_asked(seen: &Value, endless: &str) {
    // All of every command was shown, and nothing else was asked about.
    let commands = calls(Forms::Shown)
        .into_iter()
        .filter_map(|(_, args, ..)| Some(args.get("command")?.as_str()?.to_owned()));
    let commands: Vec<_> = commands.chain([endless.to_owned()]).collect();
    let asked = seen["asked"].as_array().unwrap();
    assert_eq!(asked.len(), commands.len(), "{asked:?}");
    for (asked, command) in asked.iter().zip(commands) {
        assert!(asked.as_str().unwrap().contains(&command), "{asked}");
    }
    // What it says comes in pieces, and the first one is enough.
    let told = seen["told"][0].as_str().unwrap();
    assert!("it has begun\n".starts_with(told) && !told.is_empty(), "{told}");
}

#[test]
fn what_the_client_cannot_ask_is_answered_elsewhere() {
    let person = Person::new();
    // A client that asks nobody, and one that may not.
    let quiet = json!({"url": person.url(), "token": person.token(&["call", "elicit"])});
    let not_trusted = json!({"url": person.url(), "token": person.token(&["call"])});
    let own = person.own_process(&[]);
    let mut number = 0;
    for revision in ["2026-07-28", "2025-11-25"] {
        for (place, elicits) in [(&quiet, false), (&not_trusted, true), (&own, false)] {
            for (surface, expected) in [(Surface::Http, "once"), (Surface::CommandLine, "once")] {
                number += 1;
                let command = format!("echo {expected} {number}");
                let mut talk = json!({
                    "revision": revision, "elicits": elicits,
                    "calls": [["exec", {"command": command}]],
                });
                let seen = std::thread::scope(|scope| {
                    let talking = scope.spawn(|| talked(&mut talk, place));
                    person.answer(&command, surface, "allow");
                    talking.join().unwrap()
                });
                let said = &seen["results"][0]["structuredContent"]["stdout"];
                assert_eq!(said, &format!("{expected} {number}\n"), "{revision} {place}: {seen}");
                assert_eq!(seen["asked"], json!([]), "{revision} {place}");
            }
        }
    }
}

#[test]
fn where_nobody_can_answer_the_answer_is_no_at_once() {
    let person = Person::alone();
    let place = person.own_process(&[]);
    for revision in ["2026-07-28", "2025-11-25"] {
        let mut talk = json!({"revision": revision, "calls": [["exec", {"command": "echo nope"}]]});
        let seen = talked(&mut talk, &place);
        let said = seen["results"][0]["content"][0]["text"].as_str().unwrap();
        for part in ["permission_denied", "no `toolgate serve` runs"] {
            assert!(said.contains(part), "{said}");
        }
    }
}

/// What the client saw.
fn talked(talk: &mut Value, place: &Value) -> Value {
    let talk = talk.as_object_mut().unwrap();
    talk.extend(place.as_object().unwrap().clone());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/client.py");
    let mut command = Command::new(&*PYTHON);
    command.arg(script).arg(json!(talk).to_string()).stdin(Stdio::null());
    let done = command.output().unwrap();
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{talk:?}\n{wrong}");
    serde_json::from_slice(&done.stdout).unwrap()
}
