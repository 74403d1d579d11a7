//! A child agent cannot do what those above it cannot, whatever policy and permissions say about it.

use std::sync::Arc;

use config::{Access, Ask, Config, Security};
use policy::Verdict;
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};
use store::{Permission, PermissionState};
use tempfile::TempDir;
use tool::{Capability, Left};
use toolgate::{Caller, Gate};

use super::{gate, pattern, some_caller, some_config};

/// Calls of every kind of effect.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("get_current_time", json!({})),
        ("read", json!({"path": "a.txt"})),
        ("write", json!({"path": "b.txt", "content": "x"})),
        ("edit", json!({"path": "a.txt", "oldText": "a", "newText": "b"})),
        ("exec", json!({"command": "ls"})),
        ("exec", json!({"command": "make"})),
        ("exec", json!({"command": "git push"})),
        ("exec", json!({"command": "make", "background": true})),
        ("exec", json!({"command": "make", "elevated": true})),
        ("process", json!({"action": "list"})),
        ("http_request", json!({"url": "https://example.org/"})),
        ("http_request", json!({"url": "https://example.org/", "method": "POST", "body": "x"})),
    ]
}

fn modes() -> impl Strategy<Value = (Ask, Security, Access, bool)> {
    let ask = select(vec![Ask::Auto, Ask::Smart, Ask::Always]);
    let security = select(vec![Security::Full, Security::SafeBin, Security::Paranoid]);
    (ask, security, select(vec![Access::Ask, Access::Listed]), any::<bool>())
}

/// How it stands between each of two agents and some capabilities.
fn permissions() -> impl Strategy<Value = Vec<(bool, Capability, PermissionState)>> {
    let capability = select(vec![Capability::Files, Capability::Network, Capability::Exec]);
    let state = select(vec![
        PermissionState::Granted,
        PermissionState::Ask,
        PermissionState::Denied,
        PermissionState::DeniedForGood,
    ]);
    vec((any::<bool>(), capability, state), 0..5)
}

const fn strictness(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

async fn verdicts(gate: &Gate, caller: &Caller) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, args) in calls() {
        all.push(strictness(gate.check(caller, name, &args).await.decision.verdict));
    }
    all
}

async fn set(gate: &Gate, caller: &Caller, given: &[(bool, Capability, PermissionState)]) {
    let db = gate.db().await.unwrap();
    for agent in ["main", "other"] {
        for capability in [Capability::Files, Capability::Network, Capability::Exec] {
            let is = |(main, of, _): &&(bool, Capability, PermissionState)| {
                *main == (agent == "main") && *of == capability
            };
            let default = gate::default_permission(caller.role, capability);
            let state = given.iter().rev().find(is).map_or(default, |(_, _, state)| *state);
            let (user, agent) = (caller.user.to_string(), agent.to_owned());
            let (by, at) = ("owner".to_owned(), std::time::UNIX_EPOCH);
            let permission = Permission { user, agent, capability, state, by, at };
            db.set_permission(permission).await.unwrap();
        }
    }
}

fn below(caller: &Caller, agent: &str, left: Option<Left>) -> Caller {
    let (parent, left) = (Some(Arc::new(caller.clone())), left.map(Arc::new));
    Caller { agent: agent.into(), parent, left, provider: None, ..caller.clone() }
}

#[test]
fn a_child_can_do_nothing_that_its_parent_cannot() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("a.txt"), "a").unwrap();
    let gate = gate(&folder);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let left = (option::of(vec(pattern(), 0..4)), vec(pattern(), 0..3));
    let inputs = (some_config(), modes(), some_caller(), permissions(), left);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tried = runner.run(&inputs, |(config, modes, parent, given, (allow, deny))| {
        let (ask, security, access, elevated) = modes;
        let mut config: Config = config;
        config.tools.ask = ask.into();
        config.tools.exec.security = security.into();
        config.tools.exec.network.access = access.into();
        if elevated {
            config.tools.elevated.enabled = config::Switch::On.into();
        }
        gate.reload(config).unwrap();
        runtime.block_on(async {
            set(&gate, &parent, &given).await;
            let above = verdicts(&gate, &parent).await;
            for agent in ["main", "other"] {
                let child = below(&parent, agent, None);
                let children = [
                    child.clone(),
                    below(&parent, agent, Some(Left { allow: allow.clone(), deny: deny.clone() })),
                    below(&child, "main", None),
                ];
                for child in children {
                    for ((call, below), above) in
                        calls().iter().zip(verdicts(&gate, &child).await).zip(&above)
                    {
                        prop_assert!(below >= *above, "{:?} {} of {:?}", call, below, child);
                    }
                }
            }
            Ok(())
        })
    });
    tried.unwrap();
}
