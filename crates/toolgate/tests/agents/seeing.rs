//! Whose sessions an agent sees.

use agent::Input;
use scripted::Reply;
use tool::{SessionQuery, SessionSettings, Sessions as _, WithTools};
use toolgate::Caller;

use crate::helper::{Setup, owner};

const CONFIG: &str = "[agents.main]\nsessions = [\"other\"]\n[agents.other]\n[agents.third]\n";

async fn talked() -> Setup {
    let setup = Setup::answering(CONFIG, |_| Reply::text("a secret plan")).await;
    for agent in ["main", "other", "third"] {
        setup.run(&owner(agent), Input::text("hi")).await.unwrap();
    }
    let member = Caller::member("bo", "main");
    setup.run(&member, Input::text("hi")).await.unwrap();
    setup
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sees_its_own_and_what_policy_gives_it() {
    let setup = talked().await;
    let agents = setup.gate.agents();
    for (caller, expected) in [
        (owner("main"), vec!["agent:main:main", "agent:other:main"]),
        (owner("other"), vec!["agent:other:main"]),
        (owner("third"), vec!["agent:third:main"]),
        (Caller::member("bo", "main"), vec!["agent:main:main"]),
        (Caller::member("cy", "main"), vec![]),
    ] {
        let query = SessionQuery { limit: 50, ..SessionQuery::default() };
        let listed = agents.list(&caller, query).await.unwrap();
        let mut keys: Vec<_> = listed.iter().map(|info| &*info.session_key).collect();
        keys.sort_unstable();
        assert_eq!(keys, expected, "{caller:?}");
        for key in ["agent:main:main", "agent:other:main", "agent:third:main", "agent:main:x"] {
            let read = agents.history(&caller, key, 10, WithTools::No).await;
            assert_eq!(read.is_ok(), expected.contains(&key), "{key} for {caller:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_sees_no_more_than_those_above_it() {
    let setup = talked().await;
    // `other` below `main` may see what both may; `third` below `main` not even its own.
    for (agent, key, expected) in [
        ("other", "agent:other:main", true),
        ("other", "agent:main:main", false),
        ("third", "agent:third:main", false),
        ("main", "agent:main:main", true),
    ] {
        let parent = Some(std::sync::Arc::new(owner("main")));
        let child = Caller { parent, session: "subagent:x".into(), ..owner(agent) };
        let read = setup.gate.agents().history(&child, key, 10, WithTools::No).await;
        assert_eq!(read.is_ok(), expected, "{agent} {key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_session_can_be_opened_to_an_agent() {
    let config = "[agents.main]\nsessions = [\"*\"]\n[agents.other]\n";
    let setup = Setup::answering(config, |_| Reply::text("a secret plan")).await;
    setup.run(&owner("other"), Input::text("hi")).await.unwrap();
    let agents = setup.gate.agents();
    let read = agents.history(&owner("main"), "agent:other:main", 10, WithTools::No).await;
    assert_eq!(read.unwrap().messages.len(), 2);
    let read = agents.history(&owner("other"), "agent:main:main", 10, WithTools::No).await;
    assert!(read.is_err());
    // To see is not to change.
    let label = SessionSettings { label: Some("mine".into()), ..SessionSettings::default() };
    let changed = agents.change(&owner("main"), Some("agent:other:main"), label).await;
    assert!(changed.unwrap_err().to_string().contains("not changed"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_does_not_choose_its_own_provider() {
    let setup = talked().await;
    let agents = setup.gate.agents();
    for (model, expected) in [("script/other", true), ("other", true), ("demo/demo", false)] {
        let caller = Caller { provider: Some("script".into()), ..owner("main") };
        let settings = SessionSettings { model: Some(model.into()), ..SessionSettings::default() };
        let changed = agents.change(&caller, None, settings).await;
        assert_eq!(changed.is_ok(), expected, "{model}: {changed:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_with_messages_says_what_they_rest_on() {
    let setup = talked().await;
    let db = setup.gate.db().await.unwrap();
    let (source, id) = ("https://evil.example/", setup.gate.next_id());
    db.remember_source(&owner("other"), source, id, std::time::UNIX_EPOCH).await.unwrap();
    for (messages, expected) in [(0, false), (1, true)] {
        let query = SessionQuery { limit: 50, messages, ..SessionQuery::default() };
        let listed = setup.gate.agents().list(&owner("main"), query).await.unwrap();
        let told = listed.iter().filter_map(|info| info.untrusted.as_deref());
        assert_eq!(told.clone().any(|told| told.contains(source)), expected, "{messages}");
        assert_eq!(told.count(), usize::from(expected));
    }
}
