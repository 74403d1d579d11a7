//! Nobody uses up what is there for all.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};
use toolgate::{Caller, Outcome, Role};

use crate::helper::{Setup, With};

fn caller(user: &str, agent: &str) -> Caller {
    let role = if user == "owner" { Role::Owner } else { Role::Member };
    Caller { user: user.into(), agent: agent.into(), role, ..Caller::owner("main") }
}

/// What became of calls, one after the other: `ok`, or the wait that was asked for.
async fn calls(setup: &Setup, who: (&str, &str), count: usize) -> String {
    let mut all = Vec::new();
    for _ in 0..count {
        let outcome = setup.gate.call(&caller(who.0, who.1), "get_current_time", json!({})).await;
        all.push(match outcome {
            Outcome::Success { .. } => "ok".to_owned(),
            Outcome::Error { error_type, details, .. } => {
                assert!(details["retry_after_ms"].as_u64().unwrap() > 0, "{details:?}");
                error_type.to_owned()
            }
        });
    }
    all.join(" ")
}

#[tokio::test]
async fn a_user_has_a_rate_over_all_tools_and_agents() {
    let config = "limits.rate_per_user = '2/h'\n[users.ada.limits]\nrate = '3/h'\n[agents.scout]\n\
                  description = 'looks'";
    let setup = Setup::with(With { config, ..With::default() });
    assert_eq!(calls(&setup, ("bo", "main"), 2).await, "ok ok");
    assert_eq!(calls(&setup, ("bo", "scout"), 1).await, "rate_limited", "whatever the agent");
    assert_eq!(calls(&setup, ("ada", "main"), 4).await, "ok ok ok rate_limited", "has her own");
    assert_eq!(calls(&setup, ("owner", "main"), 5).await, "ok ok ok ok ok");
}

#[tokio::test]
async fn whoever_tries_names_is_counted_as_whoever_calls() {
    let config = "limits.rate_per_user = '2/h'";
    let setup = Setup::with(With { config, ..With::default() });
    for (name, expected) in [
        ("nonesuch", "tool_not_available"),
        ("exec", "tool_not_available"),
        ("another", "rate_limited"),
        ("get_current_time", "rate_limited"),
    ] {
        let outcome = setup.gate.call(&caller("bo", "main"), name, json!({})).await;
        assert_eq!(outcome.status(), expected, "{name}");
    }
}

#[tokio::test]
async fn the_owner_is_held_back_only_by_what_is_said_about_them() {
    let config = "limits.rate_per_user = '2/h'\n[users.owner.limits]\nrate = '3/h'";
    let setup = Setup::with(With { config, ..With::default() });
    assert_eq!(calls(&setup, ("owner", "main"), 4).await, "ok ok ok rate_limited");
}

#[tokio::test]
async fn an_agent_has_a_rate_for_each_user() {
    let config = "[agents.scout.limits]\nrate = '1/h'";
    let setup = Setup::with(With { config, ..With::default() });
    assert_eq!(calls(&setup, ("owner", "scout"), 2).await, "ok rate_limited");
    assert_eq!(calls(&setup, ("owner", "main"), 2).await, "ok ok");
    assert_eq!(calls(&setup, ("bo", "scout"), 2).await, "ok rate_limited");
}

/// How many of several calls run at the same time, at most.
async fn most_at_once(setup: &Setup, who: &[(&str, &str)]) -> usize {
    let gate = setup.gate.clone();
    let calls: Vec<_> = who
        .iter()
        .map(|(user, agent)| {
            let (gate, caller) = (gate.clone(), caller(user, agent));
            let call = async move { gate.call(&caller, "hostile", json!({"how": "hang"})).await };
            tokio::spawn(call)
        })
        .collect();
    let (mut most, began) = (0, Instant::now());
    // Until it has stood still for a while: more would have begun by then.
    while began.elapsed() < Duration::from_secs(20) {
        let stats = setup.gate.stats();
        most = most.max(stats.running);
        if stats.running + stats.waiting == who.len() {
            sleep(Duration::from_millis(100)).await;
            most = most.max(setup.gate.stats().running);
            break;
        }
        sleep(Duration::from_millis(5)).await;
    }
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    most
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_are_bounded_for_each_user_and_agent() {
    let all = "[tools]\nprofile = 'full'\n";
    for (limits, who, expected) in [
        ("limits.calls_per_user = 2", vec![("bo", "main"), ("bo", "a"), ("bo", "b")], 2),
        ("limits.calls_per_user = 2", vec![("bo", "main"), ("bo", "a"), ("cy", "main")], 3),
        ("limits.calls_per_user = 2", vec![("owner", "main"), ("owner", "a"), ("owner", "b")], 3),
        ("users.bo.limits.calls = 1", vec![("bo", "main"), ("bo", "a"), ("cy", "main")], 2),
        ("limits.calls_per_agent = 1", vec![("bo", "main"), ("bo", "main"), ("cy", "main")], 2),
        ("agents.main.limits.at_once = 1", vec![("bo", "main"), ("bo", "main"), ("bo", "a")], 2),
    ] {
        let config: &'static str = format!("{limits}\n{all}").leak();
        let setup = Setup::with(With { config, ..With::default() });
        assert_eq!(most_at_once(&setup, &who).await, expected, "{limits} {who:?}");
    }
}
