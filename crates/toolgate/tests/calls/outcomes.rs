//! The format everybody builds on.

use std::fmt::Write as _;

use insta::{assert_json_snapshot, assert_snapshot};
use serde_json::{Value, json};
use toolgate::{Caller, Request};

use crate::helper::{Setup, With, line};

#[tokio::test]
async fn success_and_error_have_one_format_each() {
    let setup = Setup::new();
    let redactions = [(".meta.call_id", "[id]"), (".meta.duration_ms", "[ms]")];
    for (name, args) in [
        ("get_current_time", json!({"timezone": "Europe/Paris"})),
        ("write", json!({"path": "new/file.txt", "content": "x"})),
        ("read", json!({"path": "missing.txt"})),
    ] {
        let outcome = serde_json::to_value(setup.outcome(name, args).await).unwrap();
        let mut settings = insta::Settings::clone_current();
        for (selector, with) in redactions {
            settings.add_redaction(selector, with);
        }
        settings.bind(|| assert_json_snapshot!(format!("outcome_{name}"), outcome));
    }
}

#[tokio::test]
async fn wrong_arguments_name_each_problem() {
    let setup = Setup::new();
    let mut report = String::new();
    for args in [
        json!({}),
        json!({"path": 5, "limit": "many"}),
        json!({"pth": "a"}),
        json!({"path": "a", "file_path": "b"}),
        json!({"path": "hello.txt", "encoding": "utf-9"}),
        json!("read it"),
    ] {
        writeln!(report, "{args} → {}", setup.call("read", args.clone()).await).unwrap();
    }
    for text in [r#"{"path": "a", "path": "b"}"#, "{path", r#"{"path": "\ud800"}"#] {
        let outcome = setup.gate.run(&setup.caller, Request::from_text("read", text)).await;
        writeln!(report, "{text} → {}", line(&outcome)).unwrap();
    }
    assert_snapshot!(report);
}

#[tokio::test]
async fn nothing_is_learnt_about_a_tool_that_is_not_yours() {
    let config = "[tools]\ndeny = [\"write\"]";
    let setup = Setup::with(With { config, ..With::default() });
    for name in ["write", "edit", "apply_patch", "rm", "WRITE", "undo"] {
        let outcome = setup.call(name, json!({"path": "x", "content": "y"})).await;
        assert_eq!(outcome, format!("tool_not_available: Tool `{name}` is not available"));
    }
    assert_eq!(setup.names(), ["hello.txt"]);
}

#[tokio::test]
async fn a_member_needs_permission_for_what_the_owner_has() {
    let config = "[tools]\nprofile = \"full\"";
    let person = crate::helper::Person::Absent;
    let mut setup = Setup::with(With { person, config, ..With::default() });
    setup.caller = Caller::member("bo", "main");
    let outcome = setup.call("read", json!({"path": "hello.txt"})).await;
    assert!(outcome.starts_with("permission_denied: somebody must agree"), "{outcome}");
    assert_eq!(setup.outcome("get_current_time", Value::Null).await.status(), "success");
}

#[tokio::test]
async fn every_call_is_recorded_with_who_what_and_why() {
    let setup = Setup::new();
    setup.call("read", json!({"path": "hello.txt"})).await;
    setup.call("write", json!({"path": ".git/hooks/pre-commit", "content": "x"})).await;
    setup.call("no_such_tool", json!({"secret": "Bearer abcdefghijklmnopqrstuvwxyz"})).await;
    let mut report = String::new();
    for entry in setup.entries() {
        let mut entry = serde_json::to_value(entry).unwrap();
        for volatile in ["id", "execution_time_ms", "writer"] {
            if let Some(value) = entry.get_mut(volatile) {
                *value = json!("[…]");
            }
        }
        writeln!(report, "{entry}").unwrap();
    }
    insta::with_settings!({filters => vec![(r"redacted:bearer:[0-9a-f]{8}", "redacted:bearer:[hash]")]}, {
        assert_snapshot!(report);
    });
}
