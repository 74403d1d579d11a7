//! When a person decides.

use std::time::Duration;

use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::{Answer, ApprovalFilter, Decision, EXACT, PermissionState, Which};
use toolgate::{
    Capability, Effect, GateBuilder, Need, Plan, Tool, ToolContext, ToolOutput, ToolResult,
};

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
             can be asked (person: gone fishing)",
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

fn noon() -> std::time::SystemTime {
    std::time::SystemTime::UNIX_EPOCH + Duration::from_hours(12)
}

async fn open_questions(setup: &Setup) -> Vec<store::Approval> {
    let filter = ApprovalFilter { which: Which::Pending, user: None, limit: 10 };
    setup.gate.db().await.unwrap().approvals(&filter, noon()).await.unwrap()
}

/// Waits for the one open question.
async fn open_question(setup: &Setup) -> store::Approval {
    loop {
        if let Some(question) = open_questions(setup).await.pop() {
            return question;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Answers the one open question as another process would.
async fn answer(setup: &Setup, decision: Decision) {
    let question = open_question(setup).await;
    let answer = Answer { decision, by: "owner".into(), message: None };
    setup.gate.db().await.unwrap().answer_approval(&question.id, answer, noon()).await.unwrap();
}

#[tokio::test]
async fn an_answer_from_elsewhere_counts_and_can_be_remembered() {
    let setup = Setup::with(With { person: Person::Silent, config: ALWAYS, ..With::default() });
    let write = |path: &str| json!({"path": path, "content": "x"});
    let folder = setup.path("src").parent().unwrap().canonicalize().unwrap().join("src");
    let scope = format!("folder:{}", folder.display());
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
            if open_questions(&setup).await.len() == 5 {
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
        open_question(&setup).await;
        setup.gate.configure(stricter.unwrap(), redactor);
        answer(&setup, Decision::AllowOnce).await;
    };
    let write = setup.call("write", json!({"path": "new.txt", "content": "x"}));
    let (outcome, ()) = tokio::join!(write, change);
    assert_snapshot!(outcome, @"tool_not_available: Tool `write` is not available");
    assert_eq!(setup.names(), ["hello.txt"]);
}

#[tokio::test]
async fn an_answer_for_exactly_this_call_is_no_permission() {
    let always = |scope: &str| Decision::AllowAlways { scope: scope.to_owned(), expires: None };
    for (decision, other_tool, other_session) in [
        (always("exact"), "permission_denied", "permission_denied"),
        (always("permission:files"), "success", "success"),
        // The permission, for as long as the session lasts.
        (Decision::AllowSession, "success", "permission_denied"),
    ] {
        let mut setup = Setup::with(With {
            person: Person::Silent,
            config: "[tools]\nprofile = \"full\"\n[limits]\napproval_timeout = \"2s\"",
            ..With::default()
        });
        setup.caller = toolgate::Caller::member("bo", "main");
        let read = setup.call("read", json!({"path": "hello.txt"}));
        let (outcome, ()) = tokio::join!(read, answer(&setup, decision.clone()));
        assert_eq!(outcome, "hello\nworld\n");
        // The same call is not asked about again; another one only if the answer covers it.
        assert_eq!(setup.call("read", json!({"path": "hello.txt"})).await, "hello\nworld\n");
        let stat = setup.outcome("stat", json!({"path": "hello.txt"})).await.status();
        assert_eq!(stat, other_tool, "{decision:?}");
        setup.caller.session = "another".into();
        let stat = setup.outcome("stat", json!({"path": "hello.txt"})).await.status();
        assert_eq!(stat, other_session, "{decision:?}");
    }
}

#[tokio::test]
async fn an_answer_to_one_question_is_no_answer_to_another() {
    let config = "[tools]\nprofile = \"full\"";
    let mut setup = Setup::with(With { person: Person::Silent, config, ..With::default() });
    setup.caller = toolgate::Caller::member("bo", "main");
    std::fs::write(setup.path(".env"), "TOKEN=1").unwrap();
    let read = |path: &str| setup.call("read", json!({"path": path}));
    let answers = answer(&setup, Decision::AllowSession);
    assert_eq!(tokio::join!(read("hello.txt"), answers).0, "hello\nworld\n");
    // The permission is there, and the credentials are another question.
    let (outcome, ()) = tokio::join!(read(".env"), answer(&setup, Decision::Deny));
    assert_snapshot!(outcome, @"permission_denied: denied by owner");
}

#[tokio::test]
async fn all_there_is_to_ask_about_a_call_is_one_question() {
    let config = "[tools]\nprofile = \"full\"";
    let mut setup = Setup::with(With { person: Person::Silent, config, ..With::default() });
    setup.caller = toolgate::Caller::member("bo", "main");
    std::fs::write(setup.path(".env"), "TOKEN=1").unwrap();
    let read = || setup.call("read", json!({"path": ".env"}));
    let look = async {
        let request = open_question(&setup).await.request;
        assert_eq!(request.rule, "smart.credentials+permission:files");
        assert_eq!(
            request.reason,
            "`.env` may hold credentials; agent `main` does not have the permission `files` yet"
        );
        let exact = Decision::AllowAlways { scope: EXACT.to_owned(), expires: None };
        answer(&setup, exact).await;
    };
    assert_eq!(tokio::join!(read(), look).0, "TOKEN=1");
    // It is remembered for this call, and is no permission for others.
    assert_eq!(read().await, "TOKEN=1");
    let other = setup.call("read", json!({"path": "hello.txt"}));
    let (outcome, ()) = tokio::join!(other, answer(&setup, Decision::Deny));
    assert_snapshot!(outcome, @"permission_denied: denied by owner");
    // What policy denies nobody is asked about, whatever permission is missing.
    let outcome = setup.call("read", json!({"path": "/etc/passwd"})).await;
    assert!(outcome.contains("outside"), "{outcome}");
}

#[tokio::test]
async fn a_permission_revoked_while_a_call_waits_stops_it() {
    let setup = Setup::with(With { person: Person::Silent, config: ALWAYS, ..With::default() });
    let change = async {
        open_question(&setup).await;
        set_permission(&setup, Capability::Files, PermissionState::Denied).await;
        assert!(open_questions(&setup).await.is_empty(), "nobody can answer any more");
    };
    let write = setup.call("write", json!({"path": "new.txt", "content": "x"}));
    let (outcome, ()) = tokio::join!(write, change);
    assert_snapshot!(outcome, @"permission_denied: the question was withdrawn: owner denied the permission `files`");
    assert_eq!(setup.names(), ["hello.txt"]);
}

async fn set_permission(setup: &Setup, capability: Capability, state: PermissionState) {
    let decided = store::Permission {
        user: setup.caller.user.to_string(),
        agent: setup.caller.agent.to_string(),
        capability,
        state,
        by: "owner".into(),
        at: noon(),
    };
    setup.gate.db().await.unwrap().set_permission(decided).await.unwrap();
}

/// Whatever was asked, and however it is taken away while the question waits: the late answer does not
/// count, and is not remembered either.
#[tokio::test]
async fn a_question_that_waits_does_not_beat_a_later_denial() {
    for state in [PermissionState::Denied, PermissionState::DeniedForGood] {
        for scope in [EXACT, "permission:files"] {
            let config = "[tools]\nprofile = \"full\"";
            let mut setup = Setup::with(With { person: Person::Silent, config, ..With::default() });
            setup.caller = toolgate::Caller::member("bo", "main");
            let late = async {
                let id = open_question(&setup).await.id;
                set_permission(&setup, Capability::Files, state).await;
                let decision = Decision::AllowAlways { scope: scope.to_owned(), expires: None };
                let answer = Answer { decision, by: "ada".into(), message: None };
                let db = setup.gate.db().await.unwrap();
                assert!(db.answer_approval(&id, answer, noon()).await.is_err());
            };
            let read = setup.call("read", json!({"path": "hello.txt"}));
            let (outcome, ()) = tokio::join!(read, late);
            assert!(outcome.contains("denied the permission `files`"), "{outcome}");
            let db = setup.gate.db().await.unwrap();
            assert!(db.grants(None, noon()).await.unwrap().is_empty());
            let permissions = db.permissions(None).await.unwrap();
            assert!(permissions.iter().all(|one| one.state == state), "{permissions:?}");
        }
    }
}

/// An answer that the store has taken already is undone if the call may not run after all.
#[tokio::test]
async fn an_answer_about_a_call_that_policy_denies_meanwhile_is_not_remembered() {
    for stricter in [
        "[tools]\nask = \"always\"\ndeny = [\"write\"]",
        "[tools]\nask = \"always\"\n[agents.other]",
    ] {
        let setup = Setup::with(With { person: Person::Silent, config: ALWAYS, ..With::default() });
        let mut config = config::parse(stricter, "t.toml").unwrap();
        if stricter.contains("agents") {
            config.gone.insert("main".to_owned());
        }
        let change = async {
            open_question(&setup).await;
            setup.gate.configure(config, gate::Redactor::new(b"k", []));
            let always = Decision::AllowAlways { scope: EXACT.to_owned(), expires: None };
            answer(&setup, always).await;
        };
        let write = setup.call("write", json!({"path": "new.txt", "content": "x"}));
        let (outcome, ()) = tokio::join!(write, change);
        assert!(!outcome.contains("new.txt"), "{stricter}: {outcome}");
        assert_eq!(setup.names(), ["hello.txt"], "{stricter}");
        let grants = setup.gate.db().await.unwrap().grants(None, noon()).await.unwrap();
        assert!(grants.is_empty(), "{stricter}: {grants:?}");
    }
}

/// Read something, as the name says, and ring a bell.
#[derive(Deserialize, JsonSchema)]
struct ReadAndExec {}

impl Tool for ReadAndExec {
    const NAME: &'static str = "read_and_exec";
    const EFFECTS: &'static [Effect] = &[Effect::Act];

    fn plan(&self) -> Plan {
        [Need::Act("ring a bell".into())].into()
    }

    async fn run(self, _: &ToolContext) -> ToolResult {
        Ok(ToolOutput::text("rang"))
    }
}

#[tokio::test]
async fn approval_018_a_name_decides_nothing() {
    let more: fn(GateBuilder) -> GateBuilder = |builder| builder.tool::<ReadAndExec>();
    let setup = Setup::with(With { person: Person::Refuses, more, ..With::default() });
    let outcome = setup.call("read_and_exec", json!({})).await;
    assert_snapshot!(outcome, @"permission_denied: denied by ada: not today");
}
