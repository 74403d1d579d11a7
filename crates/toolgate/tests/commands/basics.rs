//! What a command gives back.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::helper::{Setup, error, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_command_gives_back_all_that_came_of_it", a_command_gives_back_all_that_came_of_it),
        trial("an_exit_code_is_a_result", an_exit_code_is_a_result),
        trial("a_command_starts_where_it_is_told_to", a_command_starts_where_it_is_told_to),
        trial("wrong_arguments_are_refused", wrong_arguments_are_refused),
        trial("what_was_called_is_recorded", what_was_called_is_recorded),
    ]
}

async fn a_command_gives_back_all_that_came_of_it() {
    let setup = Setup::new().await;
    setup.file("old.txt", "old\n");
    setup.file("gone.txt", "gone\n");
    let command = "echo out; echo err >&2; echo new > new.txt; echo more >> old.txt; rm gone.txt";
    // Both names mean the same tool.
    let outcome = setup.call("bash", json!({"command": command})).await;
    let result = &outcome["result"];
    for (field, expected) in [
        ("status", json!("completed")),
        ("exitCode", json!(0)),
        ("stdout", json!("out\n")),
        ("stderr", json!("err\n")),
        ("timedOut", json!(false)),
        ("cwd", json!(".")),
        ("place", json!("sandbox")),
        ("notes", json!([])),
        (
            "changed",
            json!([
                {"path": "gone.txt", "change": "deleted"},
                {"path": "new.txt", "change": "created"},
                {"path": "old.txt", "change": "modified"},
            ]),
        ),
    ] {
        assert_eq!(sorted(&result[field]), expected, "{field}: {outcome}");
    }
    assert!(result["durationMs"].as_u64().is_some_and(|took| took < 60_000), "{outcome}");
    let both = result["aggregated"].as_str().unwrap();
    assert!(["out\nerr\n", "err\nout\n"].contains(&both), "{outcome}");
    let meta = &outcome["meta"];
    assert_eq!((&meta["place"], &meta["effects"]), (&json!("sandbox"), &json!(["write"])));
    assert_eq!(sorted(&meta["changed"]), sorted(&result["changed"]));
    assert!(meta["usage"]["cpuMs"].is_u64(), "{outcome}");
    assert!(meta["usage"]["maxRssBytes"].as_u64().unwrap() > 100_000, "{outcome}");
    assert_eq!(setup.text("new.txt").as_deref(), Some("new\n"));
    assert_eq!(setup.text("old.txt").as_deref(), Some("old\nmore\n"));
    assert_eq!(setup.text("gone.txt"), None);
}

/// A list in the order of its paths; anything else as it is.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(list) = value.as_array_mut() {
        list.sort_by_key(|entry| entry["path"].to_string());
    }
    value
}

async fn an_exit_code_is_a_result() {
    let setup = Setup::new().await;
    for (command, code, signal) in [
        ("exit 3", json!(3), Value::Null),
        ("false", json!(1), Value::Null),
        ("no-such-program-anywhere", json!(127), Value::Null),
        ("kill -TERM $$", Value::Null, json!(15)),
        ("kill -KILL $$", Value::Null, json!(9)),
        ("(exit 255)", json!(255), Value::Null),
    ] {
        let outcome = setup.sh(command).await;
        assert_eq!(outcome["status"], "success", "{command}: {outcome}");
        let result = &outcome["result"];
        assert_eq!((&result["exitCode"], &result["signal"]), (&code, &signal), "{command}");
    }
    // It failed, and what it did before stays.
    let outcome = setup.sh("echo half > half.txt; exit 1").await;
    assert_eq!(outcome["result"]["exitCode"], 1);
    assert_eq!(setup.text("half.txt").as_deref(), Some("half\n"));
}

async fn a_command_starts_where_it_is_told_to() {
    let setup = Setup::new().await;
    setup.file("a/b/here.txt", "");
    let root = setup.path("").canonicalize().unwrap();
    for (workdir, beneath) in [(".", ""), ("a", "a"), ("a/b", "a/b"), ("a/../a/b/", "a/b")] {
        let outcome = setup.call("exec", json!({"command": "pwd", "workdir": workdir})).await;
        let expected = format!("{}\n", root.join(beneath).display());
        let expected = expected.replace("/\n", "\n");
        assert_eq!(outcome["result"]["stdout"], expected.as_str(), "{workdir}: {outcome}");
    }
    setup.sh("mkdir /tmp/mine").await;
    let outcome = setup.call("exec", json!({"command": "pwd", "workdir": "/tmp/mine"})).await;
    assert_eq!(outcome["result"]["stdout"], "/tmp/mine\n", "{outcome}");
    let outcome = setup.call("exec", json!({"command": "touch new", "cwd": "a/b"})).await;
    assert_eq!(outcome["meta"]["changed"][0]["path"], "a/b/new", "{outcome}");
}

async fn wrong_arguments_are_refused() {
    let setup = Setup::new().await;
    setup.file("file.txt", "");
    std::os::unix::fs::symlink("/etc", setup.path("etc")).unwrap();
    for (args, expected) in [
        (json!({"command": ""}), "validation_error: "),
        (json!({"command": "  \n"}), "validation_error: "),
        (json!({}), "validation_error: "),
        (json!({"command": "true", "env": {"A B": "1"}}), "validation_error: "),
        (json!({"command": "true", "env": {"": "1"}}), "validation_error: "),
        (json!({"command": "true", "env": {"LD_PRELOAD": "x"}}), "validation_error: "),
        (json!({"command": "true", "env": {"PATH": "."}}), "validation_error: "),
        (json!({"command": "true", "timeout": 0}), "validation_error: "),
        (json!({"command": "true", "yieldMs": 1}), "validation_error: "),
        (json!({"command": "true", "unknown": 1}), "validation_error: "),
        (json!({"command": "true", "workdir": "nowhere"}), "file_not_found: "),
        (json!({"command": "true", "workdir": "file.txt"}), "execution_error: "),
        (json!({"command": "true", "workdir": "../out"}), "path_not_allowed: "),
        (json!({"command": "true", "workdir": "/etc"}), "path_not_allowed: "),
        (json!({"command": "true", "workdir": "etc"}), "path_not_allowed: "),
        (json!({"command": "true", "host": "container"}), "permission_denied: "),
        (json!({"command": "true", "host": "node"}), "permission_denied: "),
        (json!({"command": "true", "host": "host"}), "permission_denied: "),
        (json!({"command": "true", "elevated": true}), "permission_denied: "),
    ] {
        let said = error(&setup.call("exec", args.clone()).await);
        assert!(said.starts_with(expected), "{args}: {said}");
    }
}

async fn what_was_called_is_recorded() {
    let setup = Setup::new().await;
    let outcome = setup.sh("echo x > x").await;
    let entry = setup.gate.journal().entry(crate::helper::id(&outcome)).unwrap().unwrap();
    let entry = serde_json::to_value(entry).unwrap();
    assert_eq!(entry["tool_name"], "exec", "{entry}");
    assert_eq!(entry["changed"], outcome["meta"]["changed"], "{entry}");
    assert!(setup.gate.journal().verify(None).unwrap().ok);
}
