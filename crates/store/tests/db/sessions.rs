//! Sessions and their messages.

use std::time::SystemTime;

use serde_json::{Value, json};
use store::{
    ApprovalId, Decision, MessageRole, NewApproval, NewMessage, NewSession, Session, SessionChange,
    SessionCursor, SessionFilter, SessionKey, SessionKind, SessionState, Spent,
};
use tool::{CallIds, Caller};

use crate::{LIMITS, Noon, Setup, at, question};

pub(crate) fn key(name: &str) -> SessionKey {
    SessionKey::new("ada", "main", name)
}

impl Setup {
    pub(crate) async fn open(&self, name: &str, now: u64) -> Session {
        self.open_as(NewSession::new(key(name), SessionKind::Chat), now).await
    }

    async fn open_as(&self, new: NewSession, now: u64) -> Session {
        self.db.open_session(new, at(now)).await.unwrap()
    }

    pub(crate) async fn set_state(&self, name: &str, state: SessionState) {
        let change = SessionChange { state: Some(state), ..SessionChange::default() };
        self.db.change_session(&key(name), change, at(0)).await.unwrap();
    }

    async fn say(&self, name: &str, texts: &[&str], now: u64) -> u64 {
        let messages: Vec<_> = texts.iter().map(|text| message(text)).collect();
        self.db.add_messages(&key(name), &messages, at(now)).await.unwrap()
    }

    async fn names(&self, filter: SessionFilter) -> Vec<String> {
        let found = self.db.sessions(&SessionFilter { limit: 99, ..filter }).await.unwrap();
        found.into_iter().map(|session| session.key.name).collect()
    }
}

fn message(text: &str) -> NewMessage {
    NewMessage { role: MessageRole::User, content: json!({ "text": text }) }
}

#[tokio::test]
async fn a_session_is_made_once_and_found_again() {
    let setup = Setup::new().await;
    let new = NewSession {
        key: key("a"),
        kind: SessionKind::Child,
        parent: Some(SessionKey::new("ada", "boss", "main")),
        label: Some("Research".into()),
        model: Some("m".into()),
        metadata: json!({"x": 1}),
        rights: json!(["read"]),
    };
    let made = setup.open_as(new.clone(), 100).await;
    let expected = Session {
        key: new.key.clone(),
        kind: new.kind,
        state: SessionState::Idle,
        parent: new.parent.clone(),
        label: new.label.clone(),
        model: new.model.clone(),
        metadata: new.metadata.clone(),
        rights: new.rights.clone(),
        run: None,
        context_from: 0,
        input_tokens: 0,
        output_tokens: 0,
        cost_micros: 0,
        calls: 0,
        created_at: at(100),
        active_at: at(100),
        messages: 0,
    };
    assert_eq!(made, expected);
    let other = NewSession::new(key("a"), SessionKind::Chat);
    assert_eq!(setup.open_as(other, 200).await, expected, "it is there already");
    for elsewhere in [SessionKey::new("bob", "main", "a"), SessionKey::new("ada", "boss", "a")] {
        assert_eq!(setup.db.session(&elsewhere).await.unwrap(), None);
    }
}

#[tokio::test]
async fn of_many_who_open_a_session_at_once_one_makes_it() {
    let setup = Setup::new().await;
    let other = setup.another().await;
    let opened: Vec<_> = (0..20)
        .map(|index| {
            let db = if index % 2 == 0 { setup.db.clone() } else { other.clone() };
            let new = NewSession::new(key("a"), SessionKind::Chat);
            tokio::spawn(async move { db.open_session(new, at(index)).await.unwrap().created_at })
        })
        .collect();
    let mut made: Vec<SystemTime> = Vec::new();
    for opened in opened {
        made.push(opened.await.unwrap());
    }
    assert!(made.windows(2).all(|two| two[0] == two[1]), "{made:?}");
    assert_eq!(setup.names(SessionFilter::default()).await, ["a"]);
}

#[tokio::test]
async fn only_what_is_given_changes() {
    let setup = Setup::new().await;
    setup.open("a", 100).await;
    let change = async |change: SessionChange| {
        let changed = setup.db.change_session(&key("a"), change, at(200)).await.unwrap();
        assert_eq!(setup.db.session(&key("a")).await.unwrap().unwrap(), changed);
        changed
    };
    let none = SessionChange::default();
    let all = change(SessionChange {
        state: Some(SessionState::Waiting),
        label: Some("L".into()),
        model: Some("m".into()),
        metadata: Some(json!({"a": 1})),
        rights: Some(json!({"b": 2})),
        run: Some(json!({"c": 3})),
        context_from: Some(7),
    })
    .await;
    assert_eq!((all.state, all.context_from), (SessionState::Waiting, 7));
    assert_eq!((all.label.as_deref(), all.model.as_deref()), (Some("L"), Some("m")));
    assert_eq!((&all.metadata, &all.rights), (&json!({"a": 1}), &json!({"b": 2})));
    assert_eq!((&all.run, all.active_at), (&Some(json!({"c": 3})), at(200)));
    assert_eq!(change(none.clone()).await, all);
    let less = SessionChange {
        label: Some(String::new()),
        run: Some(Value::Null),
        metadata: Some(Value::Null),
        ..none
    };
    let expected = Session { label: None, run: None, metadata: Value::Null, ..all };
    assert_eq!(change(less).await, expected);
}

#[tokio::test]
async fn spending_adds_up() {
    let setup = Setup::new().await;
    setup.open("a", 100).await;
    let spent = Spent { input_tokens: 1, output_tokens: 20, cost_micros: 300, calls: 4 };
    for _ in 0..2 {
        setup.db.spend(&key("a"), spent).await.unwrap();
    }
    let session = setup.db.session(&key("a")).await.unwrap().unwrap();
    let counts = (session.input_tokens, session.output_tokens, session.cost_micros, session.calls);
    assert_eq!(counts, (2, 40, 600, 8));
}

#[tokio::test]
async fn what_is_not_there_is_an_error() {
    let setup = Setup::new().await;
    let no = key("a");
    let journal = setup.journal();
    let errors = [
        setup.db.change_session(&no, SessionChange::default(), at(1)).await.unwrap_err(),
        setup.db.spend(&no, Spent::default()).await.unwrap_err(),
        setup.db.add_messages(&no, &[message("x")], at(1)).await.unwrap_err(),
        setup.db.claim_session(&no, &journal, at(1)).await.unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "there is no session `agent:main:a`");
    }
    assert!(!setup.db.remove_session(&no, at(1)).await.unwrap());
    assert!(setup.db.messages(&no, 0, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn sessions_are_found_by_what_is_known_about_them() {
    let setup = Setup::new().await;
    let parent = key("parent");
    let new = |name: &str, kind| NewSession::new(key(name), kind);
    let bobs = NewSession::new(SessionKey::new("bob", "main", "bobs"), SessionKind::Chat);
    let other = NewSession::new(SessionKey::new("ada", "other", "agents"), SessionKind::Chat);
    let child = NewSession { parent: Some(parent.clone()), ..new("child", SessionKind::Child) };
    let labelled = NewSession { label: Some("My Plan".into()), ..new("l", SessionKind::Chat) };
    let request = new("request", SessionKind::Request);
    for (now, new) in (100..).zip([bobs, other, child, labelled, request]) {
        setup.open_as(new, now).await;
    }
    setup.set_state("child", SessionState::Ended).await;
    let all = SessionFilter::default();
    for (what, filter, expected) in [
        ("everything", all.clone(), "request l child agents bobs"),
        ("user", SessionFilter { user: Some("bob".into()), ..all.clone() }, "bobs"),
        ("agents", SessionFilter { agents: vec!["other".into()], ..all.clone() }, "agents"),
        (
            "kinds",
            SessionFilter { kinds: vec![SessionKind::Child, SessionKind::Request], ..all.clone() },
            "request child",
        ),
        ("states", SessionFilter { states: vec![SessionState::Ended], ..all.clone() }, "child"),
        ("since", SessionFilter { active_since: Some(at(103)), ..all.clone() }, "request l"),
        ("label", SessionFilter { label: Some("My Plan".into()), ..all.clone() }, "l"),
        ("part of a label", SessionFilter { label: Some("Plan".into()), ..all.clone() }, ""),
        ("search", SessionFilter { search: Some("PLAN".into()), ..all.clone() }, "l"),
        ("search", SessionFilter { search: Some("eque".into()), ..all.clone() }, "request"),
        ("search", SessionFilter { search: Some("%".into()), ..all.clone() }, ""),
        ("parent", SessionFilter { parent: Some(parent), ..all.clone() }, "child"),
        (
            "two at once",
            SessionFilter {
                user: Some("ada".into()),
                kinds: vec![SessionKind::Chat],
                ..all.clone()
            },
            "l agents",
        ),
    ] {
        assert_eq!(setup.names(filter).await.join(" "), expected, "{what}");
    }
}

#[tokio::test]
async fn the_list_is_paged_without_gaps() {
    let setup = Setup::new().await;
    for (name, now) in [("a", 1), ("b", 2), ("c", 2), ("d", 2), ("e", 3)] {
        setup.open(name, now).await;
    }
    let mut filter = SessionFilter { limit: 2, ..SessionFilter::default() };
    let mut pages = Vec::new();
    loop {
        let page = setup.db.sessions(&filter).await.unwrap();
        let Some(last) = page.last() else { break };
        filter.before = Some(SessionCursor::from(last));
        pages.push(page.iter().map(|one| one.key.name.as_str()).collect::<String>());
    }
    assert_eq!(pages, ["ed", "cb", "a"]);
}

#[tokio::test]
async fn messages_are_numbered_one_by_one() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    setup.open("b", 1).await;
    assert_eq!(setup.say("a", &["0", "1"], 10).await, 0);
    assert_eq!(setup.say("b", &["0"], 10).await, 0);
    assert_eq!(setup.say("a", &["2"], 20).await, 2);
    assert_eq!(setup.say("a", &[], 30).await, 3);
    let session = setup.db.session(&key("a")).await.unwrap().unwrap();
    assert_eq!((session.messages, session.active_at), (3, at(30)));
    for (from, limit, expected) in [(0, 9, "012"), (1, 9, "12"), (1, 1, "1"), (3, 9, "")] {
        let found = setup.db.messages(&key("a"), from, limit).await.unwrap();
        let texts = found.iter().map(|one| one.content["text"].as_str().unwrap());
        assert_eq!(texts.collect::<String>(), expected);
        assert!(found.iter().zip(from..).all(|(one, number)| one.number == number));
    }
    let last = setup.db.last_messages(&key("a"), 2).await.unwrap();
    assert_eq!(last.iter().map(|one| one.number).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((last[1].role, last[1].at), (MessageRole::User, at(20)));
}

#[tokio::test]
async fn every_role_kind_and_state_is_read_as_it_was_stored() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    let roles = [
        MessageRole::User,
        MessageRole::Model,
        MessageRole::Results,
        MessageRole::Summary,
        MessageRole::Note,
    ];
    let messages = roles.map(|role| NewMessage { role, content: Value::Null });
    setup.db.add_messages(&key("a"), &messages, at(1)).await.unwrap();
    let read = setup.db.messages(&key("a"), 0, 9).await.unwrap();
    assert_eq!(read.iter().map(|one| one.role).collect::<Vec<_>>(), roles);
    for state in [
        SessionState::Idle,
        SessionState::Running,
        SessionState::Waiting,
        SessionState::Interrupted,
        SessionState::Ended,
    ] {
        setup.set_state("a", state).await;
        assert_eq!(setup.db.session(&key("a")).await.unwrap().unwrap().state, state);
    }
    for kind in [SessionKind::Chat, SessionKind::Request, SessionKind::Child] {
        let made = setup.open_as(NewSession::new(key(kind.name()), kind), 1).await;
        assert_eq!(made.kind, kind);
    }
}

#[tokio::test]
async fn many_who_add_messages_at_once_get_numbers_of_their_own() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    let other = setup.another().await;
    let added: Vec<_> = (0..20)
        .map(|index| {
            let db = if index % 2 == 0 { setup.db.clone() } else { other.clone() };
            let pair = [message("x"), message("y")];
            tokio::spawn(async move { db.add_messages(&key("a"), &pair, at(2)).await.unwrap() })
        })
        .collect();
    let mut first = Vec::new();
    for added in added {
        first.push(added.await.unwrap());
    }
    first.sort_unstable();
    assert_eq!(first, (0..20).map(|index| index * 2).collect::<Vec<_>>());
    assert_eq!(setup.db.messages(&key("a"), 0, 99).await.unwrap().len(), 40);
}

#[tokio::test]
async fn a_removed_session_takes_its_messages_along() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    setup.say("a", &["secret"], 2).await;
    assert!(setup.db.remove_session(&key("a"), at(2)).await.unwrap());
    setup.open("a", 3).await;
    assert!(setup.db.messages(&key("a"), 0, 9).await.unwrap().is_empty());
    assert_eq!(setup.say("a", &["new"], 4).await, 0);
}

/// Asks in a session, and gives a question that is open, one that was answered with yes, and one whose yes was used.
async fn ask_in(setup: &Setup, session: &str) -> [ApprovalId; 3] {
    let mut all = Vec::new();
    for _ in 0..3 {
        let new = NewApproval { session: session.to_owned(), ..question() };
        all.push((new.call, setup.db.request_approval(new, LIMITS).await.unwrap()));
    }
    let [(_, open), (_, allowed), (call, used)] = all.try_into().unwrap();
    for id in [&allowed, &used] {
        setup.answer(id, Decision::AllowOnce, 110).await.unwrap();
    }
    assert!(setup.db.use_approval(&used, call, at(120)).await.unwrap());
    [open, allowed, used]
}

/// How questions stand at 150.
async fn stand(setup: &Setup, ids: &[ApprovalId; 3]) -> String {
    let [open, allowed, used] = ids;
    let status = async |id| setup.status(id, 150).await;
    format!("{} {} {}", status(open).await, status(allowed).await, status(used).await)
}

#[tokio::test]
async fn what_is_asked_in_a_removed_session_is_withdrawn_with_it() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    setup.open_as(NewSession::new(key("r"), SessionKind::Request), 1).await;
    let [own, pruned, others] =
        [ask_in(&setup, "a").await, ask_in(&setup, "r").await, ask_in(&setup, "b").await];
    assert!(setup.db.remove_session(&key("a"), at(130)).await.unwrap());
    assert_eq!(setup.db.prune_sessions(at(9), 9, at(130)).await.unwrap(), 1);
    for ids in [&own, &pruned] {
        assert_eq!(stand(&setup, ids).await, "withdrawn withdrawn allowed");
        let open = setup.db.approval(&ids[0], at(150)).await.unwrap().unwrap();
        assert_eq!(open.answered_at, Some(at(130)));
        assert_eq!(open.message.as_deref(), Some("the session was removed"));
    }
    assert_eq!(stand(&setup, &others).await, "pending allowed allowed");
}

#[tokio::test]
async fn old_requests_are_removed() {
    let make = async || {
        let setup = Setup::new().await;
        for (now, name) in (100..).zip(["r0", "r1", "r2", "r3", "running"]) {
            setup.open_as(NewSession::new(key(name), SessionKind::Request), now).await;
        }
        setup.open("chat", 1).await;
        setup.set_state("running", SessionState::Running).await;
        setup.set_state("r1", SessionState::Ended).await;
        setup.set_state("r2", SessionState::Interrupted).await;
        setup.set_state("r3", SessionState::Waiting).await;
        setup.open_as(NewSession::new(key("child"), SessionKind::Child), 99).await;
        setup
    };
    for (older_than, keep, removed, expected) in [
        (0, 99, 0, "running r3 r2 r1 r0 child chat"),
        (102, 99, 3, "running r3 r2 chat"),
        (0, 2, 4, "running r3 chat"),
        (999, 0, 5, "running chat"),
    ] {
        let setup = make().await;
        assert_eq!(setup.db.prune_sessions(at(older_than), keep, at(999)).await.unwrap(), removed);
        assert_eq!(setup.names(SessionFilter::default()).await.join(" "), expected);
    }
}

#[tokio::test]
async fn however_many_requests_there_are_all_old_ones_go() {
    let setup = Setup::new().await;
    for index in 0..450 {
        let new = NewSession::new(key(&index.to_string()), SessionKind::Request);
        setup.open_as(new, index).await;
    }
    assert_eq!(setup.db.prune_sessions(at(999), 99, at(999)).await.unwrap(), 450);
}

#[tokio::test]
async fn what_a_removed_request_had_read_is_forgotten() {
    let setup = Setup::new().await;
    let caller = |session: &str| Caller {
        user: "ada".into(),
        session: session.into(),
        ..Caller::owner("main")
    };
    let call = CallIds::new(std::sync::Arc::new(Noon)).next();
    for name in ["a", "b"] {
        setup.open_as(NewSession::new(key(name), SessionKind::Request), 1).await;
        setup.db.remember_source(&caller(name), "https://x/", call, at(1)).await.unwrap();
    }
    setup.set_state("b", SessionState::Running).await;
    setup.db.prune_sessions(at(9), 9, at(9)).await.unwrap();
    assert!(setup.db.sources(&caller("a")).await.unwrap().is_empty());
    assert_eq!(setup.db.sources(&caller("b")).await.unwrap().len(), 1);
}
