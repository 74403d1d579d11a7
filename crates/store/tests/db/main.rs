//! The database, from outside. This file has approvals, grants and permissions.
#![expect(clippy::unwrap_used, reason = "a failed setup should fail the test")]

mod agents;
mod claims;
mod notes;
mod sessions;
mod tasks;
mod tokens;
mod undo;
mod users;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use insta::assert_json_snapshot;
use serde_json::json;
use store::{
    Answer, ApprovalFilter, ApprovalId, ApprovalStatus, AskLimits, By, Db, Decision, Journal,
    NewApproval, Permission, PermissionState, Wanted, Which,
};
use tempfile::TempDir;
use tool::{CallIds, Capability, Clock, Digest, Effect, Effects, Place};

const LIMITS: AskLimits = AskLimits { open: 5, open_of_user: None, per_minute: 1_000 };

#[derive(Debug)]
struct Noon;

impl Clock for Noon {
    fn now(&self) -> SystemTime {
        at(43_200)
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A call of its own, at `seconds`.
fn by(seconds: u64) -> By<'static> {
    By { call: CallIds::new(Arc::new(Noon)).next(), now: at(seconds), untrusted: None }
}

/// A data folder with a database.
struct Setup {
    db: Db,
    dir: TempDir,
}

impl Setup {
    async fn new() -> Self {
        let dir = TempDir::new().unwrap();
        Self { db: Db::open(&dir.path().join("data")).await.unwrap(), dir }
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    async fn another(&self) -> Db {
        Db::open(&self.data()).await.unwrap()
    }

    fn journal(&self) -> Journal {
        Journal::open(&self.data(), Arc::new(Noon)).unwrap()
    }

    /// Asks at 100, until 200.
    async fn ask(&self) -> ApprovalId {
        self.db.request_approval(question(), LIMITS).await.unwrap()
    }

    async fn answer(
        &self,
        id: &ApprovalId,
        decision: Decision,
        now: u64,
    ) -> Result<String, String> {
        let answer = Answer { decision, by: "owner".into(), message: None };
        let answered = self.db.answer_approval(id, answer, at(now)).await;
        answered.map(|approval| approval.status.to_string()).map_err(|error| error.to_string())
    }

    async fn status(&self, id: &ApprovalId, now: u64) -> ApprovalStatus {
        self.db.approval(id, at(now)).await.unwrap().unwrap().status
    }
}

fn question() -> NewApproval {
    NewApproval {
        call: CallIds::new(Arc::new(Noon)).next(),
        user: "ada".into(),
        agent: "main".into(),
        session: "s1".into(),
        tool: "exec".into(),
        input: json!({"command": "make"}),
        plan: json!([{"run": {"command": "make", "cwd": ".", "env": {}}}]),
        effects: Effects::of(&[Effect::Act]),
        place: Some(Place::Sandbox),
        reason: "it acts".into(),
        rule: "smart".into(),
        fingerprint: Digest::of("make"),
        scopes: vec!["exact".into(), "folder:src".into()],
        cwd: Some("/ws".into()),
        changes: Vec::new(),
        untrusted: vec!["https://example.org/".into()],
        asked_at: at(100),
        expires_at: at(200),
    }
}

fn always(scope: Option<&str>, expires: Option<u64>) -> Decision {
    Decision::AllowAlways { scope: scope.unwrap_or("exact").to_owned(), expires: expires.map(at) }
}

#[tokio::test]
async fn an_approval_keeps_what_was_asked_and_answered() {
    let setup = Setup::new().await;
    let id = setup.ask().await;
    let answer =
        Answer { decision: Decision::Deny, by: "owner".into(), message: Some("not today".into()) };
    let answered = setup.db.answer_approval(&id, answer, at(150)).await.unwrap();
    let stored = setup.another().await.approval(&id, at(300)).await.unwrap().unwrap();
    assert_eq!(stored, answered);
    let mut shown = serde_json::to_value(stored).unwrap();
    for varies in ["id", "call", "fingerprint"] {
        shown[varies] = json!("…");
    }
    assert_json_snapshot!(shown, @r#"
    {
      "agent": "main",
      "answered_at": "1970-01-01T00:02:30.000Z",
      "answered_by": "owner",
      "asked_at": "1970-01-01T00:01:40.000Z",
      "call": "…",
      "changes": [],
      "cwd": "/ws",
      "decision": "deny",
      "effects": [
        "act"
      ],
      "expires_at": "1970-01-01T00:03:20.000Z",
      "fingerprint": "…",
      "id": "…",
      "input": {
        "command": "make"
      },
      "message": "not today",
      "place": "sandbox",
      "plan": [
        {
          "run": {
            "command": "make",
            "cwd": ".",
            "env": {}
          }
        }
      ],
      "reason": "it acts",
      "rule": "smart",
      "scopes": [
        "exact",
        "folder:src"
      ],
      "session": "s1",
      "status": "denied",
      "tool": "exec",
      "untrusted": [
        "https://example.org/"
      ],
      "used_by": null,
      "user": "ada",
      "waiting": true
    }
    "#);
}

#[tokio::test]
async fn an_approval_is_answered_once() {
    for (decision, status) in [
        (Decision::AllowOnce, "allowed"),
        (Decision::AllowSession, "allowed"),
        (always(None, None), "allowed"),
        (Decision::Deny, "denied"),
    ] {
        let setup = Setup::new().await;
        let id = setup.ask().await;
        assert_eq!(setup.answer(&id, decision, 199).await, Ok(status.to_owned()));
        let again = setup.answer(&id, Decision::AllowOnce, 199).await;
        assert_eq!(again, Err(format!("approval `{id}` is {status} already")));
    }
}

#[tokio::test]
async fn of_many_answers_at_once_one_counts() {
    let setup = Setup::new().await;
    let id = setup.ask().await;
    let others = [setup.another().await, setup.another().await];
    let answers = [&setup.db, &others[0], &others[1]].map(|db| {
        let answer = Answer { decision: Decision::AllowSession, by: "owner".into(), message: None };
        let (db, id) = (db.clone(), id.clone());
        tokio::spawn(async move { db.answer_approval(&id, answer, at(150)).await })
    });
    let mut counted = 0;
    for answer in answers {
        counted += usize::from(answer.await.unwrap().is_ok());
    }
    assert_eq!(counted, 1);
    assert_eq!(setup.db.grants(None, at(150)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn nobody_can_answer_too_late() {
    let setup = Setup::new().await;
    let (late, withdrawn) = (setup.ask().await, setup.ask().await);
    assert!(setup.db.withdraw_approval(&withdrawn, "the caller went away", at(150)).await.unwrap());
    assert!(!setup.db.withdraw_approval(&withdrawn, "again", at(150)).await.unwrap());
    assert_eq!(setup.status(&late, 199).await, ApprovalStatus::Pending);
    assert_eq!(setup.status(&late, 200).await, ApprovalStatus::Expired);
    for (id, status) in [(&late, "expired"), (&withdrawn, "withdrawn")] {
        let answered = setup.answer(id, Decision::AllowOnce, 200).await;
        assert_eq!(answered, Err(format!("approval `{id}` is {status} already")));
    }
    assert!(setup.db.grants(None, at(200)).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_approval_says_where_to_look() {
    let setup = Setup::new().await;
    let answered = setup.answer(&"00000000".parse().unwrap(), Decision::Deny, 150).await;
    assert_eq!(
        answered.unwrap_err(),
        "there is no question `00000000`; `toolgate approvals list` shows them"
    );
}

#[tokio::test]
async fn a_session_has_only_so_many_open_questions() {
    let setup = Setup::new().await;
    let ask = |new| setup.db.request_approval(new, AskLimits { open: 2, ..LIMITS });
    let first = ask(question()).await.unwrap();
    ask(question()).await.unwrap();
    let refused = ask(question()).await.unwrap_err();
    assert_eq!(refused.to_string(), "2 questions of this session wait for an answer already");
    for other in [
        NewApproval { session: "s2".into(), ..question() },
        NewApproval { user: "bob".into(), ..question() },
        // The earlier ones have expired by then.
        NewApproval { asked_at: at(200), expires_at: at(300), ..question() },
    ] {
        ask(other).await.unwrap();
    }
    assert_eq!(setup.status(&first, 0).await, ApprovalStatus::Expired);
}

#[tokio::test]
async fn a_user_has_only_so_many_open_questions_in_all_sessions_together() {
    let setup = Setup::new().await;
    let limits = AskLimits { open_of_user: Some(2), ..LIMITS };
    let ask = |new| setup.db.request_approval(new, limits);
    let elsewhere = |session: &str| NewApproval { session: session.to_owned(), ..question() };
    ask(elsewhere("s1")).await.unwrap();
    ask(elsewhere("s2")).await.unwrap();
    let refused = ask(elsewhere("s3")).await.unwrap_err().to_string();
    assert!(refused.starts_with("2 of your questions wait for an answer already"), "{refused}");
    ask(NewApproval { user: "bob".into(), ..question() }).await.unwrap();
    ask(NewApproval { asked_at: at(200), expires_at: at(300), ..question() }).await.unwrap();
}

#[tokio::test]
async fn of_many_questions_at_once_only_so_many_are_asked() {
    let setup = Setup::new().await;
    let other = setup.another().await;
    let asked: Vec<_> = (0..20)
        .map(|index| {
            let db = if index % 2 == 0 { setup.db.clone() } else { other.clone() };
            tokio::spawn(async move { db.request_approval(question(), LIMITS).await.is_ok() })
        })
        .collect();
    let mut open = 0;
    for asked in asked {
        open += usize::from(asked.await.unwrap());
    }
    assert_eq!(open, 5);
}

#[tokio::test]
async fn approvals_are_listed_newest_first() {
    let setup = Setup::new().await;
    let (denied, pending) = (setup.ask().await, setup.ask().await);
    setup.answer(&denied, Decision::Deny, 150).await.unwrap();
    for (which, user, limit, now, expected) in [
        (Which::Pending, None, 9, 150, vec![&pending]),
        (Which::Pending, None, 9, 200, vec![]),
        (Which::All, None, 9, 200, vec![&pending, &denied]),
        (Which::All, None, 1, 200, vec![&pending]),
        (Which::All, Some("ada"), 9, 200, vec![&pending, &denied]),
        (Which::All, Some("bob"), 9, 200, vec![]),
    ] {
        let filter = ApprovalFilter { which, user: user.map(str::to_owned), limit };
        let found = setup.db.approvals(&filter, at(now)).await.unwrap();
        let ids: Vec<_> = found.iter().map(|approval| &approval.id).collect();
        assert_eq!(ids, expected, "{filter:?} at {now}");
    }
}

#[tokio::test]
async fn an_answer_is_remembered_for_what_it_said() {
    let (make, src) = (Digest::of("make"), vec!["folder:src".to_owned()]);
    let same = Wanted {
        user: "ada",
        agent: "main",
        session: "s1",
        tool: "exec",
        rule: "smart",
        fingerprint: make,
        scopes: &[],
    };
    let other_session = Wanted { session: "s2", ..same };
    let other_user = Wanted { user: "bob", ..same };
    let other_agent = Wanted { agent: "sub", ..same };
    let other_tool = Wanted { tool: "write", scopes: &src, ..same };
    let other_call = Wanted { fingerprint: Digest::of("make install"), ..same };
    let in_scope = Wanted { scopes: &src, ..other_call };
    let other_rule = Wanted { rule: "another", scopes: &src, ..same };
    let calls = [
        same,
        other_session,
        other_user,
        other_agent,
        other_tool,
        other_rule,
        other_call,
        in_scope,
    ];
    for (decision, now, expected) in [
        (Decision::AllowOnce, 150, "........"),
        (Decision::Deny, 150, "........"),
        (Decision::AllowSession, 150, "x......."),
        (always(None, None), 99_999, "xx......"),
        (always(Some("folder:src"), None), 150, ".......x"),
        (always(None, Some(300)), 299, "xx......"),
        (always(None, Some(300)), 300, "........"),
    ] {
        let setup = Setup::new().await;
        let id = setup.ask().await;
        setup.answer(&id, decision.clone(), 150).await.unwrap();
        let mut found = String::new();
        for wanted in calls {
            let grant = setup.db.find_grant(wanted, at(now)).await.unwrap();
            found.push(if grant.is_some_and(|grant| grant.id == id) { 'x' } else { '.' });
        }
        assert_eq!(found, expected, "{decision:?}");
    }
}

#[tokio::test]
async fn only_an_offered_scope_can_be_remembered() {
    let setup = Setup::new().await;
    let id = setup.ask().await;
    let refused = setup.answer(&id, always(Some("everything"), None), 150).await;
    let expected = format!(
        "approval `{id}` cannot be remembered for `everything`; it offers [\"exact\", \"folder:src\"]"
    );
    assert_eq!(refused.unwrap_err(), expected);
    assert_eq!(setup.status(&id, 150).await, ApprovalStatus::Pending);
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing() {
    let setup = Setup::new().await;
    let id = setup.ask().await;
    setup.answer(&id, always(None, None), 150).await.unwrap();
    assert_eq!(setup.db.grants(Some("ada"), at(160)).await.unwrap().len(), 1);
    assert!(setup.db.grants(Some("bob"), at(160)).await.unwrap().is_empty());
    assert!(setup.db.revoke_grant(&id, "owner", at(160)).await.unwrap());
    assert!(!setup.db.revoke_grant(&id, "owner", at(160)).await.unwrap());
    assert!(setup.db.grants(None, at(160)).await.unwrap().is_empty());
}

#[tokio::test]
async fn of_a_permission_the_last_word_holds() {
    let setup = Setup::new().await;
    let set = |user: &str, capability, state, seconds| {
        setup.db.set_permission(Permission {
            user: user.into(),
            agent: "main".into(),
            capability,
            state,
            by: "owner".into(),
            at: at(seconds),
        })
    };
    // The clock went back in between.
    set("ada", Capability::Exec, PermissionState::Granted, 200).await.unwrap();
    set("ada", Capability::Exec, PermissionState::DeniedForGood, 100).await.unwrap();
    set("ada", Capability::Files, PermissionState::Ask, 100).await.unwrap();
    set("bob", Capability::Exec, PermissionState::Granted, 100).await.unwrap();
    let shown = |permissions: Vec<Permission>| {
        let line = |one: &Permission| format!("{} {} {}", one.user, one.capability, one.state);
        permissions.iter().map(line).collect::<Vec<_>>()
    };
    let all = shown(setup.db.permissions(None).await.unwrap());
    assert_eq!(all, ["ada exec denied_for_good", "ada files ask", "bob exec granted"]);
    assert_eq!(shown(setup.db.permissions(Some("bob")).await.unwrap()), ["bob exec granted"]);
    let history = shown(setup.db.permission_history(Some("ada")).await.unwrap());
    assert_eq!(history, ["ada exec granted", "ada exec denied_for_good", "ada files ask"]);
}

#[tokio::test]
async fn the_version_tells_that_somebody_changed_something() {
    let setup = Setup::new().await;
    let other = setup.another().await;
    let before = setup.db.version().unwrap();
    assert_eq!(setup.db.version().unwrap(), before);
    other.request_approval(question(), LIMITS).await.unwrap();
    let after = setup.db.version().unwrap();
    assert_ne!(after, before);
    setup.ask().await;
    assert_ne!(setup.db.version().unwrap(), after);
}

#[tokio::test]
async fn only_the_owner_can_read_the_file() {
    let setup = Setup::new().await;
    setup.ask().await;
    for file in ["toolgate.db", "toolgate.db-wal", "toolgate.db-shm"] {
        let path = setup.dir.path().join("data").join(file);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn many_can_open_a_new_folder_at_once() {
    let dir = TempDir::new().unwrap();
    let opened: Vec<_> = (0..8)
        .map(|_| {
            let data = dir.path().join("data");
            tokio::spawn(async move { Db::open(&data).await.map(drop) })
        })
        .collect();
    for opened in opened {
        opened.await.unwrap().unwrap();
    }
}

fn the_same() -> Wanted<'static> {
    Wanted {
        user: "ada",
        agent: "main",
        session: "s1",
        tool: "exec",
        rule: "smart",
        fingerprint: Digest::of("make"),
        scopes: &[],
    }
}

/// Advisories approval-010 and approval-015.
#[tokio::test]
async fn an_answer_is_used_once() {
    let setup = Setup::new().await;
    let question = question();
    let call = question.call;
    let id = setup.db.request_approval(question, LIMITS).await.unwrap();
    let used = async |call, now| setup.db.use_approval(&id, call, at(now)).await.unwrap();
    assert!(!used(call, 150).await, "nobody has answered");
    setup.answer(&id, Decision::AllowOnce, 150).await.unwrap();
    let other = CallIds::new(Arc::new(Noon)).next();
    assert!(!used(other, 150).await, "another call did not wait for it");
    assert!(used(call, 150).await);
    assert!(!used(call, 150).await);
    let stored = setup.db.approval(&id, at(150)).await.unwrap().unwrap();
    assert_eq!(stored.used_by, Some(call));
    assert!(setup.db.take_approval(the_same(), other, at(150)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_question_outlives_its_process() {
    let other = CallIds::new(Arc::new(Noon)).next();
    for (what, answer, wanted, now, expected) in [
        ("an answer that was not used", true, the_same(), 150, "taken"),
        ("one that waits", false, the_same(), 150, "adopted"),
        ("it has expired", true, the_same(), 200, ""),
        ("it has expired", false, the_same(), 200, ""),
        ("another session", true, Wanted { session: "s2", ..the_same() }, 150, ""),
        ("another user", false, Wanted { user: "bob", ..the_same() }, 150, ""),
        ("another call", true, Wanted { fingerprint: Digest::of("x"), ..the_same() }, 150, ""),
        ("another rule", true, Wanted { rule: "x", ..the_same() }, 150, ""),
    ] {
        let setup = Setup::new().await;
        let question = question();
        let call = question.call;
        let id = setup.db.request_approval(question, LIMITS).await.unwrap();
        let take = async || {
            let taken = setup.db.take_approval(wanted, other, at(now)).await.unwrap();
            let adopted = setup.db.adopt_approval(wanted, other, at(now)).await.unwrap();
            match (taken, adopted) {
                (Some(taken), None) if taken.id == id => "taken",
                (None, Some(adopted)) if adopted == id => "adopted",
                (None, None) => "",
                both => panic!("{both:?}"),
            }
        };
        if answer {
            setup.answer(&id, Decision::AllowOnce, 150).await.unwrap();
        }
        assert_eq!(take().await, "", "{what}: its own call still waits");
        store::leave_questions(&setup.dir.path().join("data"), &[call]).unwrap();
        assert_eq!(take().await, expected, "{what}");
        assert_eq!(take().await, "", "{what}: only once");
    }
}

#[tokio::test]
async fn an_answer_that_was_not_used_can_be_taken_back() {
    let setup = Setup::new().await;
    let question = question();
    let call = question.call;
    let id = setup.db.request_approval(question, LIMITS).await.unwrap();
    setup.answer(&id, Decision::AllowOnce, 150).await.unwrap();
    store::leave_questions(&setup.dir.path().join("data"), &[call]).unwrap();
    assert!(setup.db.withdraw_approval(&id, "revoked", at(160)).await.unwrap());
    assert!(setup.db.take_approval(the_same(), call, at(160)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_question_that_offers_nothing_counts_once() {
    let setup = Setup::new().await;
    let held = NewApproval { scopes: Vec::new(), ..question() };
    let id = setup.db.request_approval(held, LIMITS).await.unwrap();
    for decision in [Decision::AllowSession, always(None, None), always(Some("folder:src"), None)] {
        assert!(setup.answer(&id, decision, 150).await.is_err());
    }
    assert_eq!(setup.answer(&id, Decision::AllowOnce, 150).await.unwrap(), "allowed");
}

#[tokio::test]
async fn people_type_the_beginning_of_an_id() {
    let setup = Setup::new().await;
    let id = setup.ask().await;
    assert_eq!(setup.db.whole_id(&id.short().parse().unwrap()).await.unwrap(), id);
    assert!(setup.db.whole_id(&"00000000".parse().unwrap()).await.is_err());
}

#[tokio::test]
async fn a_database_of_the_first_format_is_taken_over() {
    let dir = TempDir::new().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("toolgate.db")).unwrap();
    conn.execute_batch(include_str!("../../src/db/schema.sql")).unwrap();
    conn.execute_batch(
        "INSERT INTO approvals (id, call_id, user, agent, session, tool, input, plan, effects, reason,
         rule, fingerprint, scopes, asked_at, expires_at) VALUES ('0123456z',
         '00000000-0000-7000-8000-000000000000', 'ada', 'main', 's1', 'exec', '{}', '[]', '[]', 'r',
         'smart', '0000000000000000000000000000000000000000000000000000000000000000',
         '[\"folder:src\"]', 100000000, 200000000); PRAGMA user_version = 1;",
    )
    .unwrap();
    drop(conn);
    let db = Db::open(dir.path()).await.unwrap();
    let old = db.approval(&"0123456z".parse().unwrap(), at(150)).await.unwrap().unwrap();
    assert_eq!(old.request.scopes, ["exact", "folder:src"]);
}

#[tokio::test]
async fn a_database_of_the_second_format_is_taken_over() {
    let dir = TempDir::new().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("toolgate.db")).unwrap();
    conn.execute_batch(include_str!("../../src/db/schema.sql")).unwrap();
    conn.execute_batch(include_str!("../../src/db/schema_2.sql")).unwrap();
    conn.execute_batch(
        "INSERT INTO permissions (user, agent, capability, state, changed_by, changed_at)
         VALUES ('ada', 'main', 'exec', 'granted', 'owner', 1);
         INSERT INTO sources VALUES ('ada', 'main', 's1', 'https://example.org/', 'call', 1);
         PRAGMA user_version = 2;",
    )
    .unwrap();
    drop(conn);
    for _ in 0..2 {
        let db = Db::open(dir.path()).await.unwrap();
        assert_eq!(db.permissions(Some("ada")).await.unwrap().len(), 1);
        let new = tool::NewNote { title: "x".into(), ..tool::NewNote::default() };
        db.add_note("ada", new, by(1)).await.unwrap();
    }
    let conn = rusqlite::Connection::open(dir.path().join("toolgate.db")).unwrap();
    let format: i64 = conn.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let kept: i64 = conn.query_row("SELECT count(*) FROM sources", [], |row| row.get(0)).unwrap();
    assert_eq!((format, kept), (4, 1));
}

#[tokio::test]
async fn a_database_of_the_third_format_is_taken_over() {
    let dir = TempDir::new().unwrap();
    let conn = rusqlite::Connection::open(dir.path().join("toolgate.db")).unwrap();
    for format in [
        include_str!("../../src/db/schema.sql"),
        include_str!("../../src/db/schema_2.sql"),
        include_str!("../../src/db/schema_3.sql"),
    ] {
        conn.execute_batch(format).unwrap();
    }
    let hash = Digest::of("secret");
    conn.execute_batch(&format!(
        "INSERT INTO tokens (id, hash, kind, name, user, role, agents, created_at, family) VALUES
         ('00000000000000000000000001', '{hash}', 'api', 'a', 'ada', 'member', NULL, 7000000, '00000000000000000000000001'),
         ('00000000000000000000000002', 'b', 'api', 'b', 'ada', 'member', '[]', 5000000, '00000000000000000000000002'),
         ('00000000000000000000000003', 'c', 'api', 'c', 'owner', 'owner', NULL, 3000000, '00000000000000000000000003'),
         ('00000000000000000000000004', 'd', 'api', 'd', 'late', 'member', NULL, 3000000, '00000000000000000000000004'),
         ('00000000000000000000000005', 'e', 'api', 'e', 'revoked', 'member', NULL, 3000000, '00000000000000000000000005');
         UPDATE tokens SET expires_at = 4000000 WHERE user = 'late';
         UPDATE tokens SET revoked_by = 'owner', revoked_at = 4000000 WHERE user = 'revoked';
         INSERT INTO sessions (user, agent, name, kind, state, parent_user, label, model, metadata, rights, created_at,
         active_at) VALUES ('in sessions', '', '', '', '', 'in parents', '', '', '', '', 2000000, 0);
         INSERT INTO notes (id, user, title, content, tags, created_at) VALUES
         ('1', 'in notes', '', '', '[]', 2000000), ('2', 'ada', '', '', '[]', 4000000);
         INSERT INTO tasks (id, user, title, status, priority, created_at, changed_at)
         VALUES ('1', 'in tasks', '', 'open', 0, 2000000, 0);
         INSERT INTO row_changes (call_id, user, kind, row_id, changed_at)
         VALUES ('', 'in row_changes', 'note', '', 2000000);
         INSERT INTO approvals (id, call_id, user, agent, session, tool, input, plan, effects, reason, rule,
         fingerprint, scopes, asked_at, expires_at)
         VALUES ('1', '', 'in approvals', '', '', '', '', '', '', '', '', '', '', 2000000, 0);
         INSERT INTO grants (id, user, agent, tool, rule, fingerprint, granted_by, granted_at)
         VALUES ('1', 'in grants', '', '', '', '', '', 2000000);
         INSERT INTO permissions (user, agent, capability, state, changed_by, changed_at)
         VALUES ('in permissions', '', '', '', '', 2000000);
         INSERT INTO sources VALUES ('in sources', '', '', '', '', 2000000);
         INSERT INTO speakers VALUES ('in speakers', '', '', '');
         INSERT INTO agents VALUES ('1', 'in agents', '{{}}', 2000000, 0);
         PRAGMA user_version = 3;",
    ))
    .unwrap();
    for _ in 0..2 {
        let db = Db::open(dir.path()).await.unwrap();
        let token = db.find_token(&hash, at(9)).await.unwrap().unwrap();
        assert_eq!((token.new.user.as_str(), token.new.scopes), ("ada", None));
    }
    let column = |sql: &str| -> Vec<String> {
        let mut rows = conn.prepare(sql).unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let sql = "SELECT id || ' ' || role || ' ' || created_at FROM users WHERE removed_at IS NULL ORDER BY id";
    assert_eq!(column(sql), ["ada member 4000000", "owner owner 3000000"]);
    // Every table with a user in it has somebody here, so that a new one is not forgotten.
    let sql = "SELECT 'in ' || t.name FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name <> 'tokens'
         AND (c.name = 'user' OR t.name = 'agents' AND c.name = 'owner')";
    let mut removed = column(sql);
    removed.extend(["in parents", "late", "revoked"].map(str::to_owned));
    removed.sort();
    let found = column("SELECT id FROM users WHERE removed_by = 'owner' ORDER BY id");
    assert_eq!(found, removed);
    let db = Db::open(dir.path()).await.unwrap();
    let error = db.add_user("in notes", "somebody else", at(9)).await.unwrap_err();
    assert!(error.to_string().contains("was removed"), "{error}");
}

/// Advisory approval-021.
#[tokio::test]
async fn nobody_is_asked_without_end() {
    let setup = Setup::new().await;
    let few = AskLimits { per_minute: 3, ..LIMITS };
    let ask = async |session: &str, now| {
        let question = NewApproval {
            session: session.to_owned(),
            asked_at: at(now),
            expires_at: at(now + 100),
            ..question()
        };
        let id =
            setup.db.request_approval(question, few).await.map_err(|error| error.to_string())?;
        setup.answer(&id, Decision::Deny, now).await
    };
    for now in [100, 101, 102] {
        ask("s1", now).await.unwrap();
    }
    assert!(ask("s1", 103).await.unwrap_err().contains("3 questions"));
    ask("s2", 103).await.unwrap();
    ask("s1", 170).await.unwrap();
}
