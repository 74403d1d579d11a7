//! When a person decides.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use store::{Answer, ApprovalFilter, Decision, Which};

use crate::helper::{Person, Setup, With};

const ALWAYS: &str = "[tools]\nask = \"always\"";

#[tokio::test]
async fn a_change_happens_only_if_somebody_agrees() {
    for (person, expected) in [
        (Person::Agrees, "success"),
        (Person::Refuses, "permission_denied: denied by ada: not today"),
        (
            Person::Absent,
            "permission_denied: somebody must agree because it wants to write `new.txt`, and nobody \
             can be asked (person: gone fishing); run it on a terminal, or with `--wait 5m` and \
             answer with `toolgate approvals`",
        ),
    ] {
        let setup = Setup::with(With { person, config: ALWAYS, ..With::default() });
        let outcome = setup.call("write", json!({"path": "new.txt", "content": "x"})).await;
        let agreed = person == Person::Agrees;
        assert_eq!(setup.path("new.txt").exists(), agreed);
        assert!(agreed || outcome == expected, "{outcome}");
    }
}

#[tokio::test]
async fn smart_asks_about_credentials_and_much_at_once() {
    let setup = Setup::with(With { person: Person::Refuses, ..With::default() });
    std::fs::write(setup.path(".env"), "TOKEN=1").unwrap();
    std::os::unix::fs::symlink(".env", setup.path("innocent.txt")).unwrap();
    for number in 0..21 {
        std::fs::write(setup.path(&format!("{number}.txt")), "x").unwrap();
    }
    let many: Vec<_> = (0..21).map(|number| format!("*** Delete File: {number}.txt\n")).collect();
    let patch = format!("*** Begin Patch\n{}*** End Patch\n", many.concat());
    for (tool, args, asks) in [
        ("read", json!({"path": "hello.txt"}), false),
        ("write", json!({"path": "new.txt", "content": "x"}), false),
        ("read", json!({"path": ".env"}), true),
        ("read", json!({"path": "innocent.txt"}), true),
        ("apply_patch", json!({"input": patch}), true),
    ] {
        let outcome = setup.call(tool, args.clone()).await;
        assert_eq!(
            outcome.starts_with("permission_denied: denied by ada"),
            asks,
            "{args}: {outcome}"
        );
    }
}

/// Answers the one open question as another process would.
async fn answer(setup: &Setup, decision: Decision) {
    let db = setup.gate.db().await.unwrap();
    let filter = ApprovalFilter { which: Which::Pending, user: None, limit: 10 };
    let now = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(12);
    loop {
        if let [question] = &db.approvals(&filter, now).await.unwrap()[..] {
            let answer = Answer { decision, by: "owner".into(), message: None };
            db.answer_approval(&question.id, answer, now).await.unwrap();
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_answer_from_elsewhere_counts_and_can_be_remembered() {
    let setup = Setup::with(With { person: Person::Silent, config: ALWAYS, ..With::default() });
    let write = |path: &str| json!({"path": path, "content": "x"});
    let scope = Some("folder:src".to_owned());
    let always = Decision::AllowAlways { scope, expires: None };
    let (outcome, ()) =
        tokio::join!(setup.call("write", write("src/a/b.txt")), answer(&setup, always));
    assert!(outcome.contains("src/a/b.txt"), "{outcome}");
    // What the scope covers is not asked about again; what it does not cover is.
    assert!(setup.call("write", write("src/c.txt")).await.contains("src/c.txt"));
    let (outcome, ()) =
        tokio::join!(setup.call("write", write("srcs/d.txt")), answer(&setup, Decision::Deny));
    assert_snapshot!(outcome, @"permission_denied: denied by owner");
    let entries = setup.entries();
    assert!(entries[0].approval.is_some() && entries[0].approval == entries[1].approval);
}

#[tokio::test]
async fn a_question_nobody_answers_is_a_no() {
    let config = "[tools]\nask = \"always\"\n[limits]\napproval_timeout = \"50ms\"";
    let setup = Setup::with(With { person: Person::Silent, config, ..With::default() });
    let outcome = setup.call("write", json!({"path": "a", "content": "x"})).await;
    assert_snapshot!(outcome, @"permission_denied: nobody answered within 0 s");
    assert_eq!(setup.names(), ["hello.txt"]);
}

#[tokio::test]
async fn at_most_five_questions_of_a_session_are_open() {
    let setup = Setup::with(With { person: Person::Silent, config: ALWAYS, ..With::default() });
    let ask = |number: usize| {
        let args = json!({"path": format!("{number}.txt"), "content": "x"});
        setup.outcome("write", args)
    };
    let six = async {
        let five = futures_util::future::join_all((0..5).map(ask));
        tokio::pin!(five);
        loop {
            tokio::select! {
                _ = &mut five => panic!("nobody answered"),
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
            let filter = ApprovalFilter { which: Which::Pending, user: None, limit: 10 };
            let now = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(12);
            let open = setup.gate.db().await.unwrap().approvals(&filter, now).await.unwrap();
            if open.len() == 5 {
                return ask(5).await;
            }
        }
    };
    assert_eq!(six.await.status(), "rate_limited");
    // Reading goes on.
    assert_eq!(setup.outcome("read", json!({"path": "hello.txt"})).await.status(), "success");
}

#[tokio::test]
async fn a_call_that_policy_takes_away_while_it_waits_does_not_run() {
    let setup = Setup::with(With { person: Person::Silent, config: ALWAYS, ..With::default() });
    let change = async {
        let stricter = config::parse("[tools]\nask = \"always\"\ndeny = [\"write\"]", "t.toml");
        let redactor = gate::Redactor::new(b"k", []);
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let filter = ApprovalFilter { which: Which::Pending, user: None, limit: 10 };
            let now = std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(12);
            if !setup.gate.db().await.unwrap().approvals(&filter, now).await.unwrap().is_empty() {
                break;
            }
        }
        setup.gate.configure(stricter.unwrap(), redactor);
        answer(&setup, Decision::AllowOnce).await;
    };
    let write = setup.call("write", json!({"path": "new.txt", "content": "x"}));
    let (outcome, ()) = tokio::join!(write, change);
    assert_snapshot!(outcome, @"tool_not_available: Tool `write` is not available");
    assert_eq!(setup.names(), ["hello.txt"]);
}
