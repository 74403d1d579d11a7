//! Agents that work for agents.

use agent::Input;
use scripted::{Reply, Request};
use serde_json::json;
use tool::Sessions as _;

use crate::helper::{Setup, owner};

/// Whether the request is of a child: it was told so.
fn is_child(request: &Request) -> bool {
    request.body.to_string().contains("Another agent started you")
}

fn results(request: &Request) -> usize {
    request.body.to_string().matches("tool_call_id").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_hears_what_its_child_found() {
    let setup = Setup::answering("", |request| match (is_child(request), results(request)) {
        (true, 0) => Reply::call("read", json!({"path": "hello.txt"})),
        (true, _) => Reply::text("The file says hello."),
        (false, 0) => {
            Reply::call("sessions_spawn", json!({"task": "read hello.txt", "label": "r"}))
        }
        (false, _) if request.body.to_string().contains("The file says hello.") => {
            Reply::text("My helper says: hello.")
        }
        (false, _) => Reply::text("I wait for my helper."),
    })
    .await;
    let answer = setup.say("find out").await;
    assert_eq!(answer.text, "I wait for my helper.\n\nMy helper says: hello.");
    let below = setup.gate.agents().children(&owner("main")).await.unwrap();
    assert_eq!(below.len(), 1);
    assert_eq!((below[0].label.as_deref(), &*below[0].state), (Some("r"), "idle"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_has_only_what_it_was_left() {
    for (spawn, expected) in [
        (json!({"task": "x"}), "success"),
        (json!({"task": "x", "toolsDeny": ["write"]}), "tool_not_available"),
        (json!({"task": "x", "toolsAllow": ["read"]}), "tool_not_available"),
        (json!({"task": "x", "toolsAllow": ["read", "write"]}), "success"),
    ] {
        let args = spawn.clone();
        let setup =
            Setup::answering("", move |request| match (is_child(request), results(request)) {
                (true, 0) => Reply::call("write", json!({"path": "c.txt", "content": "x"})),
                (false, 0) => Reply::call("sessions_spawn", args.clone()),
                (true | false, _) => Reply::text("done"),
            })
            .await;
        setup.say("go").await;
        let filter = store::Filter { tool: Some("write".into()), ..store::Filter::default() };
        let entries = setup.gate.journal().entries(&filter).unwrap();
        let status = entries
            .first()
            .map_or("none", |entry| entry.error_type.as_deref().unwrap_or("success"));
        assert_eq!(status, expected, "{spawn}");
        assert_eq!(setup.workspace().join("c.txt").exists(), expected == "success");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_start_whom() {
    let config = "[agents.main]\nsubagents = [\"other\"]\n[agents.other]\n[agents.third]\n\
                  [tools.subagents]\nmax_depth = 1\n";
    for (agent, expected) in [("other", "accepted"), ("third", "forbidden"), ("main", "accepted")] {
        let setup = Setup::answering(config, move |request| {
            match (is_child(request), results(request)) {
                // It tries to start another one, which is too deep.
                (true, 0) => Reply::call("sessions_spawn", json!({"task": "deeper"})),
                (false, 0) => Reply::call("sessions_spawn", json!({"task": "x", "agentId": agent})),
                (true | false, _) => Reply::text("done"),
            }
        })
        .await;
        setup.say("go").await;
        let requests = setup.model.requests();
        let told = requests.iter().map(|request| request.body.to_string());
        let told: Vec<_> = told.collect();
        assert!(told.iter().any(|body| body.contains(expected)), "{agent}: {told:?}");
        // At the limit the tool is not even there.
        assert!(!told.iter().any(|body| body.contains("deeper")
            && body.contains("accepted\\\",\\\"child")
            && body.contains("Another agent started you")));
        let below = setup.gate.agents().children(&owner("main")).await.unwrap();
        assert_eq!(below.len(), usize::from(expected == "accepted"), "{agent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_can_be_told_something_and_ended() {
    let setup = Setup::answering("", |request| match (is_child(request), results(request)) {
        (true, _) if request.body.to_string().contains("stop it") => Reply::text("stopping"),
        (true, 0) => Reply::call("nap", json!({})),
        (true, _) => Reply::text("was ended"),
        (false, 0) => Reply::call("sessions_spawn", json!({"task": "x", "label": "sleeper"})),
        (false, 1) => Reply::call(
            "subagents",
            json!({"action": "steer", "target": "sleeper", "message": "stop it"}),
        ),
        (false, 2) => Reply::call("subagents", json!({"action": "kill", "target": "sleeper"})),
        (false, _) => Reply::text("over"),
    })
    .await;
    let answer = setup.say("go").await;
    assert!(answer.text.contains("over"), "{}", answer.text);
    let statuses: Vec<_> = answer.tool_calls.iter().map(|note| &*note.status).collect();
    assert_eq!(statuses, ["success", "success", "success"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_parent_has_read_follows_its_child_and_comes_back() {
    let setup = Setup::answering("", |request| match (is_child(request), results(request)) {
        (false, 0) => Reply::call("sessions_spawn", json!({"task": "x"})),
        (true | false, _) => Reply::text("done"),
    })
    .await;
    let source = "https://evil.example/";
    let db = setup.gate.db().await.unwrap();
    let id = setup.gate.next_id();
    db.remember_source(&owner("main"), source, id, std::time::UNIX_EPOCH).await.unwrap();
    setup.run(&owner("main"), Input::text("go")).await.unwrap();
    let below = setup.gate.agents().children(&owner("main")).await.unwrap();
    let name = below[0].session_key.strip_prefix("agent:main:").unwrap();
    let child = toolgate::Caller { session: name.into(), ..owner("main") };
    assert_eq!(&*setup.gate.sources(&child).await.unwrap(), [source.to_owned()]);
}
