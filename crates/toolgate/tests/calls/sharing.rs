//! Nobody uses up what is there for all.

use std::time::{Duration, SystemTime};

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
    let setup = Setup::new();
    let db = setup.gate.db().await.unwrap();
    db.add_user("ada", "Ada", SystemTime::UNIX_EPOCH).await.unwrap();
    setup.gate.reload(config::parse(config, "toolgate.toml").unwrap()).unwrap();
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

/// Calls of `name` by somebody, one after the other: what became of each, and how much of it is in the journal.
async fn tries(setup: &Setup, user: &str, (name, count): (&str, usize)) -> (Vec<String>, usize) {
    let mut all = Vec::new();
    for _ in 0..count {
        let args =
            if name == "save_note" { json!({"title": "x", "content": "x"}) } else { json!({}) };
        let outcome = setup.gate.call(&caller(user, "main"), name, args).await;
        all.push(outcome.status().to_owned());
    }
    (all, setup.entries().iter().filter(|entry| entry.user_id == user).count())
}

#[tokio::test]
async fn refusals_of_a_member_are_recorded_at_the_rate_of_their_calls() {
    let config = "limits.rate_per_user = '3/h'";
    let setup = Setup::with(With { config, ..With::default() });
    let (refused, recorded) = tries(&setup, "bo", ("nonesuch", 20)).await;
    assert_eq!(refused[..3], ["tool_not_available"; 3]);
    assert_eq!(refused[3..], ["rate_limited"; 17]);
    assert_eq!((recorded, setup.gate.stats().unrecorded), (3, 17));
    let outcome = setup.gate.call(&caller("bo", "main"), "get_current_time", json!({})).await;
    let Outcome::Error { error_type, message, details, .. } = outcome else { panic!() };
    assert_eq!((error_type, details["retry_after_ms"].as_u64() > Some(0)), ("rate_limited", true));
    assert!(message.contains("more than 3 of your calls were refused in 3600 s"), "{message}");
    // Whose rate is used up is refused on the record as often.
    assert_eq!(tries(&setup, "cy", ("get_current_time", 20)).await.1, 3 + 3);
    // Others are not held back, and all that the owner does is recorded.
    assert_eq!(tries(&setup, "ada", ("nonesuch", 1)).await.1, 1);
    assert_eq!(tries(&setup, "owner", ("nonesuch", 20)).await.1, 20);
}

#[tokio::test]
async fn refusals_without_a_record_are_counted_in_the_journal() {
    let config = "limits.rate_per_user = '3/h'";
    let setup = Setup::with(With { config, ..With::default() });
    tries(&setup, "bo", ("nonesuch", 20)).await;
    for n in 0..10 {
        tries(&setup, "bo", (&format!("name{n}"), 1)).await;
    }
    let deadline = Instant::now() + Duration::from_mins(1);
    let counted = loop {
        let entries = setup.entries().into_iter();
        let counted: Vec<_> =
            entries.filter(|entry| !entry.output["unrecorded_calls"].is_null()).collect();
        if !counted.is_empty() || Instant::now() > deadline {
            break counted;
        }
        sleep(Duration::from_millis(100)).await;
    };
    let mut found: Vec<_> = counted
        .iter()
        .map(|entry| (entry.tool_name.as_str(), entry.output["unrecorded_calls"].as_u64().unwrap()))
        .collect();
    found.sort_unstable();
    // Names are the caller's to choose, so only the first few are told apart.
    assert_eq!(found, [("*", 7), ("name0", 1), ("name1", 1), ("name2", 1), ("nonesuch", 17)]);
    let of_name = counted.iter().find(|entry| entry.tool_name == "nonesuch").unwrap();
    assert_eq!((&*of_name.user_id, of_name.error_type.as_deref()), ("bo", Some("rate_limited")));
    let message = of_name.message.as_str().unwrap();
    assert!(message.starts_with("17 calls of `nonesuch` refused without a record"), "{message}");
    assert!(of_name.output["first"].as_str().unwrap() <= of_name.output["last"].as_str().unwrap());
    assert_eq!(setup.gate.journal().verify(None).unwrap().first_bad, None);
}

#[tokio::test]
async fn refusals_without_a_record_are_counted_also_when_the_gate_ends() {
    let config = "limits.rate_per_user = '3/h'";
    let setup = Setup::with(With { config, ..With::default() });
    tries(&setup, "bo", ("nonesuch", 8)).await;
    let journal = setup.gate.journal().clone();
    drop(setup.gate);
    let counted = |entry: &store::Entry| entry.output["unrecorded_calls"].as_u64();
    let found: Vec<_> =
        journal.entries(&store::Filter::default()).unwrap().iter().filter_map(counted).collect();
    assert_eq!(found, [5]);
}

#[tokio::test]
async fn whatever_a_member_changed_is_recorded_however_often_they_are_refused() {
    let config = "limits.rate_per_user = '4/h'";
    let setup = Setup::with(With { config, ..With::default() });
    let mut changed = 0;
    for _ in 0..10 {
        let (saved, _) = tries(&setup, "bo", ("save_note", 1)).await;
        changed += usize::from(saved == ["success"]);
        tries(&setup, "bo", ("nonesuch", 1)).await;
    }
    let entries = setup.entries();
    let saved = entries.iter().filter(|entry| entry.status == store::Status::Success);
    assert_eq!((saved.count(), changed), (2, 2));
    assert!(entries.len() <= 4 + 4, "{} entries", entries.len());
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
        let setup = Setup::new();
        let db = setup.gate.db().await.unwrap();
        db.add_user("bo", "Bo", SystemTime::UNIX_EPOCH).await.unwrap();
        let config = config::parse(&format!("{limits}\n{all}"), "toolgate.toml").unwrap();
        setup.gate.reload(config).unwrap();
        assert_eq!(most_at_once(&setup, &who).await, expected, "{limits} {who:?}");
    }
}
