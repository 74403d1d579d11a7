//! The tools for sessions and agents, as a model calls them.

use agent::Input;
use scripted::Reply;
use serde_json::{Value, json};

use crate::helper::{Setup, owner};

const CONFIG: &str = "[agents.main]\nsubagents = [\"other\"]\nsessions = [\"other\"]\n[agents.other]\ndescription = \"Helps\"\n";

/// Calls one after the other, and gives how each ended and what the model was told.
async fn call(setup: &Setup, calls: &[(&str, Value)]) -> Vec<(String, String)> {
    let mut told = Vec::new();
    for (tool, args) in calls {
        let request = gate::Request::new(tool, args.clone());
        let outcome = setup.gate.run(&owner("main"), request).await;
        told.push((outcome.status().to_owned(), serde_json::to_string(&outcome).unwrap()));
    }
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_for_sessions_gives_what_it_promises() {
    let setup = Setup::answering(CONFIG, |_| Reply::text("a plan")).await;
    for agent in ["main", "other"] {
        setup.run(&owner(agent), Input::text("hi")).await.unwrap();
    }
    let calls = [
        ("agents_list", json!({}), "Helps"),
        ("sessions_list", json!({}), "agent:other:main"),
        ("sessions_list", json!({"messageLimit": 2, "kinds": ["chat"]}), "a plan"),
        ("sessions_list", json!({"search": "nothing like it"}), "\"count\":0"),
        ("sessions_history", json!({"sessionKey": "agent:other:main"}), "a plan"),
        ("sessions_history", json!({"sessionKey": "agent:main:main", "includeTools": true}), "hi"),
        ("session_status", json!({}), "agent:main:main"),
        ("session_status", json!({"sessionKey": "agent:other:main"}), "\"messages\":2"),
        ("session_status", json!({"set": {"label": "Books", "metadata": {"a": 1}}}), "Books"),
        (
            "sessions_send",
            json!({"sessionKey": "agent:other:main", "message": "go", "timeoutSeconds": 60}),
            "a plan",
        ),
        (
            "sessions_send",
            json!({"sessionKey": "agent:other:main", "message": "go", "timeoutSeconds": 0}),
            "accepted",
        ),
        ("sessions_spawn", json!({"task": "look", "label": "scout"}), "childSessionKey"),
        (
            "sessions_spawn",
            json!({"task": "look", "agentId": "other", "context": "fork"}),
            "accepted",
        ),
        ("subagents", json!({"action": "list"}), "scout"),
        ("subagents", json!({"action": "steer", "target": "scout", "message": "on"}), "accepted"),
        ("subagents", json!({"action": "kill", "target": "scout"}), "agent:main:subagent:"),
    ];
    let asked: Vec<_> = calls.iter().map(|(tool, args, _)| (*tool, args.clone())).collect();
    let told = call(&setup, &asked).await;
    for ((tool, args, expected), (status, text)) in calls.iter().zip(told) {
        assert_eq!(status, "success", "{tool} {args}: {text}");
        assert!(text.contains(expected), "{tool} {args}: {expected} in {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said() {
    let setup = Setup::answering(CONFIG, |_| Reply::text("a plan")).await;
    let calls = [
        ("sessions_history", json!({"sessionKey": "nonsense"}), "agent:AGENT:NAME"),
        ("sessions_history", json!({"sessionKey": "agent:third:main"}), "there is no session"),
        ("sessions_send", json!({"message": "x"}), "sessionKey"),
        ("sessions_send", json!({"message": "x", "label": "Books"}), "there is no session"),
        ("sessions_spawn", json!({"task": "x", "agentId": "otter"}), "did you mean `other`"),
        ("sessions_spawn", json!({"task": "x", "model": "nope/x"}), "unknown provider"),
        ("subagents", json!({"action": "kill"}), "target"),
        ("subagents", json!({"action": "kill", "target": "scout"}), "there is no session"),
        ("session_status", json!({"set": {"model": "nope/x"}}), "unknown provider"),
    ];
    let asked: Vec<_> = calls.iter().map(|(tool, args, _)| (*tool, args.clone())).collect();
    let told = call(&setup, &asked).await;
    for ((tool, args, expected), (status, text)) in calls.iter().zip(told) {
        assert_ne!(status, "success", "{tool} {args}: {text}");
        assert!(text.contains(expected), "{tool} {args}: {expected} in {text}");
        assert!(!text.contains("internal"), "{tool} {args}: {text}");
    }
}
