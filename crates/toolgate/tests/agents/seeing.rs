//! Whose sessions an agent sees.

use agent::Input;
use scripted::Reply;
use tool::{SessionQuery, Sessions as _, WithTools};
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
